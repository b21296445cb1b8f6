"""Write the outcome of deliveries into the ledger, each in short transactions.

Knows only the ledger's port; what is read is decided elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from billing.core.attribution import TagKeys
from billing.core.charges import DayControl, Source
from billing.core.errors import GpucostError
from billing.core.fleet import ScopeFailure
from billing.core.money import Money, total
from billing.core.periods import DAY
from billing.exports.delivery import Delivery
from billing.exports.errors import ExportCurrencyError, ImbalancedExportError
from billing.ports import BillLedger, ImportReport, LedgerStore, StoredDay
from billing.ports.charge_rows import ChargeCells

SOURCE = Source.EXPORTS
#: Raised when the same files would be read to other charges.
READING = "2"
_EQUAL_READS_ENOUGH = 2
#: Code of the ledger's error for an import that a newer one took the place of.
_SUPERSEDED = "import_superseded"

Batch = Sequence[tuple[int, Sequence[DayControl]]]


def mark_of(delivery: Delivery, keys: TagKeys, held: Sequence[str] = ()) -> str:
    """Return what a stored day remembers of where it came from.

    It changes with the delivery, with the job tags, with the resources that are told
    apart since jobs held them, and with how files are read; its part before the colon
    is the export's own.
    """
    tags = ",".join(keys.job)
    if held:
        tags += f"|{hashlib.sha256(' '.join(held).encode()).hexdigest()[:16]}"
    return f"export {delivery.export}:{delivery.fingerprint}|{READING}|{tags}"


@dataclass(slots=True)
class Recorder:
    """Writes outcomes and collects their reports."""

    store: LedgerStore
    now: datetime
    errors: list[ScopeFailure] = field(default_factory=list)
    read: dict[str, date] = field(default_factory=dict)
    _reports: list[ImportReport] = field(default_factory=list)
    #: account -> its import on the way, with the days it was begun for.
    _open: dict[str, tuple[int, Sequence[date]]] = field(default_factory=dict)

    def begin(self, accounts: Sequence[str], days: Sequence[date]) -> dict[str, int]:
        """Open an import for some days of each account."""
        with self.store.write() as unit:
            begun = {
                account: unit.ledger.begin_import(
                    SOURCE, account, days[0], days[-1] + DAY, self.now
                )
                for account in accounts
            }
        self._open = {account: (number, days) for account, number in begun.items()}
        return begun

    def stage(
        self, pages: Sequence[tuple[int, Sequence[ChargeCells]]], currency: str
    ) -> None:
        """Store pages of imports out of sight, in a transaction of their own."""
        with self.store.write() as unit:
            for import_id, rows in pages:
                unit.ledger.stage_rows(import_id, rows, currency)

    def swap(self, batch: Batch) -> None:
        """Put every account of a billing period in place, all or none."""
        with self.store.write() as unit:
            reports = [
                unit.ledger.swap(import_id, controls, self.now)
                for import_id, controls in batch
            ]
        self._open = {}
        for report in reports:
            self._keep(report)
            self._is_read(report.account, report.since)

    def unchanged(self, days: Sequence[StoredDay], *, is_told: bool) -> None:
        """Record that days are as they were delivered; told, each account reports."""
        by_account: dict[str, list[StoredDay]] = {}
        for day in days:
            by_account.setdefault(day.account, []).append(day)
            self._is_read(day.account, day.day)
        young = [day for day in days if day.equal_reads < _EQUAL_READS_ENOUGH]
        if not (young or is_told):
            return
        with self.store.write() as unit:
            unit.ledger.note_equal_reads(SOURCE, _controls(young), self.now)
            for account, held in sorted(by_account.items()) if is_told else ():
                billed = total((day.billed for day in held), held[0].billed.currency)
                report = self._report(account, [day.day for day in held], "unchanged")
                zero = Money.zero(billed.currency)
                self._close(
                    unit.ledger,
                    replace(
                        report, total=billed, control_total=billed, difference=zero
                    ),
                )

    def failed(
        self,
        delivery: Delivery,
        held: Sequence[StoredDay],
        error: GpucostError | OSError,
    ) -> None:
        """Record a delivery that was not taken, for every account that it would change.

        Imports on the way are closed. One that a newer import took the place of has
        nothing to record: the newer one reads the same.
        """
        is_refused = isinstance(error, ImbalancedExportError | ExportCurrencyError)
        code = getattr(error, "code", "unreadable_export")
        message = f"export {delivery.name}: {error}"
        days = {account: list(began) for account, (_, began) in self._open.items()}
        for day in held if code != _SUPERSEDED else ():
            days.setdefault(day.account, []).append(day.day)
        for account in sorted(days):
            state = "rejected" if is_refused else "failed"
            report = self._report(account, days[account], state, message=message)
            with self.store.write() as unit:
                self._close(unit.ledger, report)
        self._open = {}
        self._fail("", code, message)

    def unreadable(self, name: str, error: object) -> None:
        """Record a place or a manifest that cannot be used."""
        code = getattr(error, "code", "unreadable_export")
        self._fail("", code, f"export {name}: {error}")

    def claimed(self, account: str, period: date, delivery: Delivery) -> None:
        """Record that two exports deliver the same account and period."""
        self._fail(
            account,
            "two_exports",
            f"{period:%Y-%m} of the account comes from two exports; that of"
            f" {delivery.name!r} is left out: configure one of them",
        )

    def finished(self) -> tuple[ImportReport, ...]:
        """Return every report, by account and period."""
        return tuple(sorted(self._reports, key=lambda one: (one.account, one.since)))

    def _report(
        self, account: str, days: Sequence[date], state: str, *, message: str = ""
    ) -> ImportReport:
        return ImportReport(
            source=SOURCE,
            account=account,
            since=min(days),
            until=max(days) + DAY,
            charges=0,
            total=Money.zero(),
            control_total=None,
            difference=None,
            requests=0,
            request_cost=Money.zero(),
            state=state,
            message=message,
        )

    def _close(self, ledger: BillLedger, report: ImportReport) -> None:
        """Close the account's import on the way, or one that is made for it."""
        number, _ = self._open.get(report.account, (None, ()))
        if number is None:
            number = ledger.begin_import(
                SOURCE, report.account, report.since, report.until, self.now
            )
        ledger.close_import(report, number, self.now)
        self._keep(report)

    def _is_read(self, account: str, first: date) -> None:
        self.read[account] = min(first, self.read.get(account, first))

    def _keep(self, report: ImportReport) -> None:
        self._reports.append(report)

    def _fail(self, account: str, code: str, message: str) -> None:
        self.errors.append(
            ScopeFailure(
                source=SOURCE.value, account=account, region="", code=code, message=message
            )
        )  # fmt: skip


def _controls(days: Iterable[StoredDay]) -> list[DayControl]:
    return [
        DayControl(
            account=day.account, day=day.day, billed=day.billed,
            effective=day.effective, fingerprint=day.fingerprint,
            is_estimated=day.is_estimated, read_at=day.read_at,
        )
        for day in days
    ]  # fmt: skip
