"""Days of exports and of Cost Explorer: each day counts once, and an export keeps its own."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from billing.core.charges import Source
from billing.core.money import Money, total
from billing.core.periods import DAY
from billing.exports.engine import Reader
from billing.ingest import import_costs
from billing.ledger.check import ledger_problems
from billing.ledger.imports import ImportSupersededError, SqlImports
from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders import ACCOUNT, day, make_charge, usd
from tests.builders_exports import aged, focus_row, ingest, write_csv
from tests.builders_store import AUDIT_KEY, begin, controls_of, import_charges
from tests.fakes.sources import InMemoryCostSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from billing.core.charges import Charge
    from billing.ports import ImportReport

CE, EXPORTS = Source.COST_EXPLORER, Source.EXPORTS
DAYS = tuple(day(f"2026-09-0{number}") for number in range(1, 5))
SEPTEMBER = (date(2026, 9, 1), date(2026, 10, 1))
NOW = datetime(2026, 9, 5, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Step:
    """One import: by the window of Cost Explorer, or by a delivery of days."""

    source: Source
    days: tuple[date, ...]
    nanos: int


_STEPS = st.lists(
    st.builds(
        lambda source, days, nanos: Step(source, tuple(sorted(days)), nanos),
        st.sampled_from([CE, EXPORTS]),
        st.sets(st.sampled_from(DAYS), min_size=1),
        st.integers(-(10**12), 10**12),
    ),
    min_size=1,
    max_size=6,
)


def _charge(on: date, nanos: int) -> Charge:
    return replace(
        make_charge(on=on.isoformat()), billed=Money(nanos), effective=Money(nanos)
    )


def _sums(store: SqlStore) -> dict[date, Money]:
    sums: dict[date, Money] = {}
    with store.read() as unit:
        assert ledger_problems(unit.session) == []
        for cell in unit.ledger.cells("job", *SEPTEMBER):
            sums[cell.day] = sums.get(cell.day, usd("0")) + cell.billed
    return sums


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(steps=_STEPS)
def test_in_whatever_order_they_come_a_day_counts_once_and_exports_win(
    sqlite_template: Path, steps: list[Step]
) -> None:
    model: dict[date, tuple[Source, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        shutil.copy(sqlite_template, path)
        store = SqlStore.open(f"sqlite:///{path}", StoreSettings(audit_key=AUDIT_KEY))
        for step in steps:
            charges = [_charge(on, step.nanos) for on in step.days]
            import_charges(store, charges, days=step.days, source=step.source)
            for on in step.days:
                if step.source is EXPORTS or model.get(on, (CE, 0))[0] is CE:
                    model[on] = (step.source, step.nanos)

        assert _sums(store) == {on: Money(nanos) for on, (_, nanos) in model.items()}
        with store.read() as unit:
            held = {
                source: {one.day for one in unit.ledger.stored_days(source, *SEPTEMBER)}
                for source in (CE, EXPORTS)
            }
        assert held == {
            source: {on for on, (kept, _) in model.items() if kept is source}
            for source in (CE, EXPORTS)
        }
        store.close()


def test_an_import_that_began_before_the_export_leaves_its_days_alone(
    store: SqlStore,
) -> None:
    charges = [_charge(on, 5) for on in DAYS]
    controls = controls_of(charges)
    import_id = begin(store, controls)
    with store.write() as unit:
        unit.ledger.stage(import_id, charges)
    import_charges(store, [_charge(DAYS[0], 7)], source=EXPORTS)

    with store.write() as unit:
        report = unit.ledger.swap(import_id, controls, NOW)

    assert (report.charges, report.total) == (3, Money(15))
    assert _sums(store)[DAYS[0]] == Money(7)


def test_an_import_of_nothing_but_exported_days_changes_nothing(
    store: SqlStore,
) -> None:
    import_charges(store, [_charge(DAYS[0], 7)], source=EXPORTS)

    report = import_charges(store, [_charge(DAYS[0], 5)])

    assert (report.state, report.charges) == ("done", 0)
    assert _sums(store) == {DAYS[0]: Money(7)}


def test_a_period_is_replaced_for_every_account_or_for_none(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "999999999999"
    file = tmp_path / "focus.csv"
    rows = [focus_row(SubAccountId=one, BilledCost="1.00") for one in (ACCOUNT, other)]
    ingest(store, write_csv(file, rows))
    swap = SqlImports.swap

    def breaks(self: SqlImports, import_id: int, *rest: Any) -> ImportReport:
        report = swap(self, import_id, *rest)
        if report.account == other:
            raise ImportSupersededError(import_id)
        return report

    monkeypatch.setattr(SqlImports, "swap", breaks)
    rows = [row | {"BilledCost": "5.00"} for row in rows]
    found = ingest(store, write_csv(file, rows))

    assert {one.state for one in found.imports} == {"failed"}
    assert _sums(store)[DAYS[0]] == usd("2")
    with store.read() as unit:
        staged = unit.session.execute(text("SELECT count(*) FROM charge_staging"))
        assert staged.scalar_one() == 0


class _Killed(BaseException):
    """The process ends here: nothing after it runs, nothing catches it."""


class _Mortal:
    """A store whose process is killed before or after the commit of its nth write."""

    def __init__(self, store: SqlStore, writes: int, *, commits: bool) -> None:
        self._store, self._left, self._commits = store, writes, commits

    def read(self) -> AbstractContextManager[Any]:
        return self._store.read()

    @contextmanager
    def write(self) -> Iterator[Any]:
        self._left -= 1
        with self._store.write() as unit:
            yield unit
            if self._left == 0 and not self._commits:
                raise _Killed
        if self._left == 0:
            raise _Killed


@pytest.mark.parametrize("commits", [False, True])
@pytest.mark.parametrize("writes", [1, 2, 3])
def test_a_kill_anywhere_leaves_the_old_delivery_or_the_new(
    store: SqlStore, tmp_path: Path, writes: int, *, commits: bool
) -> None:
    other = "999999999999"
    file = tmp_path / "focus.csv"
    rows = [focus_row(SubAccountId=one, BilledCost="1.00") for one in (ACCOUNT, other)]
    ingest(store, write_csv(file, rows))
    write_csv(file, [row | {"BilledCost": "5.00"} for row in rows])

    # Its writes: the imports begin, charges are staged, the period is swapped.
    with pytest.raises(_Killed):
        ingest(_Mortal(store, writes, commits=commits), file)

    is_new = (writes, commits) == (3, True)
    assert _sums(store)[DAYS[0]] == usd("10" if is_new else "2")
    again = ingest(store, file)
    assert {one.state for one in again.imports} == {"unchanged" if is_new else "done"}
    assert _sums(store)[DAYS[0]] == usd("10")


def test_a_reading_that_a_newer_one_overtook_leaves_the_newer_alone(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "focus.csv"
    rows = [focus_row(SubAccountId=ACCOUNT, BilledCost="1.00")]
    ingest(store, write_csv(file, rows))
    newer: list[int] = []
    cells = Reader.cells

    def overtaken(reader: Reader, *rest: Any) -> Iterator[list[tuple[Any, ...]]]:
        with store.write() as unit:
            newer.append(unit.ledger.begin_import(EXPORTS, ACCOUNT, *SEPTEMBER, NOW))
        return cells(reader, *rest)

    monkeypatch.setattr(Reader, "cells", overtaken)
    rows = [row | {"BilledCost": "5.00"} for row in rows]
    found = ingest(store, write_csv(file, rows))

    assert found.errors[0].code == "import_superseded"
    assert _sums(store)[DAYS[0]] == usd("1")
    charges = [_charge(DAYS[0], 7)]
    with store.write() as unit:
        unit.ledger.stage(newer[0], charges)
        report = unit.ledger.swap(newer[0], controls_of(charges), NOW)
    assert report.state == "done"


def _delivered(folder: Path) -> Path:
    """Deliver days 1 to 3 whole, and the morning of day 4."""
    rows = [
        focus_row(
            on.isoformat(), SubAccountId=ACCOUNT, BilledCost="2.00",
            ChargePeriodEnd=f"{on + DAY}T00:00:00Z",
        )
        for on in DAYS[:3]
    ]  # fmt: skip
    rows.append(focus_row(DAYS[3].isoformat(), SubAccountId=ACCOUNT))
    aged(write_csv(folder / "focus.csv", rows), NOW)
    return folder


def _explorer() -> InMemoryCostSource:
    return InMemoryCostSource(bill=[_charge(on, 10**9) for on in DAYS], read_at=NOW)


def test_a_later_refresh_of_cost_explorer_does_not_bring_its_days_back(
    store: SqlStore, tmp_path: Path
) -> None:
    source, window = _explorer(), (DAYS[0], DAYS[-1] + DAY)
    import_costs(source, store, since=window[0], until=window[1], now=NOW)
    ingest(store, _delivered(tmp_path), now=NOW)
    source.bill = [_charge(on, 3 * 10**9) for on in DAYS]

    found = import_costs(
        source, store, since=window[0], until=window[1], now=NOW, full=True
    )

    assert [one.state for one in found.imports] == ["done"]
    sums = _sums(store)
    assert [sums[on].text() for on in DAYS] == ["2.00", "2.00", "2.00", "3.00"]
    assert total(sums.values()) == usd("9")


def test_a_refresh_in_which_nothing_moved_asks_for_totals_only(
    store: SqlStore, tmp_path: Path
) -> None:
    source, window = _explorer(), (DAYS[0], DAYS[-1] + DAY)
    ingest(store, _delivered(tmp_path), now=NOW)
    import_costs(source, store, since=window[0], until=window[1], now=NOW)
    source.requests.clear()

    found = import_costs(source, store, since=window[0], until=window[1], now=NOW)

    assert [one.state for one in found.imports] == ["unchanged"]
    assert source.requests == ["controls", "controls by account"]


def test_exported_days_count_as_billed(store: SqlStore, tmp_path: Path) -> None:
    ingest(store, _delivered(tmp_path), now=NOW)
    later = datetime(2026, 9, 9, tzinfo=UTC)

    import_costs(_explorer(), store, since=DAYS[0], until=DAYS[-1] + DAY, now=later)

    with store.read() as unit:
        through = unit.ledger.billed_through()[ACCOUNT]
    assert through >= datetime(2026, 9, 4, tzinfo=UTC)


def test_a_closed_month_that_differs_from_cost_explorer_is_named(
    store: SqlStore, tmp_path: Path
) -> None:
    rows = [focus_row(SubAccountId=ACCOUNT, BilledCost="50.00", InvoiceId="1")]
    ingest(store, write_csv(tmp_path / "a.csv", rows))
    source = InMemoryCostSource(bill=[_charge(DAYS[0], 48 * 10**9)])

    found = import_costs(source, store, since=SEPTEMBER[0], until=SEPTEMBER[1], now=NOW)

    assert found.imports == ()
    assert [note for note in found.notes if "$50.00" in note and "$48.00" in note]
