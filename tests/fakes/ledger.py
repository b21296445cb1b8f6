"""A ledger in memory for the import: the part of `BillLedger` that it uses.

Transactions are snapshots: an error inside a writing unit leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, cast

from billing.core.charges import Charge, DayControl, Source
from billing.core.fleet import FleetObservation
from billing.core.money import Money, total
from billing.core.periods import Period
from billing.core.placements import Placement
from billing.core.prices import Price, PriceKey
from billing.core.usage import UsageInterval
from billing.ports import BillLedger, Freshness, ImportReport, LedgerUnit, StoredDay
from billing.ports.charge_rows import ChargeCells, charge_of

Key = tuple[Source, str, date]


@dataclass(slots=True)
class OpenImport:
    """One import on its way."""

    source: Source
    account: str
    since: date
    until: date
    staged: list[Charge] = field(default_factory=list)


@dataclass(slots=True)
class InMemoryLedger:
    """What one ledger holds, open to tests."""

    rows: dict[Key, list[Charge]] = field(default_factory=dict)
    days: dict[Key, StoredDay] = field(default_factory=dict)
    imports: dict[int, OpenImport] = field(default_factory=dict)
    reports: list[ImportReport] = field(default_factory=list)
    through: dict[str, datetime] = field(default_factory=dict)
    running: list[UsageInterval] = field(default_factory=list)
    hours: dict[date, float] = field(default_factory=dict)
    watched: dict[str, datetime] = field(default_factory=dict)
    fresh: list[Freshness] = field(default_factory=list)
    observations: list[FleetObservation] = field(default_factory=list)
    prices: list[Price] = field(default_factory=list)
    next_id: int = 1

    def currency(self) -> str | None:
        for day in self.days.values():
            return day.billed.currency
        return None

    def stored_days(
        self, source: Source, since: date, until: date
    ) -> Sequence[StoredDay]:
        found = [
            day
            for (kept, _, _), day in self.days.items()
            if kept is source and since <= day.day < until
        ]
        return sorted(found, key=lambda day: (day.account, day.day))

    def begin_import(
        self, source: Source, account: str, since: date, until: date, now: datetime
    ) -> int:
        self.imports = {
            number: one
            for number, one in self.imports.items()
            if (one.source, one.account) != (source, account)
        }
        number, self.next_id = self.next_id, self.next_id + 1
        self.imports[number] = OpenImport(source, account, since, until)
        return number

    def stage(self, import_id: int, charges: Sequence[Charge]) -> None:
        self.imports[import_id].staged += charges

    def stage_rows(
        self, import_id: int, rows: Sequence[ChargeCells], currency: str
    ) -> None:
        self.stage(import_id, [charge_of(cells, currency) for cells in rows])

    def placements(self, period: Period) -> Sequence[Placement]:
        return ()

    def staged_totals(self, import_id: int) -> Mapping[date, tuple[Money, Money]]:
        sums: dict[date, tuple[Money, Money]] = {}
        for one in self.imports[import_id].staged:
            zero = Money.zero(one.billed.currency)
            billed, effective = sums.get(one.day, (zero, zero))
            sums[one.day] = (billed + one.billed, effective + one.effective)
        return sums

    def swap(
        self, import_id: int, controls: Sequence[DayControl], now: datetime
    ) -> ImportReport:
        done = self.imports.pop(import_id)
        for control in controls:
            key = (done.source, done.account, control.day)
            old = self.days.get(key)
            is_equal = old is not None and old.fingerprint == control.fingerprint
            self.rows[key] = [one for one in done.staged if one.day == control.day]
            self.days[key] = StoredDay(
                account=control.account,
                day=control.day,
                billed=control.billed,
                effective=control.effective,
                fingerprint=control.fingerprint,
                is_estimated=control.is_estimated,
                read_at=control.read_at,
                equal_reads=old.equal_reads + 1 if old and is_equal else 0,
            )
        currency = controls[0].billed.currency
        reached = total((one.billed for one in done.staged), currency)
        wanted = total((one.billed for one in controls), currency)
        report = ImportReport(
            source=done.source,
            account=done.account,
            since=done.since,
            until=done.until,
            charges=len(done.staged),
            total=reached,
            control_total=wanted,
            difference=reached - wanted,
            requests=0,
            request_cost=Money.zero(),
            state="done",
        )
        self.reports.append(report)
        return report

    def close_import(self, report: ImportReport, import_id: int, now: datetime) -> None:
        self.imports.pop(import_id, None)
        self.reports.append(report)

    def note_equal_reads(
        self, source: Source, controls: Sequence[DayControl], now: datetime
    ) -> None:
        for control in controls:
            key = (source, control.account, control.day)
            day = self.days[key]
            if day.fingerprint == control.fingerprint:
                self.days[key] = replace(day, equal_reads=day.equal_reads + 1)

    def billed_through(self) -> Mapping[str, datetime]:
        return dict(self.through)

    def set_billed_through(
        self, account: str, through: datetime, now: datetime
    ) -> None:
        self.through[account] = through

    def watched_since(self) -> Mapping[str, datetime]:
        return dict(self.watched)

    def freshness(self) -> Sequence[Freshness]:
        return tuple(self.fresh)

    def billed_instance_hours(
        self, account: str, since: date, until: date
    ) -> Mapping[date, float]:
        return dict(self.hours)

    def intervals(
        self, period: Period, *, job: str | None = None
    ) -> Sequence[UsageInterval]:
        return tuple(self.running)

    def apply_observation(self, observation: FleetObservation) -> None:
        self.observations.append(observation)

    def latest_prices(self, keys: Iterable[PriceKey]) -> Mapping[PriceKey, Price]:
        wanted = set(keys)
        ordered = sorted(self.prices, key=lambda price: price.as_of)
        return {price.key: price for price in ordered if price.key in wanted}

    def record_prices(self, prices: Sequence[Price], now: datetime) -> None:
        known = {(one.key, one.as_of, one.source) for one in self.prices}
        self.prices += [
            one for one in prices if (one.key, one.as_of, one.source) not in known
        ]

    def sums(self) -> dict[tuple[str, date], Money]:
        """Return the billed sum of each stored day."""
        return {
            (account, day): total(one.billed for one in rows)
            for (_, account, day), rows in self.rows.items()
        }


@dataclass(slots=True)
class _Unit:
    ledger: BillLedger


@dataclass(slots=True)
class InMemoryLedgerStore:
    """Units of work over one ledger in memory."""

    ledger: InMemoryLedger = field(default_factory=InMemoryLedger)

    @contextmanager
    def read(self) -> Iterator[LedgerUnit]:
        yield _Unit(cast("BillLedger", deepcopy(self.ledger)))

    @contextmanager
    def write(self) -> Iterator[LedgerUnit]:
        fresh: Any = deepcopy(self.ledger)
        yield _Unit(fresh)
        self.ledger = fresh
