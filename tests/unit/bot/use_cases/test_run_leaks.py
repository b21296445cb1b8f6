"""Leaks of runs: they sum to the cost asked for, and nothing is invented."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.charges import Bucket, CostCategory
from billing.core.fleet import InstanceState
from billing.core.leaks import Leak
from billing.core.placements import Placement, PlacementSource
from bot.use_cases import leaks_of_many
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.leaks_of_many import ask_leaks_of_many
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import price_book
from bot.views.leaks import avoidable_line, leaks_document, leaks_text
from tests.builders import at, day, make_volume, usd
from tests.builders_use_cases import Company, costs, rate, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from bot.views.leaks import LeakAnswer

from tests.builders_runs import (
    SINCE,
    busy,
    compared,
    groups_of,
    leak_amount,
    leaks_asked,
    make_run,
    reports,
    used,
)


@pytest.fixture
def company(any_store: SqlStore) -> Company:
    return make_run(any_store)


def test_leaks_and_the_rest_are_the_cost_of_the_job(company: Company) -> None:
    busy(company)
    used(company, *(("i-2", f"2026-11-29T{hour:02}:00Z", 0) for hour in range(12)))

    answer = leaks_asked(company)

    # Two days billed, 9 h of 2 instances at $10 provisional.
    assert answer.cost.total == usd("1170")
    assert groups_of(answer) == {
        "compute": "1020.00",
        "idle and boot": "120.00",
        "NAT gateways": "24.00",
        "storage": "6.00",
    }
    assert answer.report.avoidable == usd("144")


def test_the_groups_keep_billed_and_provisional_apart(company: Company) -> None:
    busy(company)
    used(company, ("i-1", "2026-11-30T03:00Z", 0), ("i-1", "2026-11-29T03:00Z", 0))

    answer = leaks_asked(company)

    (idle,) = [one for one in answer.cost.groups if one.key == "idle and boot"]
    assert (idle.billed, idle.provisional) == (usd("10"), usd("10"))
    assert (
        sum(one.billed.nanos for one in answer.cost.groups) == answer.cost.billed.nanos
    )
    provisional = sum((one.provisional or usd("0")).nanos for one in answer.cost.groups)
    assert provisional == answer.cost.provisional.nanos


def test_unknown_use_is_said_and_nothing_is_called_idle(company: Company) -> None:
    answer = leaks_asked(company)

    assert leak_amount(answer, Leak.IDLE) is None
    assert answer.is_at_least
    assert "at least $24.00" in avoidable_line(answer)


def test_lost_work_is_dollars_of_the_time_it_took(company: Company) -> None:
    busy(company)
    reports(
        company,
        ("2026-11-28T00:00Z", 0), ("2026-11-28T12:00Z", 1200), ("2026-11-28T12:00:30Z", 600),
        ("2026-11-30T09:00Z", 5000),
    )  # fmt: skip

    answer = leaks_asked(company)

    # 600 of 1,200 steps in 12 h are 6 h of two instances at $10.
    assert leak_amount(answer, Leak.RESTARTS) == usd("120")


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
    used(company, *(("i-1", f"2026-11-30T{hour:02}:00Z", 0) for hour in range(9)))

    mine, other = leaks_asked(company), leaks_asked(company, "other")

    assert (mine.cost.total, leak_amount(mine, Leak.IDLE)) == (usd("60"), usd("60"))
    assert (other.cost.total, leak_amount(other, Leak.IDLE)) == (usd("30"), usd("30"))


def test_a_job_on_half_of_an_instance_holds_and_loses_half(company: Company) -> None:
    used(company, *(("i-2", f"2026-11-30T{hour:02}:00Z", 0) for hour in range(9)))
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

    guest, host = leaks_asked(company, "guest"), leaks_asked(company)

    # Nine hours of half an instance at $10 that did nothing.
    assert guest.cost.total == usd("45")
    assert leak_amount(guest, Leak.IDLE) == usd("45")
    assert host.cost.total == usd("1125")
    assert leak_amount(host, Leak.IDLE) == usd("45")
    found = compared(company, "guest", "job-123").first.efficiency
    assert found.facts.gpu_hours == 9 * 4


def test_commitments_nobody_used_stand_beside_the_job(company: Company) -> None:
    company.bills(
        costs("2026-11-28", "480"),
        costs("2026-11-28", "55", job="", bucket=Bucket.COMMITMENT_UNUSED),
        mark="again",
    )

    answer = leaks_asked(company)

    assert answer.commitment_unused == usd("55")
    assert "they are no job's" in leaks_text(answer)


def test_an_unknown_job_is_told_the_near_ones(company: Company) -> None:
    with pytest.raises(UnknownJobError) as caught:
        leaks_asked(company, "job-124")

    assert caught.value.suggestions == ("job-123",)


def test_the_document_says_what_is_missing(company: Company) -> None:
    document = leaks_document(leaks_asked(company))

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
    busy(company)
    used(company, ("i-1", "2026-11-29T03:00Z", 0))
    company.bills(
        costs("2026-11-28", "480"),
        costs("2026-11-28", "100", job="job-9"),
        costs("2026-11-28", "55", job="", bucket=Bucket.COMMITMENT_UNUSED),
        costs("2026-11-28", "40", job="", bucket=Bucket.IDLE),
        costs("2026-11-28", "7", job=""),
        mark="again",
    )

    answer = _many(company)

    told = groups_of(answer)
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

    assert groups_of(answer) == {"other jobs": "1170.00"}
    assert answer.report.avoidable == usd("0")
    assert "1 job not looked at" in leaks_text(answer)


def test_volumes_of_stopped_instances_are_a_line_of_their_own(
    any_store: SqlStore,
) -> None:
    company = Company(any_store)
    company.is_priced(rate("10"))
    ran = runs("i-1", since="2026-11-27T00:00Z")
    stopped = replace(
        ran, state=InstanceState.STOPPED, transitioned_at=at("2026-11-28T12:00Z")
    )
    disk = make_volume(created="2026-11-27T00:00Z", attached_to="i-1")
    company.is_watched(at_="2026-11-26T00:00Z")
    company.is_watched(ran, volumes=[disk], at_="2026-11-27T00:00Z")
    company.is_watched(stopped, volumes=[disk], at_="2026-11-28T12:00Z")
    company.is_watched(stopped, volumes=[disk])
    storage = {
        "usage_type": "EBS:VolumeUsage.gp3",
        "cost_category": CostCategory.STORAGE,
    }
    company.bills(
        *(costs(f"2026-11-{on}", "6", **storage) for on in (27, 28, 29)),
        through="2026-11-30",
    )

    answer = leaks_asked(company, until=day("2026-11-30"))

    # Half of the 28th and all of the 29th; what it holds while running is unknown.
    assert leak_amount(answer, Leak.STOPPED) == usd("9")
    (found,) = [one for one in answer.leaks if one.leak is Leak.STOPPED]
    assert "2 days with stopped instances" in found.evidence
    assert leak_amount(answer, Leak.VOLUMES) is None
    assert answer.cost.total == usd("18")


def test_a_volume_without_an_instance_is_kept_and_not_stopped(
    any_store: SqlStore,
) -> None:
    company = Company(any_store)
    ran = runs("i-1", since="2026-11-27T00:00Z")
    gone = replace(
        ran, state=InstanceState.TERMINATED, transitioned_at=at("2026-11-28T00:00Z")
    )
    held = make_volume(created="2026-11-27T00:00Z", attached_to="i-1", tags=ran.tags)
    left = replace(held, attached_to="", state="available")
    company.is_watched(at_="2026-11-26T00:00Z")
    company.is_watched(ran, volumes=[held], at_="2026-11-27T00:00Z")
    company.is_watched(gone, volumes=[left], at_="2026-11-28T00:00Z")
    company.is_watched(volumes=[left])
    company.bills(
        costs("2026-11-29", "6", usage_type="EBS:VolumeUsage.gp3",
              cost_category=CostCategory.STORAGE),
        through="2026-11-30",
    )  # fmt: skip

    answer = leaks_asked(company, until=day("2026-11-30"))

    assert leak_amount(answer, Leak.STOPPED) == usd("0")
    assert leak_amount(answer, Leak.VOLUMES) == usd("6")
