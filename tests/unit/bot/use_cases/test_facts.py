"""What is gathered for policies: months of teams, and what was approved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.core.attribution import TagKeys
from billing.core.money import Money
from billing.core.progress import Counter, ProgressReport
from bot.use_cases.facts import FactSources, gather_facts
from policies.core.facts import Facts
from tests.builders import at
from tests.builders_policies import policy
from tests.builders_use_cases import UNPRICED, Company, costs, rate, runs

if TYPE_CHECKING:
    from collections.abc import Mapping

BUDGET = "name: budgets\nkind: budget"


def gathered(
    company: Company, text: str = BUDGET, budgets: Mapping[str, Money] | None = None
) -> Facts:
    sources = FactSources(
        metrics=None, commitments=None, objects=None, budgets=budgets or {}
    )
    return gather_facts(
        company.store,
        [policy(text)],
        sources,
        keys=TagKeys(),
        own=(),
        now=company.now,
    ).facts


def months(facts: Facts) -> dict[str, tuple[str | None, str | None]]:
    return {
        one.team: (
            None if one.spent is None else one.spent.text(),
            None if one.budget is None else one.budget.text(),
        )
        for one in facts.team_months
    }


def test_a_teams_month_is_billed_and_provisional_together(company: Company) -> None:
    company.bills(costs("2026-11-29", "100"), through="2026-11-30T00:00Z")
    company.is_watched(runs(tags={"team": "nlp"}))
    company.is_priced(rate("10"))

    found = months(gathered(company, budgets={"NLP": Money.of("200000")}))

    hours = company.now.hour
    assert found == {"nlp": (f"{100 + 10 * hours}.00", "200000.00")}


def test_a_month_with_time_nobody_has_a_price_for_is_unknown(company: Company) -> None:
    company.bills(costs("2026-11-29", "100"), through="2026-11-30T00:00Z")
    company.is_watched(runs(instance_type=UNPRICED, tags={"team": "nlp"}))

    assert months(gathered(company)) == {"nlp": (None, None)}


def test_a_team_that_spent_nothing_has_its_budget(company: Company) -> None:
    company.bills(costs("2026-11-29", "100"), through="2026-11-30T00:00Z")

    found = months(gathered(company, budgets={"vision": Money.of("5")}))

    assert found["vision"] == ("0.00", "5.00")


def test_an_empty_ledger_knows_no_spend(company: Company) -> None:
    found = months(gathered(company, budgets={"vision": Money.of("5")}))

    assert found == {"vision": (None, "5.00")}


def test_months_are_not_read_for_policies_that_do_not_ask(company: Company) -> None:
    company.bills(costs("2026-11-29", "100"), through="2026-11-30T00:00Z")

    assert gathered(company, "name: a\nkind: ttl").team_months == ()


def test_machines_that_came_up_together_are_one_start(company: Company) -> None:
    together = [
        runs("i-1", since="2026-11-30T02:00Z"),
        runs("i-2", since="2026-11-30T02:09Z"),
    ]
    company.is_watched(*together, at_="2026-11-30T02:10Z")
    company.is_watched(at_="2026-11-30T02:15Z")
    company.is_watched(runs("i-3", since="2026-11-30T03:00Z"), at_="2026-11-30T03:01Z")

    starts = gathered(company, "name: a\nkind: failed-launch").launches

    assert [(one.instances, one.gpus) for one in starts] == [(2, 16), (1, 8)]
    assert starts[0].ended_at is not None
    assert starts[1].ended_at is None


def test_progress_is_when_a_counter_last_grew(company: Company) -> None:
    company.is_watched(runs())
    reports = [
        ProgressReport(
            counter=Counter.STEPS, at=at(f"2026-11-30T0{hour}:00Z"), value=value
        )
        for hour, value in ((1, 100), (2, 200), (3, 200), (4, 200))
    ]
    with company.store.write() as unit:
        unit.ledger.record_progress("job-123", reports, by="p-ada", now=company.now)

    (job,) = gathered(company, "name: a\nkind: stalled").jobs

    assert job.progressed_at == at("2026-11-30T02:00Z")


def test_a_job_that_reports_nothing_has_no_progress(company: Company) -> None:
    company.is_watched(runs())

    (job,) = gathered(company, "name: a\nkind: stalled").jobs

    assert job.progressed_at is None


def test_reservations_nobody_ever_read_are_not_known(company: Company) -> None:
    facts = gathered(company, "name: a\nkind: capacity")

    assert (facts.reservations, facts.reservations_known) == ((), False)
