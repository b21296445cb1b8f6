"""Conservation and replacement over random sequences of imports (invariants 1 and 2)."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from billing.core.charges import Bucket, ChargeCategory, CostCategory
from billing.core.money import Money
from billing.ledger.check import ledger_problems
from billing.ledger.swap import ImbalanceError
from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders import day, make_charge
from tests.builders_store import (
    AUDIT_KEY,
    begin,
    controls_of,
    import_charges,
    off_by,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from billing.core.charges import Charge

ACCOUNTS = ("111111111111", "222222222222")
DAYS = ("2026-11-01", "2026-11-02", "2026-11-03")
WINDOW = (day("2026-11-01"), day("2026-12-01"))
DIMENSIONS = ("", "job", "team", "category", "account", "region", "purchase")


@dataclass(frozen=True, slots=True)
class Step:
    """One import of one account; `ending` says how far it came."""

    account: str
    days: tuple[str, ...]
    charges: tuple[Charge, ...]
    ending: str


def _charges(account: str, days: list[str]) -> st.SearchStrategy[Charge]:
    return st.builds(
        lambda job, on, nanos, effective, kind, region: replace(
            make_charge(
                job=job,
                on=on,
                account=account,
                region=region,
                bucket=None if job else kind[0],
                category=ChargeCategory.USAGE if job else kind[1],
                cost_category=kind[2],
            ),
            billed=Money(nanos),
            effective=Money(effective),
        ),
        st.sampled_from(["", "job-1", "job-2"]),
        st.sampled_from(days),
        st.integers(-(10**15), 10**15),
        st.integers(-(10**15), 10**15),
        st.sampled_from(
            [
                (Bucket.UNTAGGED, ChargeCategory.USAGE, CostCategory.COMPUTE),
                (Bucket.OVERHEAD, ChargeCategory.TAX, CostCategory.OTHER),
                (Bucket.CREDITS, ChargeCategory.CREDIT, CostCategory.OTHER),
            ]
        ),
        st.sampled_from(["us-east-1", ""]),
    )


@st.composite
def _steps(draw: st.DrawFn) -> Step:
    account = draw(st.sampled_from(ACCOUNTS))
    days = sorted(draw(st.sets(st.sampled_from(DAYS), min_size=1)))
    charges = draw(st.lists(_charges(account, days), max_size=6))
    ending = draw(st.sampled_from(["swapped", "swapped", "abandoned", "unbalanced"]))
    return Step(account, tuple(days), tuple(charges), ending)


@contextmanager
def _fresh(template: Path) -> Iterator[SqlStore]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        shutil.copy(template, path)
        store = SqlStore.open(f"sqlite:///{path}", StoreSettings(audit_key=AUDIT_KEY))
        yield store
        store.close()


def _take(store: SqlStore, step: Step) -> None:
    days = [day(on) for on in step.days]
    controls = controls_of(step.charges, days, account=step.account)
    if step.ending == "swapped":
        import_charges(store, step.charges, controls=controls, account=step.account)
    elif step.ending == "abandoned":
        import_id = begin(store, controls, account=step.account)
        with store.write() as unit:
            unit.ledger.stage(import_id, step.charges)
    else:
        wrong = [off_by(controls[0], 5_000_000), *controls[1:]]
        try:
            import_charges(store, step.charges, controls=wrong, account=step.account)
        except ImbalanceError:
            return
        message = "an import that is a cent off was accepted"
        raise AssertionError(message)


def _model(steps: list[Step]) -> dict[tuple[str, str], Money]:
    """Sum what must be there: the last accepted import of each account and day."""
    held: dict[tuple[str, str], Money] = {}
    for step in steps:
        if step.ending != "swapped":
            continue
        for on in step.days:
            mine = [one.billed for one in step.charges if one.day == day(on)]
            held[step.account, on] = sum(mine, Money.zero())
    return held


_CHARGES = """
SELECT account, day, job, bucket, billed, effective FROM charge ORDER BY 1, 2, 3, 4, 5, 6
"""
_ROLLUPS = """
SELECT key, day, account, cost_category, is_credit, billed, effective FROM cost_rollup
ORDER BY 1, 2, 3, 4, 5
"""


def _dump(store: SqlStore) -> list[list[object]]:
    with store.read() as unit:
        return [
            [tuple(row) for row in unit.session.execute(text(query))]
            for query in (_CHARGES, _ROLLUPS)
        ]


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(_steps(), min_size=1, max_size=5))
def test_whatever_is_imported_rollups_charges_and_controls_agree(
    sqlite_template: Path, steps: list[Step]
) -> None:
    with _fresh(sqlite_template) as store:
        for step in steps:
            _take(store, step)

        with store.read() as unit:
            assert ledger_problems(unit.session) == []
            sums = {
                by: sum(
                    (cell.billed for cell in unit.ledger.cells(by, *WINDOW)),
                    Money.zero(),
                )
                for by in DIMENSIONS
            }
            by_day: dict[tuple[str, str], Money] = {}
            for cell in unit.ledger.cells("account", *WINDOW):
                key = (cell.account, cell.day.isoformat())
                by_day[key] = by_day.get(key, Money.zero()) + cell.billed
        model = _model(steps)
        assert {key: by_day.get(key, Money.zero()) for key in model} == model
        assert set(by_day) <= set(model)
        assert set(sums.values()) == {sum(model.values(), Money.zero())}


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(_steps(), min_size=1, max_size=3))
def test_the_last_import_of_each_day_again_changes_nothing(
    sqlite_template: Path, steps: list[Step]
) -> None:
    done = [replace(step, ending="swapped") for step in steps]
    with _fresh(sqlite_template) as store:
        for step in done:
            _take(store, step)
        before = _dump(store)

        _take(store, done[-1])

        assert _dump(store) == before
