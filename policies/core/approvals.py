"""The approval core: requests, votes and decisions as pure values.

States only narrow: pending becomes approved, denied, expired, cancelled or
superseded, and never changes again. Whoever may decide, and when, is decided here
from values; nothing here does I/O.
"""

from __future__ import annotations

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
