"""Efficiency of runs: cost per step, busy GPU hours, and two runs compared."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from billing.core.progress import Counter
from bot.use_cases.compare import SameJobError
from bot.views.efficiency import compare_document, compare_text, scaling_text, small
from tests.builders import usd
from tests.builders_use_cases import Company, costs, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

from tests.builders_runs import busy, compared, make_run, reports, used


@pytest.fixture
def company(any_store: SqlStore) -> Company:
    return make_run(any_store)


def _second(
    company: Company, *, since: str = "2026-11-29T00:00Z", gpus: int = 1
) -> None:
    """Let another job run on so many more instances, unbilled."""
    names = [f"j-{number}" for number in range(gpus)]
    instances = [runs(name, since=since, job="job-9") for name in names]
    first = [runs(name, since="2026-11-28T00:00Z") for name in ("i-1", "i-2")]
    company.is_watched(*first, *instances, at_=since)
    company.is_watched(*first, *instances)


def test_cost_per_step_and_per_busy_gpu_hour(company: Company) -> None:
    busy(company, 50)
    reports(company, ("2026-11-28T00:00Z", 0), ("2026-11-30T09:00Z", 2340))
    _second(company)

    found = compared(company, "job-123", "job-9").first.efficiency

    assert found.facts.gpu_hours == 2 * 8 * 57
    assert found.facts.total == usd("1170")
    assert found.work[Counter.STEPS].per_unit == usd("0.5")
    # $1,140 of compute over 912 GPU hours, half of them at work.
    assert found.per_gpu_hour == usd("1.25")
    assert (found.utilization_pct, found.effective_gpu_hour) == (
        Fraction(50),
        usd("2.5"),
    )


def test_unknown_utilisation_leaves_the_busy_hour_unknown(company: Company) -> None:
    busy(company, 50, names=())
    used(company, ("i-1", "2026-11-29T03:00Z", 50))
    _second(company)

    found = compared(company, "job-123", "job-9").first.efficiency

    assert found.utilization_pct is None
    assert found.effective_gpu_hour is None
    assert "measured for 1 % of its GPU hours" in found.missing


def test_no_utilisation_at_all_has_no_busy_hour(company: Company) -> None:
    busy(company, 0)
    _second(company)

    found = compared(company, "job-123", "job-9").first.efficiency

    assert (found.utilization_pct, found.effective_gpu_hour) == (Fraction(0), None)


def test_scaling_is_work_per_gpu_hour_of_the_second_by_the_first(
    company: Company,
) -> None:
    _second(company, gpus=4)
    reports(company, ("2026-11-29T00:00Z", 0), ("2026-11-29T10:00Z", 1000),
             counter=Counter.TOKENS)  # fmt: skip
    reports(company, ("2026-11-29T00:00Z", 0), ("2026-11-29T10:00Z", 1500),
             counter=Counter.TOKENS, job="job-9")  # fmt: skip

    answer = compared(company, "job-123", "job-9")

    assert answer.scaling is not None
    assert answer.scaling.efficiency_pct == 75
    assert (answer.scaling.first.gpus, answer.scaling.second.gpus) == (
        Fraction(16),
        Fraction(32),
    )
    assert "scaling efficiency 75 %" in scaling_text(answer)


def test_without_a_common_counter_there_is_no_scaling(company: Company) -> None:
    _second(company)
    reports(company, ("2026-11-29T00:00Z", 0), ("2026-11-29T10:00Z", 10))

    answer = compared(company, "job-123", "job-9")

    assert answer.scaling is None
    assert "not known" in scaling_text(answer)
    assert compare_document(answer)["scaling"] is None


def test_a_counter_reported_from_the_middle_gives_a_bound(company: Company) -> None:
    _second(company)
    reports(company, ("2026-11-29T00:00Z", 1000), ("2026-11-30T09:00Z", 2170))

    work = compared(company, "job-123", "job-9").first.efficiency.work[Counter.STEPS]

    assert (work.is_at_most, work.per_unit) == (True, usd("1"))


def test_a_run_that_made_no_progress_has_no_cost_per_step(company: Company) -> None:
    _second(company)
    reports(company, ("2026-11-29T00:00Z", 0))

    answer = compared(company, "job-123", "job-9")

    work = answer.first.efficiency.work[Counter.STEPS]
    assert (work.per_unit, work.missing) == (None, "it made no progress yet")
    assert "unknown" in compare_text(answer)


def test_a_run_is_not_compared_with_itself(company: Company) -> None:
    with pytest.raises(SameJobError):
        compared(company, "job-123", " JOB-123")


def test_gpu_hours_before_the_inventory_come_from_the_bill(store: SqlStore) -> None:
    company = Company(store)
    company.bills(
        costs("2026-11-20", "480", quantity="48"),
        costs("2026-11-20", "10", job="other"),
        through="2026-11-21",
    )
    company.is_watched(at_="2026-11-29T00:00Z")

    found = compared(company, "job-123", "other").first.efficiency

    assert found.facts.gpu_hours == 48 * 8


@pytest.mark.parametrize(
    ("amount", "told"),
    [("0.000123456", "$0.00012"), ("0.05", "$0.050"), ("0.1", "$0.10"), ("0", "$0.00"),
     ("-0.0042", "-$0.0042"), ("1234.5", "$1,234.50")],
)  # fmt: skip
def test_small_amounts_keep_the_digits_that_matter(amount: str, told: str) -> None:
    assert small(usd(amount)) == told


def test_a_figure_is_exact_before_it_is_shown(company: Company) -> None:
    _second(company)
    reports(company, ("2026-11-28T00:00Z", 0), ("2026-11-30T09:00Z", 3))

    work = compared(company, "job-123", "job-9").first.efficiency.work[Counter.STEPS]

    assert work.per_unit == usd("390")
    assert work.per_gpu_hour == Fraction(3, 912)
