"""The approval core: requests, votes and decisions as pure values.

States only narrow: pending becomes approved, denied, expired, cancelled or
superseded, and never changes again. Whoever may decide, and when, is decided here
from values; nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from billing.core.estimate import Alternative
from billing.core.money import Money
from billing.core.prices import Purchase


class RequestState(StrEnum):
    """Where an approval request stands."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class Verdict(StrEnum):
    """What one person says."""

    APPROVE = "approve"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What an approval covers, and nothing else.

    Attributes:
        count: Instances at once.
        hours: Planned productive hours, exact.
        cost_ceiling: High end of the estimate; None when there is no price, which
            always needs a person.
    """

    job: str
    instance_type: str
    count: int
    hours: Fraction
    purchase: Purchase
    region: str
    cost_ceiling: Money | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalTier:
    """Who must agree above an amount.

    Attributes:
        over: Applies to amounts strictly above this.
        required: Distinct eligible people who must approve.
        approvers: ``@user``, ``@group``, user or group ids, e-mail addresses. Empty means
            nobody, never everybody.
    """

    over: Money
    required: int
    approvers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRule:
    """The policy as it stood when the request was made (frozen with the request)."""

    policy: str
    tier: ApprovalTier
    expires_after_s: int
    drift: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody, as the directory knows them at this moment.

    Attributes:
        person_id: Our pseudonym, stable; audit and votes hold only this.
        slack_id: Slack user id; "" for people known by e-mail only.
        email: Lower case; "" when unknown.
        home_org: True when they belong to the installed workspace or organisation.
    """

    person_id: str
    slack_id: str
    email: str
    name: str
    is_bot: bool = False
    is_deactivated: bool = False
    is_guest: bool = False
    home_org: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One person's word on one version of a request."""

    person_id: str
    verdict: Verdict
    at: datetime
    reason: str = ""
    asserted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A request to run something, with everything that decides it.

    Attributes:
        request_id: Public id such as ``apr-7k2m9q``.
        version: Rises when what is asked changes; votes hold for one version.
        requester / caller / owner: Pseudonyms frozen at request; "" when unknown. None of
            them ever counts as approver.
        low / expected / high: The estimate shown; None when there was no price.
        rule: None when no policy asks for approval (then it is approved at once).
    """

    request_id: str
    version: int
    state: RequestState
    envelope: Envelope
    requester: str
    caller: str
    owner: str
    reason: str
    low: Money | None
    expected: Money | None
    high: Money | None
    rule: ApprovalRule | None
    created_at: datetime
    expires_at: datetime | None
    decided_at: datetime | None = None
    decided_by: str = ""
    votes: tuple[Vote, ...] = ()
    team: str = ""
    basis: str = ""
    alternatives: tuple[Alternative, ...] = ()


# ------------------------------------------------------------------------- deciding


def refusal(
    request: ApprovalRequest,
    person: Person,
    eligible: Collection[str],
    now: datetime,
) -> str | None:
    """Return None when somebody may vote on a request now, else why not.

    Args:
        request: As it stands in the store at this moment.
        person: Who wants to vote, as the directory knows them at this moment.
        eligible: Slack ids and e-mail addresses the approvers of its rule resolve to
            at this moment. Empty means nobody.
        now: The instant of the click.
    """
    return (
        _stands_against(request, now)
        or _is_no_voter(person)
        or _has_a_part_in(request, person)
        or _is_no_approver(person, eligible)
    )


def _stands_against(request: ApprovalRequest, now: datetime) -> str | None:
    if request.state is not RequestState.PENDING:
        return f"this request is already {request.state}"
    if request.expires_at is not None and now >= request.expires_at:
        return "this request has expired"
    return None


def _is_no_voter(person: Person) -> str | None:
    if person.is_bot:
        return "an app cannot approve"
    if person.is_deactivated:
        return "a deactivated account cannot approve"
    if not person.home_org:
        return "people of other organisations cannot approve"
    return "guests cannot approve" if person.is_guest else None


def _has_a_part_in(request: ApprovalRequest, person: Person) -> str | None:
    if not person.person_id:
        return "gpucost does not know who you are"
    parts = (
        (request.requester, "you asked for this, so somebody else must decide"),
        (request.caller, "you filed this, so somebody else must decide"),
        (request.owner, "you own this job, so somebody else must decide"),
    )
    return next((why for who, why in parts if who == person.person_id), None)


def _is_no_approver(person: Person, eligible: Collection[str]) -> str | None:
    names = {person.slack_id, person.email.lower()} - {""}
    if any(name in names for name in eligible):
        return None
    return "you are not among the approvers of this request"


def outcome(
    request: ApprovalRequest, votes: Iterable[Vote], now: datetime
) -> RequestState:
    """Return where a request stands with these votes.

    A final state never changes. Votes are counted in order of time: one denial
    decides, and so do enough distinct people; whichever comes first, a denial when
    both come at once. Votes after the expiry, and of those who have a part in the
    request, count for nothing.
    """
    if request.state is not RequestState.PENDING:
        return request.state
    if request.rule is None:
        return RequestState.APPROVED
    approved: set[str] = set()
    for vote in sorted(votes, key=_in_time):
        if not _counts(request, vote, now):
            continue
        if vote.verdict is Verdict.DENY:
            return RequestState.DENIED
        approved.add(vote.person_id)
        if len(approved) >= max(1, request.rule.tier.required):
            return RequestState.APPROVED
    if request.expires_at is not None and now >= request.expires_at:
        return RequestState.EXPIRED
    return RequestState.PENDING


def _in_time(vote: Vote) -> tuple[datetime, bool, str]:
    return (vote.at, vote.verdict is not Verdict.DENY, vote.person_id)


def _counts(request: ApprovalRequest, vote: Vote, now: datetime) -> bool:
    """Tell whether a vote is of somebody independent and came in time."""
    parts = {request.requester, request.caller, request.owner, ""}
    is_late = request.expires_at is not None and vote.at >= request.expires_at
    return vote.person_id not in parts and not is_late and vote.at <= now


def approvals_missing(request: ApprovalRequest, votes: Iterable[Vote]) -> int:
    """Return how many more distinct people must approve."""
    if request.rule is None:
        return 0
    parts = {request.requester, request.caller, request.owner, ""}
    approved = {vote.person_id for vote in votes if vote.verdict is Verdict.APPROVE}
    return max(0, max(1, request.rule.tier.required) - len(approved - parts))


def can_be_decided(required: int, independent: Collection[str]) -> bool:
    """Tell whether enough eligible people exist who have no part in a request.

    When not, the request would hang: tell the requester and the admins at once.
    """
    return len(set(independent) - {""}) >= max(1, required)


def job_family(job: str) -> str:
    """Return the name that the pieces of one split run share: without its numbers.

    >>> job_family("llm-7b-run-3"), job_family("sweep-4-12"), job_family("42")
    ('llm-7b-run', 'sweep', '42')
    """
    family = job
    while True:
        shorter = family.rstrip("0123456789").rstrip("-_./: ")
        if not shorter:
            return job if family == job else family
        if shorter == family:
            return family
        family = shorter
