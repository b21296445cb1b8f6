"""What every ledger must do with costs by team, whenever a job's team moves."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from billing.ledger.check import ledger_problems
from tests.builders import (
    NOW,
    at,
    make_charge,
    make_instance,
    make_observation,
    usd,
)
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from billing.core.money import Money
    from bot.unit_of_work import SqlStore

NOVEMBER = (at("2026-11-01").date(), at("2026-12-01").date())
LATER = NOW + timedelta(minutes=5)


def _tag(store: SqlStore, team: str, *, minutes: int = 0) -> None:
    instance = make_instance(tags={"job-id": "job-123", "team": team})
    seen = make_observation(instance, observed=NOW + timedelta(minutes=minutes))
    with store.write() as unit:
        unit.ledger.apply_observation(seen)


def _cells(store: SqlStore, by: str, **filters: str) -> dict[str, Money]:
    with store.read() as unit:
        return {
            cell.key: cell.billed
            for cell in unit.ledger.cells(by, *NOVEMBER, **filters)  # type: ignore[arg-type] # filters only
            if not cell.is_credit
        }


def test_a_job_that_changes_its_team_takes_its_billed_days_along(
    store: SqlStore,
) -> None:
    import_charges(store, [make_charge(billed="10"), make_charge(job="", billed="1")])
    _tag(store, "vision")
    before = _cells(store, "team")

    _tag(store, "speech", minutes=5)

    assert before == {"vision": usd("10"), "bucket:untagged": usd("1")}
    assert _cells(store, "team") == {"speech": usd("10"), "bucket:untagged": usd("1")}


def test_a_day_that_is_imported_again_is_summed_by_team_again(store: SqlStore) -> None:
    _tag(store, "vision")
    import_charges(store, [make_charge(billed="10"), make_charge(job="x", billed="2")])

    import_charges(store, [make_charge(billed="7")])

    assert _cells(store, "team") == {"vision": usd("7")}


def test_a_team_is_told_by_category_account_and_in_all(store: SqlStore) -> None:
    _tag(store, "vision")
    import_charges(store, [make_charge(billed="10"), make_charge(job="x", billed="2")])

    assert set(_cells(store, "category", team="vision").values()) == {usd("10")}
    assert set(_cells(store, "account", team="vision").values()) == {usd("10")}
    assert _cells(store, "", team="vision") == {"": usd("10")}
    assert _cells(store, "") == {"": usd("12")}
    assert _cells(store, "", team="speech") == {}


def test_a_part_without_a_list_cost_leaves_its_teams_list_cost_unknown(
    store: SqlStore,
) -> None:
    _tag(store, "vision")
    import_charges(
        store,
        [
            make_charge(billed="10", list_cost="12"),
            make_charge(job="x", billed="2", list_cost=None),
        ],
    )

    with store.read() as unit:
        listed = {c.key: c.list_cost for c in unit.ledger.cells("team", *NOVEMBER)}

    assert listed == {"vision": usd("12"), "": None}


def test_a_rollup_by_team_that_differs_is_found(store: SqlStore) -> None:
    import_charges(store, [make_charge(billed="10")])
    with store.write() as unit:
        unit.session.connection().exec_driver_sql("UPDATE team_rollup SET billed = 1")

    with store.read() as unit:
        (problem,) = ledger_problems(unit.session)

    assert "rollup by team differs" in problem
