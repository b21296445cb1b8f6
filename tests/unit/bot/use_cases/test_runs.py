"""Runs: leaks that sum to the cost asked for, efficiency, and two runs compared."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.charges import Bucket, CostCategory
from billing.core.leaks import Leak
from billing.core.placements import Placement, PlacementSource
from billing.core.progress import Counter, ProgressReport
from billing.ports.progress import HourOfUse
from bot.use_cases import leaks_of_many
from bot.use_cases.compare import SameJobError, ask_compare
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.leaks import ask_leaks
from bot.use_cases.leaks_of_many import ask_leaks_of_many
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import price_book
from bot.views.efficiency import compare_document, compare_text, scaling_text, small
from bot.views.leaks import avoidable_line, leaks_document, leaks_text
from tests.builders import at, day, usd
from tests.builders_use_cases import Company, costs, rate, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from bot.views.efficiency import CompareAnswer
    from bot.views.leaks import LeakAnswer

SINCE = "2026-11-27"


@pytest.fixture
def company(any_store: SqlStore) -> Company:
    """A run of two instances: two billed days, and a morning that is not billed yet."""
    made = Company(any_store)
    made.is_priced(rate("10"))
    instances = [runs(name, since="2026-11-28T00:00Z") for name in ("i-1", "i-2")]
    made.is_watched(at_="2026-11-27T00:00Z")
    made.is_watched(*instances, at_="2026-11-28T00:00Z")
    made.is_watched(*instances)
    made.bills(
        costs("2026-11-28", "480"),
        costs("2026-11-29", "480"),
        costs("2026-11-29", "24", usage_type="NatGateway-Bytes",
              cost_category=CostCategory.NETWORK),
        costs("2026-11-29", "6", usage_type="EBS:VolumeUsage.gp3",
              cost_category=CostCategory.STORAGE),
        through="2026-11-30",
    )  # fmt: skip
    return made


def _used(company: Company, *hours: tuple[str, str, float]) -> None:
    with company.store.write() as unit:
        unit.ledger.record_use(
            [
                HourOfUse(resource_id=name, hour=at(when), gpu_pct=pct, covered_s=3600)
                for name, when, pct in hours
            ]
        )


def _busy(
    company: Company, pct: float = 90, names: tuple[str, ...] = ("i-1", "i-2")
) -> None:
    begin = at("2026-11-28T00:00Z")
    with company.store.write() as unit:
        unit.ledger.record_use(
            [
                HourOfUse(
                    resource_id=name, hour=begin + number * timedelta(hours=1),
                    gpu_pct=pct, covered_s=3600,
                )
                for name in names
                for number in range(57)
            ]
        )  # fmt: skip


def _reports(
    company: Company,
    *values: tuple[str, int],
    job: str = "job-123",
    counter: Counter = Counter.STEPS,
) -> None:
    with company.store.write() as unit:
        unit.ledger.record_progress(
            job,
            [
                ProgressReport(counter=counter, at=at(when), value=value)
                for when, value in values
            ],
            by="",
            now=company.now,
        )


def _leaks(company: Company, job: str = "job-123", **question: Any) -> LeakAnswer:
    asked = CostQuestion(job=job, since=day(question.pop("since", SINCE)), **question)
    with company.store.read() as unit:
        return ask_leaks(
            unit.ledger, asked, prices=price_book(unit.ledger, ()), keys=company.keys,
            stale=(), now=company.now,
        )  # fmt: skip


def _compare(company: Company, *jobs: str) -> CompareAnswer:
    first, second = jobs
    with company.store.read() as unit:
        return ask_compare(
            unit.ledger, (first, second), CostQuestion(),
            prices=price_book(unit.ledger, ()), keys=company.keys, now=company.now,
        )  # fmt: skip


def _groups(answer: LeakAnswer) -> dict[str, str]:
    return {group.key: group.total.text() for group in answer.cost.groups}


def _amount(answer: LeakAnswer, leak: Leak) -> Any:
    (found,) = [one.amount for one in answer.leaks if one.leak is leak]
    return found


def test_leaks_and_the_rest_are_the_cost_of_the_job(company: Company) -> None:
    _busy(company)
    _used(company, *(("i-2", f"2026-11-29T{hour:02}:00Z", 0) for hour in range(12)))

    answer = _leaks(company)

    # Two days billed, 9 h of 2 instances at $10 provisional.
    assert answer.cost.total == usd("1170")
    assert _groups(answer) == {
        "compute": "1020.00",
        "idle and boot": "120.00",
        "NAT gateways": "24.00",
        "storage": "6.00",
    }
    assert answer.report.avoidable == usd("144")


def test_the_groups_keep_billed_and_provisional_apart(company: Company) -> None:
    _busy(company)
    _used(company, ("i-1", "2026-11-30T03:00Z", 0), ("i-1", "2026-11-29T03:00Z", 0))

    answer = _leaks(company)

    (idle,) = [one for one in answer.cost.groups if one.key == "idle and boot"]
    assert (idle.billed, idle.provisional) == (usd("10"), usd("10"))
    assert (
        sum(one.billed.nanos for one in answer.cost.groups) == answer.cost.billed.nanos
    )
    provisional = sum((one.provisional or usd("0")).nanos for one in answer.cost.groups)
    assert provisional == answer.cost.provisional.nanos


def test_unknown_use_is_said_and_nothing_is_called_idle(company: Company) -> None:
    answer = _leaks(company)

    assert _amount(answer, Leak.IDLE) is None
    assert answer.is_at_least
    assert "at least $24.00" in avoidable_line(answer)


def test_lost_work_is_dollars_of_the_time_it_took(company: Company) -> None:
    _busy(company)
    _reports(
        company,
        ("2026-11-28T00:00Z", 0), ("2026-11-28T12:00Z", 1200), ("2026-11-28T12:00:30Z", 600),
        ("2026-11-30T09:00Z", 5000),
    )  # fmt: skip

    answer = _leaks(company)

    # 600 of 1,200 steps in 12 h are 6 h of two instances at $10.
    assert _amount(answer, Leak.RESTARTS) == usd("120")


def test_a_job_that_held_an_instance_for_a_while_pays_for_that_while(
    store: SqlStore,
) -> None:
    company = Company(store)
    company.is_priced(rate("10"))
    company.is_watched(runs("i-1", since="2026-11-30T00:00Z"), at_="2026-11-30T00:00Z")
    company.is_watched(
        runs("i-1", since="2026-11-30T00:00Z", job="other"), at_="2026-11-30T06:00Z"
    )
    company.is_watched(runs("i-1", since="2026-11-30T00:00Z", job="other"))
    _used(company, *(("i-1", f"2026-11-30T{hour:02}:00Z", 0) for hour in range(9)))

    mine, other = _leaks(company), _leaks(company, "other")

    assert (mine.cost.total, _amount(mine, Leak.IDLE)) == (usd("60"), usd("60"))
    assert (other.cost.total, _amount(other, Leak.IDLE)) == (usd("30"), usd("30"))


def test_a_job_on_half_of_an_instance_holds_and_loses_half(company: Company) -> None:
    _used(company, *(("i-2", f"2026-11-30T{hour:02}:00Z", 0) for hour in range(9)))
    with company.store.write() as unit:
        unit.ledger.record_placements(
            [
                Placement(
                    job="guest", resource_id="i-2", started_at=at("2026-11-30T00:00Z"),
                    ended_at=None, gpus=Decimal(4), source=PlacementSource.HTTP,
                    external_id="7",
                )
            ],
            company.now,
        )  # fmt: skip

    guest, host = _leaks(company, "guest"), _leaks(company)

    # Nine hours of half an instance at $10 that did nothing.
    assert guest.cost.total == usd("45")
    assert _amount(guest, Leak.IDLE) == usd("45")
    assert host.cost.total == usd("1125")
    assert _amount(host, Leak.IDLE) == usd("45")
    found = _compare(company, "guest", "job-123").first.efficiency
    assert found.facts.gpu_hours == 9 * 4


def test_commitments_nobody_used_stand_beside_the_job(company: Company) -> None:
    company.bills(
        costs("2026-11-28", "480"),
        costs("2026-11-28", "55", job="", bucket=Bucket.COMMITMENT_UNUSED),
        mark="again",
    )

    answer = _leaks(company)

    assert answer.commitment_unused == usd("55")
    assert "they are no job's" in leaks_text(answer)


def test_an_unknown_job_is_told_the_near_ones(company: Company) -> None:
    with pytest.raises(UnknownJobError) as caught:
        _leaks(company, "job-124")

    assert caught.value.suggestions == ("job-123",)


def test_the_document_says_what_is_missing(company: Company) -> None:
    document = leaks_document(_leaks(company))

    idle = next(one for one in document["leaks"] if one["leak"] == "idle and boot")
    assert idle["amount"] is None
    assert "was not measured" in idle["missing"]
    nat = next(one for one in document["leaks"] if one["leak"] == "NAT gateways")
    assert nat == {
        "leak": "NAT gateways",
        "amount": "24.00",
        "missing": None,
        "evidence": ["NatGateway-Bytes"],
        "fix": "add the free gateway endpoint for S3, and interface endpoints",
    }
    assert document["avoidable"] == "24.00"


def _many(company: Company, **question: Any) -> LeakAnswer:
    asked = CostQuestion(since=day(SINCE), **question)
    with company.store.read() as unit:
        return ask_leaks_of_many(
            unit.ledger, asked, prices=price_book(unit.ledger, ()), keys=company.keys,
            stale=(), now=company.now,
        )  # fmt: skip


def test_leaks_of_everything_sum_to_all_that_was_spent(company: Company) -> None:
    _busy(company)
    _used(company, ("i-1", "2026-11-29T03:00Z", 0))
    company.bills(
        costs("2026-11-28", "480"),
        costs("2026-11-28", "100", job="job-9"),
        costs("2026-11-28", "55", job="", bucket=Bucket.COMMITMENT_UNUSED),
        costs("2026-11-28", "40", job="", bucket=Bucket.IDLE),
        costs("2026-11-28", "7", job=""),
        mark="again",
    )

    answer = _many(company)

    told = _groups(answer)
    assert told["unused commitment"] == "55.00"
    assert told["idle and boot"] == "50.00"  # $10 of the job, $40 of nobody
    assert told["untagged"] == "7.00"
    assert sum(g.total.nanos for g in answer.cost.groups) == answer.cost.total.nanos
    assert answer.report.avoidable == usd("129")  # and $24 of NAT
    assert "2 jobs, see each" in leaks_text(answer)


def test_jobs_beyond_the_limit_are_one_line_and_said(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaks_of_many, "JOBS_MAX", 0)

    answer = _many(company)

    assert _groups(answer) == {"other jobs": "1170.00"}
    assert answer.report.avoidable == usd("0")
    assert "1 job not looked at" in leaks_text(answer)


# ------------------------------------------------------------------------- efficiency


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
    _busy(company, 50)
    _reports(company, ("2026-11-28T00:00Z", 0), ("2026-11-30T09:00Z", 2340))
    _second(company)

    found = _compare(company, "job-123", "job-9").first.efficiency

    assert found.facts.gpu_hours == 2 * 8 * 57
    assert found.facts.total == usd("1170")
    assert found.work[Counter.STEPS].per_unit == usd("0.5")
    # $1,140 of compute over 912 GPU hours, half of them at work.
    assert found.per_gpu_hour == usd("1.25")
    assert (found.utilization_pct, found.effective_gpu_hour) == (50, usd("2.5"))


def test_unknown_utilisation_leaves_the_busy_hour_unknown(company: Company) -> None:
    _busy(company, 50, names=())
    _used(company, ("i-1", "2026-11-29T03:00Z", 50))
    _second(company)

    found = _compare(company, "job-123", "job-9").first.efficiency

    assert found.utilization_pct is None
    assert found.effective_gpu_hour is None
    assert "measured for 1 % of its GPU hours" in found.missing


def test_no_utilisation_at_all_has_no_busy_hour(company: Company) -> None:
    _busy(company, 0)
    _second(company)

    found = _compare(company, "job-123", "job-9").first.efficiency

    assert (found.utilization_pct, found.effective_gpu_hour) == (0, None)


def test_scaling_is_work_per_gpu_hour_of_the_second_by_the_first(
    company: Company,
) -> None:
    _second(company, gpus=4)
    _reports(company, ("2026-11-29T00:00Z", 0), ("2026-11-29T10:00Z", 1000),
             counter=Counter.TOKENS)  # fmt: skip
    _reports(company, ("2026-11-29T00:00Z", 0), ("2026-11-29T10:00Z", 1500),
             counter=Counter.TOKENS, job="job-9")  # fmt: skip

    answer = _compare(company, "job-123", "job-9")

    assert answer.scaling is not None
    assert answer.scaling.efficiency_pct == 75
    assert (answer.scaling.first.gpus, answer.scaling.second.gpus) == (16, 32)
    assert "scaling efficiency 75 %" in scaling_text(answer)


def test_without_a_common_counter_there_is_no_scaling(company: Company) -> None:
    _second(company)
    _reports(company, ("2026-11-29T00:00Z", 0), ("2026-11-29T10:00Z", 10))

    answer = _compare(company, "job-123", "job-9")

    assert answer.scaling is None
    assert "not known" in scaling_text(answer)
    assert compare_document(answer)["scaling"] is None


def test_a_counter_reported_from_the_middle_gives_a_bound(company: Company) -> None:
    _second(company)
    _reports(company, ("2026-11-29T00:00Z", 1000), ("2026-11-30T09:00Z", 2170))

    work = _compare(company, "job-123", "job-9").first.efficiency.work[Counter.STEPS]

    assert (work.is_at_most, work.per_unit) == (True, usd("1"))


def test_a_run_that_made_no_progress_has_no_cost_per_step(company: Company) -> None:
    _second(company)
    _reports(company, ("2026-11-29T00:00Z", 0))

    answer = _compare(company, "job-123", "job-9")

    work = answer.first.efficiency.work[Counter.STEPS]
    assert (work.per_unit, work.missing) == (None, "it made no progress yet")
    assert "unknown" in compare_text(answer)


def test_a_run_is_not_compared_with_itself(company: Company) -> None:
    with pytest.raises(SameJobError):
        _compare(company, "job-123", " JOB-123")


def test_gpu_hours_before_the_inventory_come_from_the_bill(store: SqlStore) -> None:
    company = Company(store)
    company.bills(
        costs("2026-11-20", "480", quantity="48"),
        costs("2026-11-20", "10", job="other"),
        through="2026-11-21",
    )
    company.is_watched(at_="2026-11-29T00:00Z")

    found = _compare(company, "job-123", "other").first.efficiency

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
    _reports(company, ("2026-11-28T00:00Z", 0), ("2026-11-30T09:00Z", 3))

    work = _compare(company, "job-123", "job-9").first.efficiency.work[Counter.STEPS]

    assert work.per_unit == usd("390")
    assert work.per_gpu_hour == Fraction(3, 912)
