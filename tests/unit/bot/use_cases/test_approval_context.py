"""What stands on a card to help decide: budget left, and how similar runs went."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from billing.core.estimate_history import PastEstimate
from billing.core.money import Money
from bot.use_cases.approval_context import decision_context, similar_runs
from bot.use_cases.estimate import estimate_run
from bot.use_cases.pricing import price_book
from tests.builders import NOW, make_price, usd
from tests.builders_approvals import PLAN
from tests.builders_use_cases import Company, costs, runs

if TYPE_CHECKING:
    from billing.core.estimate import Estimate
    from bot.unit_of_work import SqlStore


def estimated(store: SqlStore) -> Estimate:
    with store.write() as unit:
        unit.ledger.record_prices([make_price("10")], NOW)
    with store.read() as unit:
        return estimate_run(PLAN, price_book(unit.ledger, ()))


def past(job: str, actual: str | None, **values: Any) -> PastEstimate:
    made = PastEstimate(
        estimate_id=1, job=job, instance_type="p5.48xlarge", count=8, hours=PLAN.hours,
        purchase=PLAN.purchase, region=PLAN.region, base=usd("5760"), low=usd("5760"),
        expected=usd("7000"), high=usd("8640"), made_at=NOW - timedelta(days=9),
        actual=usd(actual) if actual else None,
    )  # fmt: skip
    return replace(made, **values)


def test_similar_runs_say_how_their_estimates_held(store: SqlStore) -> None:
    runs = [past("a", "8000"), past("b", "9000"), past("c", None)]

    lines = similar_runs(runs, estimated(store))

    assert lines[0] == "1 of 2 similar runs ended within the high end of the estimate"
    assert "cost $9,000.00" in " ".join(lines)


def test_runs_that_are_not_alike_say_nothing(store: SqlStore) -> None:
    runs = [past("a", "8000", instance_type="g5.xlarge"), past("b", "9", count=64)]

    assert similar_runs(runs, estimated(store)) == []


def context(company: Company, budget: Money, team: str = "research") -> tuple[str, ...]:
    found = estimated(company.store)
    with company.store.read() as unit:
        return decision_context(
            unit.ledger, found, team=team, budgets={"research": budget},
            prices=price_book(unit.ledger, ()), keys=company.keys, now=company.now,
        )  # fmt: skip


def test_the_budget_left_is_said_with_whether_the_run_fits(company: Company) -> None:
    company.is_watched(
        runs("i-9", since="2026-11-28T00:00Z", tags={"team": "research"})
    )
    company.bills(costs("2026-11-28", "1000"), through="2026-11-30")

    fits = context(company, usd("10000"))
    does_not = context(company, usd("9000"))
    over = context(company, usd("900"))

    assert fits == (
        "$8,910.00 left of research's $10,000.00 this month: the high end fits",
    )
    assert "does not fit" in does_not[0]
    assert over[0].startswith("research is $190.00 over its $900.00")


def test_a_team_without_a_budget_has_none_left_to_show(company: Company) -> None:
    assert context(company, usd("1"), team="vision") == ()
