"""What is gathered of running jobs' work and traffic, out of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from billing.core.attribution import TagKeys
from billing.core.progress import Counter
from bot.use_cases.facts import FactSources, gather_facts
from policies.core.facts import Facts
from tests.builders_policies import policy
from tests.builders_runs import make_run, reports
from tests.builders_use_cases import UNPRICED, Company, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore


@pytest.fixture
def company(store: SqlStore) -> Company:
    return make_run(store)


def gathered(company: Company, text: str) -> Facts:
    return gather_facts(
        company.store,
        [policy(text)],
        FactSources(metrics=None, commitments=None, objects=None),
        keys=TagKeys(),
        own=(),
        now=company.now,
    ).facts


WORK = "name: a\nkind: efficiency\nper_step: $1"
PLACE = "name: a\nkind: placement"


def test_a_step_costs_what_the_job_cost_by_what_it_got_done(company: Company) -> None:
    reports(company, ("2026-11-28T00:00Z", 0), ("2026-11-30T09:00Z", 2340))

    (work,) = gathered(company, WORK).work

    assert (work.counter, work.done, work.missing) == ("steps", 2340, "")
    assert work.per_unit is not None
    assert str(work.per_unit) == "$0.50"


def test_a_counter_reported_from_the_middle_on_has_no_price(company: Company) -> None:
    reports(company, ("2026-11-29T00:00Z", 1000), ("2026-11-30T09:00Z", 2340))

    (work,) = gathered(company, WORK).work

    assert work.per_unit is None
    assert work.missing == "it was reported from the middle on"


def test_a_part_without_a_price_leaves_the_price_of_work_unknown(
    company: Company,
) -> None:
    company.is_watched(
        *(runs(name, since="2026-11-28T00:00Z") for name in ("i-1", "i-2")),
        runs("i-3", instance_type=UNPRICED, since="2026-11-30T01:00Z"),
    )
    reports(company, ("2026-11-28T00:00Z", 0), ("2026-11-30T09:00Z", 10),
            counter=Counter.TOKENS)  # fmt: skip

    (work,) = gathered(company, WORK).work

    assert work.per_unit is None
    assert "unknown" in work.missing


def test_a_job_that_reports_nothing_has_no_work(company: Company) -> None:
    assert gathered(company, WORK).work == ()


def test_traffic_is_what_the_bill_of_whole_days_says(company: Company) -> None:
    (found,) = gathered(company, PLACE).transfers

    assert found.total.text() == "990.00"
    assert {sort: cost.text() for sort, cost in found.paid.items()} == {
        "through NAT": "24.00"
    }


def test_nothing_is_read_for_policies_that_do_not_ask(company: Company) -> None:
    facts = gathered(company, "name: a\nkind: budget")

    assert (facts.work, facts.transfers) == ((), ())
