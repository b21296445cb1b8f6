"""Where facts come from, as protocols: the bill, the fleet, prices, signals, objects.

Names roles only: no boto3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Protocol

from billing.core.charges import Charge, DayControl
from billing.core.errors import GpucostError
from billing.core.fleet import FleetObservation, ScopeFailure
from billing.core.money import Money
from billing.core.periods import Period
from billing.core.prices import Price, PriceKey


class SourceUnavailableError(GpucostError):
    """A source could not be read completely; what was stored stays as it is.

    Attributes:
        cause: The source's own error code, such as ``AccessDeniedException``; "" when
            it named none.
    """

    code = "source_unavailable"

    def __init__(
        self,
        source: str,
        message: str,
        *,
        account: str = "",
        region: str = "",
        cause: str = "",
    ) -> None:
        super().__init__(message)
        self.source = source
        self.account = account
        self.region = region
        self.cause = cause


class IncompleteAnswerError(SourceUnavailableError):
    """A source answered, but not with everything it must contain."""

    code = "incomplete_answer"


class AnswerChangedError(SourceUnavailableError):
    """The source's data moved between two pages; reading from the start may help."""

    code = "answer_changed"


class RequestBudgetError(SourceUnavailableError):
    """The day's budget for billable AWS requests is used up."""

    code = "request_budget"
    hint = "raise limits.aws_request_cost_per_day, or wait for the next UTC day"


@dataclass(frozen=True, slots=True, kw_only=True)
class TagKeyStatus:
    """One configured job tag key as the bill knows it.

    Attributes:
        state: ``active``, ``inactive``, ``unknown`` (no such key; maybe misspelt) or
            ``unchecked`` (the source does not tell this caller: used as if active).
        active_since: When it was activated; None when the source does not say.
        suggestions: Active keys that look like it.
    """

    key: str
    state: str
    active_since: date | None = None
    suggestions: tuple[str, ...] = ()


class CostSource(Protocol):
    """A bill that can be read by account and day (Cost Explorer)."""

    @property
    def currency(self) -> str | None:
        """Return the currency seen in the last answer; None before one."""

    @property
    def spent(self) -> tuple[int, Money]:
        """Return how many billable requests this source made so far, and their price."""

    @property
    def notes(self) -> Sequence[str]:
        """Return what a reader must know about how the bill was read; often empty."""

    def tag_keys(self) -> Sequence[TagKeyStatus]:
        """Return the state of each configured job tag key, in order of precedence."""

    def controls(self, since: date, until: date) -> Sequence[DayControl]:
        """Read the independent control totals of every day of ``[since, until)``.

        Every account that has cost in the window appears with every day of it.

        Raises:
            IncompleteAnswerError: A day or member is missing.
            SourceUnavailableError: The call failed after its retries.
        """

    def charges(
        self, account: str, since: date, until: date
    ) -> Iterator[Sequence[Charge]]:
        """Yield the account's charges of ``[since, until)`` page by page.

        Raises the same errors as ``controls``, and `AnswerChangedError`; the caller
        must discard what it got.
        """


class FleetSource(Protocol):
    """What exists, across accounts and regions."""

    def observe(self, now: datetime) -> FleetObservation:
        """Read every configured scope; a failing one is named, never dropped."""


class PriceSource(Protocol):
    """Prices per hour from their publisher."""

    def prices(self, keys: Iterable[PriceKey], now: datetime) -> Sequence[Price]:
        """Return known prices for the keys (a spot key may give a series); no zeros."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSeries:
    """One signal of one resource (or one GPU of it) over time.

    Attributes:
        signal: ``gpu_utilization`` (0-100), ``gpu_memory_used`` (0-100), ``cpu_utilization``
            (0-100), ``network`` or ``disk`` (bytes per second, both directions).
        part: GPU index or "" for the whole resource.
        points: ``(instant, value)`` in time order; a gap is a gap.
        period_s: Expected distance of points in seconds.
    """

    resource_id: str
    signal: str
    part: str
    points: tuple[tuple[datetime, float], ...]
    period_s: int


class MetricSource(Protocol):
    """Signals of activity."""

    def series(
        self, resources: Sequence[tuple[str, str, str]], window: Period
    ) -> tuple[Sequence[MetricSeries], Sequence[ScopeFailure]]:
        """Read every signal of ``(account, region, resource_id)`` resources over a window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """One version of an object under a checkpoint location.

    Attributes:
        key: The key verbatim, never re-encoded.
        is_current: False for a version that was overwritten or deleted: nobody sees it
            any more, and it is billed all the same.
    """

    bucket: str
    key: str
    size_bytes: int
    modified_at: datetime
    storage_class: str
    version_id: str = ""
    is_current: bool = True


class ObjectSource(Protocol):
    """Listings of object storage."""

    def objects(self, bucket: str, prefix: str) -> Iterator[Sequence[StoredObject]]:
        """Yield pages of every version of the objects under an exact prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedUpload:
    """Parts of an object that was never completed; they are billed and never listed.

    Attributes:
        size_bytes: Of its parts; None when they were not counted.
    """

    key: str
    upload_id: str
    started_at: datetime
    size_bytes: int | None


class ObjectDetails(Protocol):
    """What a listing does not tell of objects; each raises SourceUnavailableError."""

    def tags(self, bucket: str, keys: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the tags of current objects by key; one that is gone is left out."""

    def uploads(self, bucket: str, prefix: str) -> Sequence[UnfinishedUpload]:
        """Return uploads under an exact prefix that were never completed."""

    def region(self, bucket: str) -> str:
        """Return where a bucket is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentFacts:
    """Commitment coverage and utilisation of one instance family (or all).

    Attributes:
        covered: Spend (on-demand equivalent) covered by commitments in the window.
        eligible: Covered plus on-demand spend; zero when there was no eligible usage.
        utilization_pct: Used share of the commitments, 0-100; None when there are none.
        baseline_covered_pct: Covered share of the P10 of hourly eligible use; None when unknown.
        baseline: That P10, at on-demand prices an hour; None when unknown.
        plan_share: Rate of a 1-year Savings Plan by the on-demand rate; None when unknown.
    """

    family: str
    since: date
    until: date
    covered: Money
    eligible: Money
    utilization_pct: float | None
    baseline_covered_pct: float | None = None
    baseline: Money | None = None
    plan_share: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedPlan:
    """One Savings Plan that is paid until its end.

    Attributes:
        kind: As AWS names it: ``Compute``, ``EC2Instance``, ``SageMaker``.
        family: Instance family that it is bound to; "" when to none.
        hourly: What is committed an hour.
    """

    plan_id: str
    kind: str
    family: str
    region: str
    hourly: Money
    ends_at: datetime


class CommitmentPlans(Protocol):
    """Savings Plans that are owned."""

    def plans(self) -> Sequence[OwnedPlan]:
        """Return those that are active, by end; raises SourceUnavailableError."""


class CommitmentSource(Protocol):
    """Savings Plans and reservations."""

    def facts(
        self, families: Sequence[str], since: date, until: date
    ) -> Sequence[CommitmentFacts]:
        """Return coverage per family; a family without data is left out."""
