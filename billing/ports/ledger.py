"""What billing stores and reads back, as protocols; SQL adapters and fakes implement them.

Names roles only: no SQL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Protocol

from billing.core.charges import Charge, DayControl, Source
from billing.core.errors import GpucostError
from billing.core.fleet import FleetObservation
from billing.core.money import Money
from billing.core.periods import Period
from billing.core.prices import Price, PriceKey
from billing.core.usage import TagSpan, UsageInterval
from billing.ports.attribution import AttributionLedger
from billing.ports.cells import CostCellOfDay
from billing.ports.charge_lines import ChargeLines
from billing.ports.charge_rows import ChargeRows
from billing.ports.progress import ProgressLedger
from billing.ports.resources import ResourceLedger


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The outcome of reading one source and account once (JSON of `ingest`).

    Attributes:
        difference: ``total - control_total``; zero when accepted.
        state: ``done``, ``unchanged``, ``rejected`` or ``failed``.
    """

    source: Source
    account: str
    since: date
    until: date
    charges: int
    total: Money
    control_total: Money | None
    difference: Money | None
    requests: int
    request_cost: Money
    state: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDay:
    """What the ledger holds of one source, account and day.

    Attributes:
        read_at: When its charges were read; later equal controls do not move it.
        equal_reads: How often a later control was found equal.
    """

    account: str
    day: date
    billed: Money
    effective: Money
    fingerprint: str
    is_estimated: bool
    read_at: datetime
    equal_reads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CostCell:
    """A sum of charges sharing one key.

    Attributes:
        key: Value of the dimension that was grouped by.
        total: Before credits and refunds.
        credits: Credits and refunds (negative or zero).
        list_total: None when any charge of the cell has no list cost.
    """

    key: str
    total: Money
    credits: Money
    charges: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """What is known of one job.

    Attributes:
        owner: Owner tag value or e-mail; "" when unknown.
        team: Team tag value; "" when unknown.
    """

    job: str
    team: str
    owner: str
    first_seen_at: datetime
    last_seen_at: datetime
    environment: str = ""


class ChargeLedger(Protocol):
    """Imports and charges."""

    def currency(self) -> str | None:
        """Return the one billing currency of this ledger; None while it is empty."""

    def stored_days(
        self, source: Source, since: date, until: date
    ) -> Sequence[StoredDay]:
        """Return what is stored of ``[since, until)``, by account then day."""

    def stage(self, import_id: int, charges: Sequence[Charge]) -> None:
        """Add one page of charges to an import's staging area (short transaction)."""

    def begin_import(
        self, source: Source, account: str, since: date, until: date, now: datetime
    ) -> int:
        """Open an import and return its id.

        What earlier imports of the same source and account left staged is cleared.
        """

    def staged_totals(self, import_id: int) -> Mapping[date, tuple[Money, Money]]:
        """Return billed and effective sums of what an import staged, by day."""

    def swap(
        self, import_id: int, controls: Sequence[DayControl], now: datetime
    ) -> ImportReport:
        """Replace the controls' (source, account, day)s by what was staged, in one transaction.

        A day that an export holds is not given back to Cost Explorer: it stays.
        """

    def close_import(self, report: ImportReport, import_id: int, now: datetime) -> None:
        """Record an import that changed nothing: rejected, failed or unchanged."""

    def note_equal_reads(
        self, source: Source, controls: Sequence[DayControl], now: datetime
    ) -> None:
        """Record that days were read again and were equal (they may become complete)."""


class UsageLedger(Protocol):
    """Resources, tags and running intervals."""

    def open_intervals(self) -> Sequence[UsageInterval]:
        """Return every interval that has no end."""

    def apply_observation(self, observation: FleetObservation) -> None:
        """Advance intervals, tags, resources and jobs by one poll, in one transaction."""

    def intervals(
        self, period: Period, *, job: str | None = None
    ) -> Sequence[UsageInterval]:
        """Return intervals overlapping a period; of one job's resources when given."""

    def tags(
        self, resource_ids: Sequence[str], *, keys: Sequence[str] | None = None
    ) -> Sequence[TagSpan]:
        """Return the tag history of resources; of some keys only when given."""


class PriceLedger(Protocol):
    """Prices kept over time."""

    def latest_prices(self, keys: Iterable[PriceKey]) -> Mapping[PriceKey, Price]:
        """Return the last good price of each key; unknown keys are absent."""

    def price_history(self, key: PriceKey, period: Period) -> Sequence[Price]:
        """Return prices of a key effective in a period, in time order."""

    def record_prices(self, prices: Sequence[Price], now: datetime) -> None:
        """Keep prices; the same (key, as_of, source) again changes nothing."""


class RequestMeter(Protocol):
    """Counts billable AWS requests and stops them at the day's budget."""

    def charge(self, operation: str, cost: Money, now: datetime) -> None:
        """Count one request before it is made.

        Raises:
            RequestBudgetError: It would pass the day's budget; nothing was counted.
        """

    def spent(self, day: date) -> tuple[int, Money]:
        """Return requests made on a UTC day and what they cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How old the facts of one source and account are.

    Attributes:
        as_of: Last successful read; None when there was none.
        reason: Why it is stale; "" when it is not.
        first_as_of: The first successful read.
    """

    source: Source
    account: str
    as_of: datetime | None
    reason: str = ""
    first_as_of: datetime | None = field(default=None, compare=False, repr=False)


class NeedsExportError(GpucostError):
    """The question needs a dimension that Cost Explorer data does not hold."""

    code = "needs_export"
    hint = "ask by job, team, category, account or day instead"


class CostReader(Protocol):
    """Questions about stored charges; every method is one short read."""

    def billed_through(self) -> Mapping[str, datetime]:
        """Return, per account, the end of the last day that is complete."""

    def watched_since(self) -> Mapping[str, datetime]:
        """Return, per account, when the inventory first read it completely."""

    def freshness(self) -> Sequence[Freshness]:
        """Return the last good read per source and account, with staleness reasons."""

    def cells(
        self,
        by: str,
        since: date,
        until: date,
        *,
        job: str | None = None,
        team: str | None = None,
        account: str | None = None,
    ) -> Sequence[CostCellOfDay]:
        """Sum charges of ``[since, until)`` by one dimension, or "" for none.

        Dimensions: ``job|team|category|service|account|region|purchase``.
        Keys of ``job`` that are no job start with ``bucket:``. Job, team, category and
        account come from daily rollups; others from charges.

        Raises:
            NeedsExportError: The dimension is not in the stored data for this filter.
        """

    def job_record(self, job: str) -> JobRecord | None:
        """Return what is known of a job; None when neither bill nor fleet ever named it."""

    def job_names(self) -> Sequence[str]:
        """Return every known job id, sorted."""

    def job_records(self) -> Sequence[JobRecord]:
        """Return every known job, sorted by id."""

    def job_teams(self, jobs: Collection[str]) -> Mapping[str, str]:
        """Return the team of each job that is known; "" where it has none."""


class BillLedger(
    ChargeLedger,
    UsageLedger,
    ResourceLedger,
    PriceLedger,
    CostReader,
    ChargeLines,
    AttributionLedger,
    ChargeRows,
    ProgressLedger,
    Protocol,
):
    """Everything billing stores, within one unit of work."""

    def set_billed_through(
        self, account: str, through: datetime, now: datetime
    ) -> None:
        """Record the end of the last complete day of an account."""

    def billed_instance_hours(
        self, account: str, since: date, until: date
    ) -> Mapping[date, float]:
        """Return instance hours of GPU types that the bill holds, by day."""


class LedgerUnit(Protocol):
    """A unit of work as far as billing knows it."""

    @property
    def ledger(self) -> BillLedger:
        """Return everything billing stores."""


class LedgerStore(Protocol):
    """Opens units of work on the ledger."""

    def read(self) -> AbstractContextManager[LedgerUnit]:
        """Open a read-only unit (one snapshot)."""

    def write(self) -> AbstractContextManager[LedgerUnit]:
        """Open a writing unit: commits at the end, rolls back on any error."""
