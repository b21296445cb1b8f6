"""Bring the ledger's billing periods up to the newest deliveries of exports.

A billing period is replaced as a whole, every account of it in one transaction; a
delivery that is as it was is not read again. What cannot be read, or does not sum to
its own files, changes nothing. Knows the ledger's port, no SQL of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from billing.core.attribution import TagKeys
from billing.core.charges import DayControl, Source
from billing.core.errors import GpucostError
from billing.core.fleet import ScopeFailure
from billing.core.money import Money
from billing.core.periods import Period, month_start, next_month, start_of
from billing.core.placements import Placement
from billing.exports.cover import NO_DAYS, controls_of, covered_days
from billing.exports.delivery import Delivery, find_deliveries
from billing.exports.engine import EngineLimits, Reader, open_reader
from billing.exports.errors import EmptyExportError, IncompleteExportError
from billing.exports.headers import ExportFormat
from billing.exports.proof import Proof, prove
from billing.exports.record import Recorder, mark_of
from billing.exports.remote import RemoteReader, open_remote
from billing.exports.rows import ChargeMaker
from billing.exports.split import to_record
from billing.exports.watch import Share
from billing.ports import ExportFiles, ImportReport, LedgerStore, StoredDay
from billing.ports.charge_rows import DAY, ChargeCells
from billing.ports.exports import RemoteTable

Tell = Callable[[str], None]
AnyReader = Reader | RemoteReader
PAGE_ROWS = 20_000
#: More are not told apart where they are tagged: statements have a length.
HELD_MAX = 5_000
#: Stored days are looked up in this range when a delivery does not name its period.
_ALWAYS = (date(2006, 1, 1), date(2200, 1, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportScope:
    """What of the deliveries to read.

    Attributes:
        since / until: Half-open range of days whose billing periods count; None: no bound.
        is_full: Deliveries that are as they were too.
        formats: Location -> the format that is expected there.
    """

    since: date | None = None
    until: date | None = None
    is_full: bool = False
    formats: Mapping[str, ExportFormat] = field(default_factory=dict)

    def holds(self, period: date | None) -> bool:
        """Tell whether a billing period is in reach; an unknown one is."""
        if period is None:
            return True
        return (self.until is None or period < self.until) and (
            self.since is None or self.since < next_month(period)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOutcome:
    """What one reading of all places did.

    Attributes:
        read: Accounts whose days are as delivered, with the first of those days.
    """

    imports: tuple[ImportReport, ...] = ()
    errors: tuple[ScopeFailure, ...] = ()
    notes: tuple[str, ...] = ()
    read: Mapping[str, date] = field(default_factory=dict)


def import_exports(
    places: Iterable[ExportFiles],
    store: LedgerStore,
    keys: TagKeys,
    *,
    now: datetime,
    scope: ExportScope | None = None,
    limits: EngineLimits | None = None,
    progress: Tell = lambda _: None,
    remote: Mapping[str, RemoteTable] | None = None,
) -> ExportOutcome:
    """Read what was delivered anew.

    ``progress`` is told texts and, where it has a method ``share``, how far a long
    statement has come, from 0 to 1. ``remote`` names, by location, the table that holds
    what is not read here.
    """
    run = _Run(
        store=store,
        record=Recorder(store, now),
        keys=keys,
        now=now,
        scope=scope or ExportScope(),
        limits=limits or EngineLimits(),
        progress=progress,
        share=getattr(progress, "share", None),
        remote=remote or {},
    )
    for place in places:
        for delivery in run.find(place):
            if run.scope.holds(delivery.period):
                run.take(delivery)
    return ExportOutcome(
        imports=run.record.finished(),
        errors=tuple(run.record.errors),
        notes=tuple(dict.fromkeys(run.notes)),
        read=run.record.read,
    )


@dataclass(slots=True, kw_only=True)
class _Run:
    """One reading of all places."""

    store: LedgerStore
    record: Recorder
    keys: TagKeys
    now: datetime
    scope: ExportScope
    limits: EngineLimits
    progress: Tell
    share: Share | None
    remote: Mapping[str, RemoteTable]
    notes: list[str] = field(default_factory=list)
    _newest: dict[str, date] = field(default_factory=dict)
    #: (account, period) -> export that holds it in this run.
    _claims: dict[tuple[str, date], str] = field(default_factory=dict)

    def find(self, place: ExportFiles) -> Sequence[Delivery]:
        """Return the deliveries of a place; what is wrong with it is recorded."""
        try:
            found = find_deliveries(place)
        except (GpucostError, OSError) as error:
            self.record.unreadable(place.location, error)
            return ()
        for name, message in found.problems:
            self.record.unreadable(name, message)
        for one in found.deliveries:
            newest = self._newest.get(one.export, date.min)
            self._newest[one.export] = max(newest, one.period or date.min)
        return found.deliveries

    def take(self, delivery: Delivery) -> None:
        """Read one delivery if it is not what is stored."""
        days = self._stored(delivery.period)
        held = self._held(delivery.period)
        mark = mark_of(delivery, self.keys, held)
        same = [day for day in days if day.fingerprint == mark]
        if same and not self.scope.is_full:
            for day in same:
                self._claim(day.account, month_start(day.day), delivery)
            is_newest = self._newest[delivery.export] == (delivery.period or date.min)
            self.record.unchanged(same, is_told=is_newest)
            return
        mine = [day for day in days if day.fingerprint.startswith(_prefix(mark))]
        self.progress(f"reading export {delivery.name}: {len(delivery.files)} files")
        try:
            with self._opened(delivery) as (reader, paths):
                reader.table.require(delivery.columns)
                reader.table.expect(self.scope.formats.get(delivery.place.location))
                self._read(delivery, reader, paths, mine, held)
        except (GpucostError, OSError) as error:
            if isinstance(error, EmptyExportError) and not mine:
                self.notes.append(f"export {delivery.name}: {error}")
            else:
                self.record.failed(delivery, mine, error)

    @contextmanager
    def _opened(self, delivery: Delivery) -> Iterator[tuple[AnyReader, Sequence[Path]]]:
        """Open a delivery where it is read: far away, or from files on this machine."""
        remote = self.remote.get(delivery.place.location)
        if remote is not None:
            with open_remote(remote, delivery.period, self.limits) as far:
                yield far, ()
            return
        with delivery.fetched() as names:
            paths = [Path(name) for name in names]
            with open_reader(paths, self.limits) as reader:
                yield reader, paths

    def _held(self, period: date | None) -> tuple[str, ...]:
        """Return the resources that a scheduler gave to jobs in a period."""
        first, last = (period, next_month(period)) if period else _ALWAYS
        with self.store.read() as unit:
            placed = unit.ledger.placements(Period(start_of(first), start_of(last)))
        found = sorted({one.resource_id for one in placed})
        if len(found) > HELD_MAX:
            self.notes.append(
                f"{len(found)} resources had placements; {HELD_MAX} of them are told"
                " apart where they are tagged"
            )
        return tuple(found[:HELD_MAX])

    def _stored(self, period: date | None) -> Sequence[StoredDay]:
        window = (period, next_month(period)) if period else _ALWAYS
        with self.store.read() as unit:
            return unit.ledger.stored_days(Source.EXPORTS, *window)

    def _read(
        self,
        delivery: Delivery,
        reader: AnyReader,
        paths: Sequence[Path],
        mine: Sequence[StoredDay],
        held: Sequence[str],
    ) -> None:
        """Prove the whole delivery, then replace its periods one by one."""
        with self.store.read() as unit:
            known = unit.ledger.currency()
        before = _states(paths)
        reader.prepare(self.keys)
        splits = reader.splits(self.keys)
        held = sorted({*held, *(one.resource_id for one in splits)})[:HELD_MAX]
        proof = prove(
            reader, period=delivery.period, currency=known, held=held, share=self.share
        )
        if _states(paths) != before:
            raise IncompleteExportError("its files changed while they were read")
        self.notes += proof.notes
        if not reader.tags:
            self.notes.append(
                f"export {delivery.name}: none of the job tags"
                f" ({', '.join(self.keys.job)}) is in its tables"
            )
        self._keep_splits(splits, proof)
        for period in proof.ends:
            self.progress(f"storing export {delivery.name}: {period:%Y-%m}")
            before_it = [day for day in mine if month_start(day.day) == period]
            self._replace(
                delivery, reader, proof, period=period, held=before_it,
                mark=mark_of(delivery, self.keys, held),
            )  # fmt: skip

    def _keep_splits(self, splits: Sequence[Placement], proof: Proof) -> None:
        """Keep what jobs held of instances, where no scheduler says it."""
        for month in proof.ends:
            period = Period(start_of(month), start_of(next_month(month)))
            made = [
                one for one in splits if month_start(one.started_at.date()) == month
            ]
            with self.store.read() as unit:
                found = to_record(made, unit.ledger.placements(period))
            if found:
                with self.store.write() as unit:
                    unit.ledger.record_placements(found, self.now)

    def _replace(
        self,
        delivery: Delivery,
        reader: AnyReader,
        proof: Proof,
        *,
        period: date,
        held: Sequence[StoredDay],
        mark: str,
    ) -> None:
        days = covered_days(
            period, proof.ends[period], min(delivery.delivered_at, self.now)
        )
        days = sorted({*days, *(day.day for day in held)})
        if not days:
            self.notes.append(NO_DAYS.format(name=delivery.name, period=period))
            return
        finality = dict(reader.accounts(period))
        accounts = [
            account
            for account in sorted({*finality, *(day.account for day in held)})
            if self._claim(account, period, delivery)
        ]
        imports = self.record.begin(accounts, days) if accounts else {}
        maker = ChargeMaker(reader.tags, self.keys, proof.currency)
        self._stage(imports, reader, maker, period=period, days=frozenset(days))
        nothing = Money.zero(proof.currency)
        batch = [
            (
                import_id,
                controls_of(
                    reader.days(period, account), days,
                    blank=DayControl(
                        account=account, day=period, billed=nothing, effective=nothing,
                        fingerprint=mark,
                        is_estimated=not finality.get(account, False),
                        read_at=self.now,
                    ),
                ),
            )
            for account, import_id in imports.items()
        ]  # fmt: skip
        self.record.swap(batch)

    def _stage(
        self,
        imports: Mapping[str, int],
        reader: AnyReader,
        maker: ChargeMaker,
        *,
        period: date,
        days: frozenset[date],
    ) -> None:
        """Stage the charges of the days, in pages of whatever accounts."""
        for page in reader.cells(period, PAGE_ROWS):
            rows: dict[int, list[ChargeCells]] = {}
            for cell in page:
                import_id = imports.get(cell[0])
                if import_id is None:
                    continue  # Another export holds this account.
                made = [one for one in maker.rows(cell) if one[DAY] in days]
                rows.setdefault(import_id, []).extend(made)
            self.record.stage([*rows.items()], maker.currency)

    def _claim(self, account: str, period: date, delivery: Delivery) -> bool:
        """Take a period of an account, unless another export of this run has it."""
        holder = self._claims.setdefault((account, period), delivery.export)
        if holder != delivery.export:
            self.record.claimed(account, period, delivery)
        return holder == delivery.export


def _states(paths: Sequence[Path]) -> list[tuple[int, int]]:
    states = [path.stat() for path in paths]
    return [(state.st_size, state.st_mtime_ns) for state in states]


def _prefix(mark: str) -> str:
    """Return the part of a mark that all deliveries of one export share."""
    return mark.partition(":")[0] + ":"
