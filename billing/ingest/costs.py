"""Import a bill: read what moved, check it against the bill's own totals, swap it in.

Every account stands alone: one that fails keeps the days it had and does not stop the
others. Knows no AWS and no SQL, only the ports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from billing.core.charges import DayControl, Source
from billing.core.errors import GpucostError
from billing.core.fleet import ScopeFailure
from billing.core.periods import days_between
from billing.ingest.complete import advance_billed_through
from billing.ingest.exported import export_differences, without_exported
from billing.ingest.plan import (
    Controls,
    by_account,
    days_to_read,
    equal_controls,
    is_full_read_due,
    marked,
    moved_days,
    ranges,
    stored_by_account,
    tags_text,
)
from billing.ingest.record import SOURCE, Reading, Recorder
from billing.ports import (
    AnswerChangedError,
    CostSource,
    ImportReport,
    IncompleteAnswerError,
    LedgerStore,
    StoredDay,
    TagKeyStatus,
)
from billing.ports.currency import ForeignCurrencyError

#: How often days that moved while they were read are read again.
AGAIN_MAX = 2
#: How often an account is read from the start when its pages do not fit together.
READS_MAX = 2

Accounts = Mapping[str, Controls]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestResult:
    """What one import did.

    Attributes:
        imports: One report for each account, sorted.
        errors: Accounts that could not be read ("" for all of them).
        notes: What a reader must know about how the bill was read.
    """

    imports: tuple[ImportReport, ...] = ()
    errors: tuple[ScopeFailure, ...] = ()
    tag_keys: tuple[TagKeyStatus, ...] = ()
    notes: tuple[str, ...] = ()


def import_costs(
    source: CostSource,
    store: LedgerStore,
    *,
    since: date,
    until: date,
    now: datetime,
    full: bool = False,
) -> IngestResult:
    """Bring the ledger's days of ``[since, until)`` up to the source's.

    Two requests suffice when nothing moved. Days are replaced whole, an account at a
    time, in one transaction each; a reading that does not reach the source's own
    totals is rejected and changes nothing. With ``full`` every day is read.
    """
    with store.read() as unit:
        currency = unit.ledger.currency()
        stored = stored_by_account(unit.ledger.stored_days(SOURCE, since, until))
        exported = unit.ledger.stored_days(Source.EXPORTS, since, until)
    run = _Import(
        source=source,
        record=Recorder(source, store, now),
        since=since,
        until=until,
        now=now,
        full=full,
        currency=currency,
        stored=stored,
        exported=exported,
    )
    run.read()
    read = [
        one.account
        for one in run.record.finished()
        if one.state in {"done", "unchanged"}
    ]
    if read:
        advance_billed_through(store, read, since=since, until=until, now=now)
    return IngestResult(
        imports=run.record.finished(),
        errors=tuple(run.record.errors),
        tag_keys=run.tag_keys,
        notes=(*source.notes, *run.notes),
    )


@dataclass(slots=True, kw_only=True)
class _Import:
    """One run: what was stored when it began, and what is true of the tag keys.

    Attributes:
        exported: Days that exports hold: they are compared, and left alone.
    """

    source: CostSource
    record: Recorder
    since: date
    until: date
    now: datetime
    full: bool
    currency: str | None
    stored: Mapping[str, Mapping[date, StoredDay]]
    exported: Sequence[StoredDay]
    notes: tuple[str, ...] = ()
    tag_keys: tuple[TagKeyStatus, ...] = ()
    tags: str = ""

    def read(self) -> None:
        """Read controls, then the detail of what moved, then the controls again."""
        try:
            before = self._controls()
            plans = self._plans(before)
        except GpucostError as error:
            self.record.count(min(self.stored, default=""))
            days = list(days_between(self.since, self.until))
            self.record.failed_whole(sorted(self.stored), days, error)
            return
        if before:
            self.record.count(next(iter([*plans, *before])))
        for account in before.keys() - plans.keys():
            stored = self.stored.get(account, {})
            self.record.unchanged(account, equal_controls(before[account], stored))
        self._read_until_stable(before, plans)

    def _controls(self) -> Accounts:
        found = self.source.controls(self.since, self.until)
        seen = self.source.currency
        if self.currency and seen and seen != self.currency:
            accounts = {one.account for one in found if one.billed.nanos}
            raise ForeignCurrencyError(
                SOURCE.value, accounts, found=seen, known=self.currency
            )
        self.notes = export_differences(found, self.exported)
        return by_account(without_exported(found, self.exported))

    def _plans(self, controls: Accounts) -> dict[str, list[date]]:
        """Return the days to read of each account that has any."""
        stored = [day for days in self.stored.values() for day in days.values()]
        is_full = self.full or is_full_read_due(stored, self.now)
        moved = any(
            moved_days(days, self.stored.get(account, {}))
            for account, days in controls.items()
        )
        if not (is_full or moved):
            return {}
        self.tag_keys = tuple(self.source.tag_keys())
        self.tags = tags_text(self.tag_keys)
        plans = {
            account: sorted(days) if is_full else self._days(account, days)
            for account, days in controls.items()
        }
        return {account: days for account, days in plans.items() if days}

    def _days(self, account: str, controls: Controls) -> list[date]:
        return days_to_read(controls, self.stored.get(account, {}), self.tags)

    def _read_until_stable(
        self, before: Accounts, plans: Mapping[str, Sequence[date]]
    ) -> None:
        for attempt in range(AGAIN_MAX + 1):
            readings = [
                reading
                for account, days in plans.items()
                if (reading := self._read(account, days))
            ]
            if not readings:
                return
            try:
                after = self._controls()
            except GpucostError as error:
                for reading in readings:
                    self.record.failed(reading, error)
                return
            self.record.count(readings[0].account)
            is_last = attempt == AGAIN_MAX
            plans = self._settle(readings, before, after, is_last=is_last)
            before = after

    def _settle(
        self,
        readings: Sequence[Reading],
        before: Accounts,
        after: Accounts,
        *,
        is_last: bool,
    ) -> dict[str, list[date]]:
        """Keep what did not move while it was read; return what to read again."""
        again = {}
        for reading in readings:
            account = reading.account
            now = after.get(account, {})
            controls = [
                marked(now[day], self.tags) for day in reading.days if day in now
            ]
            if len(controls) < len(reading.days):
                message = f"account {account!r} is not in the bill's totals any more"
                self.record.failed(reading, IncompleteAnswerError(SOURCE, message))
            elif not _moved(reading.days, before[account], now):
                self._keep(reading, controls, now)
            elif is_last:
                message = "the bill's totals moved each time while it was read"
                self.record.rejected(reading, message, controls)
            else:
                again[account] = sorted({*reading.days, *self._days(account, now)})
        return again

    def _keep(
        self, reading: Reading, controls: Sequence[DayControl], now: Controls
    ) -> None:
        stored = self.stored.get(reading.account, {})
        others = {day: one for day, one in now.items() if day not in reading.days}
        try:
            self.record.settle(reading, controls, equal_controls(others, stored))
        except GpucostError as error:
            self.record.failed(reading, error)

    def _read(self, account: str, days: Sequence[date]) -> Reading | None:
        """Stage the account's days, from the start again if pages do not fit."""
        for attempt in range(READS_MAX):
            reading = self.record.begin(account, days)
            try:
                for since, until in ranges(days):
                    for page in self.source.charges(account, since, until):
                        self.record.stage(reading, page)
            except (AnswerChangedError, IncompleteAnswerError) as error:
                if attempt + 1 == READS_MAX:
                    self._failed(reading, error)
            except GpucostError as error:
                self._failed(reading, error)
                return None
            else:
                self.record.count(account)
                return reading
        return None

    def _failed(self, reading: Reading, error: GpucostError) -> None:
        self.record.count(reading.account)
        self.record.failed(reading, error)


def _moved(days: Sequence[date], before: Controls, after: Controls) -> bool:
    return any(
        day not in before or before[day].fingerprint != after[day].fingerprint
        for day in days
    )
