"""The largest untagged cost and whose it probably is: values for the views."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from billing.core.money import Money
from billing.ports import Freshness


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One sign that something belongs to a job, and what it counts."""

    text: str
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A job that something may belong to; nobody acts on it but a person.

    Attributes:
        score: 1 to 100, the sum of the reasons' points.
    """

    job: str
    score: int
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UntaggedResource:
    """One resource without a job that ran in the window.

    Attributes:
        hours: Running time within the window.
        suggestion: The only job that fits best; None when none or several do.
    """

    resource_id: str
    hours: float
    started_at: datetime
    suggestion: Suggestion | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UntaggedItem:
    """Untagged cost of one kind in one account and region.

    Attributes:
        item: How it is named to confirm it: ``account/region/what``.
        what: An instance type, or a usage type without its region.
        pattern: Usage types that it holds.
        since / until: Days it was seen on, half-open.
        resources: Those the inventory knows, longest first.
        suggestion: The job it probably belongs to; None when unknown.
        unknown: Why there is no suggestion; "" when there is one.
    """

    item: str
    account: str
    region: str
    what: str
    pattern: str
    total: Money
    billed: Money
    provisional: Money
    since: date
    until: date
    resources: tuple[UntaggedResource, ...] = ()
    suggestion: Suggestion | None = None
    others: tuple[Suggestion, ...] = ()
    unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """What a person said of an item, as it is kept.

    Attributes:
        number: By which it is taken back.
        by: A name or pseudonym to show.
    """

    number: int
    item: str
    job: str
    since: datetime
    until: datetime | None
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class UntaggedAnswer:
    """The answer to `gpucost untagged`.

    Attributes:
        items: By total descending, then name; ``total`` is the sum of all of them.
        share_of: All cost of the window, for the share; None when unknown.
        confirmed: What people confirmed before and still holds, newest first.
    """

    currency: str
    since: datetime
    until: datetime
    as_of: datetime
    total: Money
    share_of: Money
    items: tuple[UntaggedItem, ...]
    confirmed: tuple[Confirmed, ...] = ()
    stale: tuple[Freshness, ...] = ()
    sources: tuple[Freshness, ...] = ()
    unknown: tuple[str, ...] = ()
