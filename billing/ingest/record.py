"""Write the outcome of reading one account: swapped in, rejected, failed or unchanged.

Each outcome is one short transaction of its own. Knows only the ledger's port; what to
read is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from billing.core.charges import Charge, DayControl, Source
from billing.core.errors import GpucostError
from billing.core.fleet import ScopeFailure
from billing.core.money import USD, Money, total
from billing.core.periods import DAY
from billing.ports import CostSource, ImportReport, LedgerStore, SourceUnavailableError

SOURCE = Source.COST_EXPLORER
#: Staged sums must be the control's to the cent: less than half of one apart.
TOLERANCE_NANOS = 5_000_000

Totals = Mapping[date, tuple[Money, Money]]


@dataclass(slots=True, kw_only=True)
class Reading:
    """The detail of one account's days, staged under one import.

    Attributes:
        days: The days that were read, in order.
        charges: How many charges were staged.
    """

    account: str
    days: Sequence[date]
    import_id: int
    charges: int = 0


def imbalance_of(staged: Totals, controls: Sequence[DayControl]) -> str:
    """Return what is wrong with the first day whose sums miss its control; "" if none.

    A day without charges counts as zero; a charge on a day without control is wrong.
    """
    known = {control.day: (control.billed, control.effective) for control in controls}
    for day in sorted({*staged, *known}):
        if day not in known:
            return f"charges came for {day}, which was not asked for"
        zero = Money.zero(known[day][0].currency)
        found = staged.get(day, (zero, zero))
        for name, one, two in zip(_NAMES, found, known[day], strict=True):
            if abs((one - two).nanos) >= TOLERANCE_NANOS:
                return (
                    f"{name} charges of {day} sum to {one}, the bill's total is {two}"
                )
    return ""


_NAMES = ("billed", "effective")


@dataclass(slots=True)
class Recorder:
    """Writes outcomes and collects their reports."""

    source: CostSource
    store: LedgerStore
    now: datetime
    reports: dict[str, ImportReport] = field(default_factory=dict)
    errors: list[ScopeFailure] = field(default_factory=list)
    _requests: dict[str, tuple[int, Money]] = field(default_factory=dict)
    _counted: tuple[int, Money] = field(init=False)

    def __post_init__(self) -> None:
        """Count requests from here on."""
        self._counted = self.source.spent

    def begin(self, account: str, days: Sequence[date]) -> Reading:
        """Open an import for some days of an account."""
        with self.store.write() as unit:
            import_id = unit.ledger.begin_import(
                SOURCE, account, days[0], days[-1] + DAY, self.now
            )
        return Reading(account=account, days=days, import_id=import_id)

    def stage(self, reading: Reading, page: Sequence[Charge]) -> None:
        """Store one page out of sight, in a transaction of its own."""
        with self.store.write() as unit:
            unit.ledger.stage(reading.import_id, page)
        reading.charges += len(page)

    def settle(
        self,
        reading: Reading,
        controls: Sequence[DayControl],
        equal: Sequence[DayControl],
    ) -> None:
        """Swap a reading in if it reaches its controls; reject it otherwise.

        ``equal`` are the controls of other days that are as they are stored.
        """
        with self.store.read() as unit:
            wrong = imbalance_of(unit.ledger.staged_totals(reading.import_id), controls)
        if wrong:
            self.rejected(reading, wrong, controls)
            return
        with self.store.write() as unit:
            report = unit.ledger.swap(reading.import_id, controls, self.now)
            unit.ledger.note_equal_reads(SOURCE, equal, self.now)
        self._keep(report)

    def unchanged(self, account: str, controls: Sequence[DayControl]) -> None:
        """Record that every day of an account is as it is stored."""
        days = [control.day for control in controls]
        with self.store.write() as unit:
            import_id = unit.ledger.begin_import(
                SOURCE, account, days[0], days[-1] + DAY, self.now
            )
            report = self._report(account, days, "unchanged", controls=controls)
            unit.ledger.note_equal_reads(SOURCE, controls, self.now)
            unit.ledger.close_import(report, import_id, self.now)
        self._keep(report)

    def rejected(
        self, reading: Reading, wrong: str, controls: Sequence[DayControl]
    ) -> None:
        """Throw a reading away because its sums are not the bill's."""
        with self.store.write() as unit:
            staged = unit.ledger.staged_totals(reading.import_id)
            report = self._report(
                reading.account,
                reading.days,
                "rejected",
                charges=reading.charges,
                staged=staged,
                controls=controls,
                message=wrong,
            )
            unit.ledger.close_import(report, reading.import_id, self.now)
        self._keep(report)
        self._fail(reading.account, "rejected", wrong)

    def failed(self, reading: Reading, error: GpucostError) -> None:
        """Throw a reading away because it could not be finished."""
        report = self._report(
            reading.account,
            reading.days,
            "failed",
            charges=reading.charges,
            message=str(error),
        )
        with self.store.write() as unit:
            unit.ledger.close_import(report, reading.import_id, self.now)
        self._keep(report)
        self._fail(reading.account, cause_of(error), str(error))

    def failed_whole(
        self, accounts: Iterable[str], days: Sequence[date], error: GpucostError
    ) -> None:
        """Record that nothing could be read: each known account keeps its days."""
        for account in accounts:
            self.failed(self.begin(account, days), error)
        self.errors = [
            ScopeFailure(
                source=SOURCE.value,
                account="",
                region="",
                code=cause_of(error),
                message=str(error),
            )
        ]

    def count(self, account: str) -> None:
        """Book the requests made since the last call on an account."""
        made, cost = self.source.spent
        requests, spent = self._requests.get(account, (0, Money.zero()))
        self._requests[account] = (
            requests + made - self._counted[0],
            spent + (cost - self._counted[1]),
        )
        self._counted = (made, cost)

    def finished(self) -> tuple[ImportReport, ...]:
        """Return every report with its requests, by account."""
        found = []
        for account in sorted(self.reports):
            requests, cost = self._requests.get(account, (0, Money.zero()))
            report = self.reports[account]
            found.append(replace(report, requests=requests, request_cost=cost))
        return tuple(found)

    def _report(
        self,
        account: str,
        days: Sequence[date],
        state: str,
        *,
        charges: int = 0,
        staged: Totals | None = None,
        controls: Sequence[DayControl] = (),
        message: str = "",
    ) -> ImportReport:
        currency = self.source.currency or USD
        reached = total((one for one, _ in (staged or {}).values()), currency)
        wanted = total((one.billed for one in controls), currency)
        if state == "unchanged":
            reached = wanted
        requests, cost = self._requests.get(account, (0, Money.zero()))
        return ImportReport(
            source=SOURCE,
            account=account,
            since=days[0],
            until=days[-1] + DAY,
            charges=charges,
            total=reached,
            control_total=wanted if controls else None,
            difference=reached - wanted if controls else None,
            requests=requests,
            request_cost=cost,
            state=state,
            message=message,
        )

    def _keep(self, report: ImportReport) -> None:
        self.reports[report.account] = report

    def _fail(self, account: str, code: str, message: str) -> None:
        self.errors.append(
            ScopeFailure(
                source=SOURCE.value,
                account=account,
                region="",
                code=code,
                message=message,
            )
        )


def cause_of(error: GpucostError) -> str:
    """Return the source's own code of a failure where it gave one."""
    cause = error.cause if isinstance(error, SourceUnavailableError) else ""
    return cause or error.code
