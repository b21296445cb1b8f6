"""What nothing can hold is summed by the database, and says the same as line by line."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from billing.core.claims import AttributionRules
from billing.core.periods import DAY
from billing.core.transfers import Rule
from billing.ledger.check import ledger_problems
from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders import (
    ACCOUNT,
    NOW,
    day,
    make_charge,
    make_instance,
    make_observation,
)
from tests.builders_attribution import make_assignment, make_rule
from tests.builders_store import AUDIT_KEY, import_charges

if TYPE_CHECKING:
    from billing.core.charges import Charge

ON = day("2026-11-28")


def charge(job: str = "", on: str = "", **more: str) -> Charge:
    made = make_charge(job=job, on=ON.isoformat(), **more)  # type: ignore[arg-type]
    return replace(made, resource_id=on)


def bill() -> list[Charge]:
    """Make a day with two jobs, a node nobody knows, and transfer of many."""
    transfer = [
        charge(
            on=f"i-{number:03}", billed="0.000000007", list_cost="1",
            usage_type="DataTransfer-Regional-Bytes", quantity="1.5",
        )
        for number in range(20)
    ]  # fmt: skip
    return [
        charge("job-1", billed="100", quantity="24"),
        charge("job-2", billed="50", quantity="12"),
        charge(on="i-unknown", billed="240", quantity="12"),
        charge(on="i-1", billed="90", quantity="24"),
        *transfer,
    ]


def by_key(store: SqlStore) -> dict[str, int]:
    with store.read() as unit:
        assert ledger_problems(unit.session) == []
        cells = unit.ledger.cells("job", ON, ON + DAY)
    return {cell.key: cell.effective.nanos for cell in cells}


def observe(store: SqlStore) -> None:
    with store.write() as unit:
        unit.ledger.apply_observation(
            make_observation(
                make_instance(resource_id="i-1", launched="2026-11-27T00:00Z", tags={}),
                observed="2026-11-28T00:05Z",
            )
        )


def test_shared_cost_of_unknown_resources_goes_to_jobs_in_one_sum(
    store: SqlStore,
) -> None:
    import_charges(store, bill())

    with store.read() as unit:
        found = unit.ledger.transfers(ON, ON + DAY)

    assert [(one.to_key, one.billed.nanos, one.rule) for one in found] == [
        ("bucket:shared", 70, Rule.SHARED),
        ("job-1", 47, Rule.SHARED),
        ("job-2", 23, Rule.SHARED),
    ]
    listed = [one.list_cost.nanos if one.list_cost else None for one in found]
    assert sum(one or 0 for one in listed) == 20 * 10**9
    assert sum(by_key(store).values()) == 480 * 10**9 + 140


def test_sums_say_what_lines_say(store_url: str) -> None:
    # A rule that fits nothing makes attribution look at every line of its own.
    odd = AttributionRules(mapping=(make_rule("team:nlp", region="nowhere-1"),))
    settings = StoreSettings(audit_key=AUDIT_KEY)
    with closing(SqlStore.open(store_url, settings)) as store:
        observe(store)
        import_charges(store, bill())
        summed = by_key(store)
    with closing(SqlStore.open(store_url, replace(settings, attribution=odd))) as store:
        with store.write() as unit:
            unit.ledger.reattribute(ACCOUNT, [ON], NOW)
        assert by_key(store) == summed


def test_what_becomes_known_later_is_looked_at_by_itself(store: SqlStore) -> None:
    import_charges(store, bill())
    before = by_key(store)
    with store.write() as unit:
        unit.ledger.assign(
            make_assignment("job-x", resource_id="i-unknown", number=None), NOW
        )
        unit.ledger.reattribute(ACCOUNT, [ON], NOW)

    assert before["bucket:untagged"] == 330 * 10**9
    # Its hours are now a job's, which shares in what all share.
    assert by_key(store)["job-x"] > 240 * 10**9
    assert by_key(store)["bucket:untagged"] == 90 * 10**9
