"""The approval core: requests and votes as pure values, and who may decide when.

What votes come to is `policies.core.voting`, which state follows on which is
`policies.core.approval_states`. Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction

from billing.core.estimate import Alternative
from billing.core.money import Money
from billing.core.prices import Purchase


class RequestState(StrEnum):
    """Where an approval request stands."""

    PENDING = "pending"
    NEEDS_INFO = "needs-info"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    CONSUMED = "consumed"
    LAPSED = "lapsed"

    @property
    def is_open(self) -> bool:
        """Tell whether it still waits for somebody."""
        return self in {RequestState.PENDING, RequestState.NEEDS_INFO}


class Verdict(StrEnum):
    """What one person says."""

    APPROVE = "approve"
    DENY = "deny"
    BREAK_GLASS = "break-glass"


class RequestEvent(StrEnum):
    """What can happen to a request; every one is stored."""

    FILE = "file"
    VOTE = "vote"
    APPROVE = "approve"
    DENY = "deny"
    BREAK_GLASS = "break-glass"
    ASK = "ask"
    ANSWER = "answer"
    EDIT = "edit"
    REASSIGN = "reassign"
    ESCALATE = "escalate"
    REMIND = "remind"
    EXPIRE = "expire"
    CANCEL = "cancel"
    SUPERSEDE = "supersede"
    CONSUME = "consume"
    LAPSE = "lapse"


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
    """The policy as it stood when the request was made (frozen with the request).

    Attributes:
        escalation: Who may decide too once nobody did for ``escalate_after_s``: the
            approvers of the next tier.
        break_glass: Who may approve alone in an emergency, loudly.
    """

    policy: str
    tier: ApprovalTier
    expires_after_s: int
    drift: Fraction | None = None
    escalation: tuple[str, ...] = ()
    escalate_after_s: int | None = None
    remind_every_s: int | None = None
    break_glass: tuple[str, ...] = ()


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
    """One person's word on one version of a request.

    Attributes:
        seat: For whom a delegate speaks; "" for themselves.
    """

    person_id: str
    verdict: Verdict
    at: datetime
    reason: str = ""
    asserted: bool = False
    seat: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastEvent:
    """One thing that happened to a request, as it was stored.

    Attributes:
        state: In which it left the request.
        by: Pseudonym; "" for gpucost itself.
        text: A question, an answer, a reason, or what changed.
    """

    event: RequestEvent
    version: int
    state: RequestState
    by: str
    at: datetime
    text: str = ""


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
        pieces: Ids of other requests of the same owner and job family that counted.
        context: Sentences that help to decide, as known when it was filed.
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
    history: tuple[PastEvent, ...] = ()
    pieces: tuple[str, ...] = ()
    context: tuple[str, ...] = ()


def asked_at(request: ApprovalRequest) -> datetime:
    """Return when the current version of a request was put to people."""
    if request.expires_at is None or request.rule is None:
        return request.created_at
    return request.expires_at - timedelta(seconds=request.rule.expires_after_s)


def is_escalated(request: ApprovalRequest, now: datetime) -> bool:
    """Tell whether the next tier's approvers may decide too: on record, or by time."""
    rule = request.rule
    if rule is None or not rule.escalation:
        return False
    on_record = any(
        one.event is RequestEvent.ESCALATE and one.version == request.version
        for one in request.history
    )
    after = rule.escalate_after_s
    return on_record or (
        after is not None and now >= asked_at(request) + timedelta(seconds=after)
    )


def assigned_to(request: ApprovalRequest) -> tuple[str, ...]:
    """Return the pseudonyms of those who were named last to decide it."""
    named = [
        one.text
        for one in request.history
        if one.event is RequestEvent.REASSIGN and one.version == request.version
    ]
    return tuple(named[-1].split()) if named else ()


def open_question(request: ApprovalRequest) -> PastEvent | None:
    """Return the question a request waits to have answered; None when there is none."""
    if request.state is not RequestState.NEEDS_INFO:
        return None
    asked = [one for one in request.history if one.event is RequestEvent.ASK]
    return asked[-1] if asked else None


def approvers_of(request: ApprovalRequest, now: datetime) -> tuple[str, ...]:
    """Return who may decide a request now, as the policy names them."""
    if request.rule is None:
        return ()
    more = request.rule.escalation if is_escalated(request, now) else ()
    return tuple(dict.fromkeys((*request.rule.tier.approvers, *more)))


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
        stands_against(request, now)
        or is_no_voter(person)
        or has_a_part_in(request, person)
        or is_not_among(person, eligible)
    )


def unfit(request: ApprovalRequest, verdict: Verdict, reason: str) -> str | None:
    """Return why a word does not fit a request; None when it does."""
    if verdict is Verdict.APPROVE and request.state is RequestState.NEEDS_INFO:
        return "this request waits for an answer of whoever asked"
    if verdict is not Verdict.APPROVE and not reason.strip():
        said = "a denial" if verdict is Verdict.DENY else "breaking the glass"
        return f"{said} needs a reason: write it first"
    return None


def break_glass_refusal(
    request: ApprovalRequest, person: Person, named: Collection[str], now: datetime
) -> str | None:
    """Return why somebody may not approve alone in an emergency; None when they may.

    Whoever asked may, when the policy names them: that is what it is for.
    """
    if not person.person_id:
        return "gpucost does not know who you are"
    refused = stands_against(request, now) or is_no_voter(person)
    if refused:
        return refused
    if is_not_among(person, named):
        return "the policy does not name you under break_glass"
    return None


def stands_against(request: ApprovalRequest, now: datetime) -> str | None:
    """Return why nobody may decide a request any more; None while it is open."""
    if not request.state.is_open:
        return f"this request is already {request.state}"
    if request.expires_at is not None and now >= request.expires_at:
        return "this request has expired"
    return None


def is_no_voter(person: Person) -> str | None:
    """Return why somebody never votes, whatever the policy says; None when they may."""
    if person.is_bot:
        return "an app cannot approve"
    if person.is_deactivated:
        return "a deactivated account cannot approve"
    if not person.home_org:
        return "people of other organisations cannot approve"
    return "guests cannot approve" if person.is_guest else None


def has_a_part_in(request: ApprovalRequest, person: Person) -> str | None:
    """Return which part of somebody in a request speaks against their vote."""
    if not person.person_id:
        return "gpucost does not know who you are"
    parts = (
        (request.requester, "you asked for this, so somebody else must decide"),
        (request.caller, "you filed this, so somebody else must decide"),
        (request.owner, "you own this job, so somebody else must decide"),
    )
    return next((why for who, why in parts if who == person.person_id), None)


def is_not_among(person: Person, eligible: Collection[str]) -> str | None:
    """Return that somebody is none of those; None when they are."""
    names = {person.slack_id, person.email.lower()} - {""}
    if any(name in names for name in eligible):
        return None
    return "you are not among the approvers of this request"


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
