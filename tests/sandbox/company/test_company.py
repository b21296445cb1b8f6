from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from deploy.sandbox.aws.world import CostSeed, World
from deploy.sandbox.company import STINTS, company_world
from deploy.sandbox.company.prices import ON_DEMAND
from deploy.sandbox.demo.show import MONDAY

NOVEMBER = date(2026, 11, 1)
JOB_KEYS = ("job-id", "JobId")


@pytest.fixture(scope="module")
def world() -> World:
    return company_world(MONDAY)


def amount(line: CostSeed, metric: str) -> Decimal:
    return Decimal(line.amounts()[metric])


def job_of(line: CostSeed) -> str:
    return next((line.tags[key] for key in JOB_KEYS if key in line.tags), "")


def by_job(lines: list[CostSeed], metric: str) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for line in lines:
        sums[job_of(line) or line.record_type] += amount(line, metric)
    return sums


@pytest.mark.parametrize("metric", ["NetUnblendedCost", "NetAmortizedCost"])
def test_jobs_and_everything_else_make_up_the_bill(world: World, metric: str) -> None:
    whole = sum((amount(line, metric) for line in world.costs), Decimal(0))

    assert sum(by_job(world.costs, metric).values()) == whole


def test_billed_and_effective_cost_differ_by_nothing_in_sum(world: World) -> None:
    # A plan without upfront payment moves cost between lines, not between days.
    whole_days = [one for one in world.costs if one.day < MONDAY.date()]
    billed = sum((amount(one, "NetUnblendedCost") for one in whole_days), Decimal(0))
    effective = sum((amount(one, "NetAmortizedCost") for one in whole_days), Decimal(0))

    assert billed == effective


def test_compute_of_job_123_is_its_running_time_at_list_price(world: World) -> None:
    lines = [
        line
        for line in world.costs
        if job_of(line) == "job-123" and line.instance_type is not None
    ]

    ran = MONDAY - datetime(2026, 11, 24, 18, tzinfo=UTC)
    hours = Decimal(ran // timedelta(minutes=3)) / 20
    expected = 4 * hours * ON_DEMAND["p5.48xlarge"]
    assert sum(amount(line, "NetUnblendedCost") for line in lines) == expected
    assert sum(Decimal(line.quantity) for line in lines) == 4 * hours


def test_the_last_day_and_a_half_is_not_billed_yet(world: World) -> None:
    sunday = [one for one in world.costs if one.day == date(2026, 11, 29)]
    monday = [one for one in world.costs if one.day == MONDAY.date()]
    saturday = [one for one in world.costs if one.day == date(2026, 11, 28)]

    assert all(one.visible(MONDAY) for one in saturday)
    assert {one.visible(MONDAY) for one in sunday} == {True, False}
    assert not any(one.visible(MONDAY) for one in monday)


def test_the_bill_knows_every_kind_of_line(world: World) -> None:
    kinds = {one.record_type for one in world.costs if one.day >= NOVEMBER}
    types = {one.usage_type for one in world.costs if one.day >= NOVEMBER}

    assert kinds >= {
        *("Usage", "SavingsPlanCoveredUsage", "SavingsPlanNegation"),
        *("SavingsPlanRecurringFee", "Tax", "Support", "Credit", "Refund"),
    }
    assert types >= {
        *("EBS:VolumeUsage.gp3", "NatGateway-Bytes", "TimedStorage-ByteHrs"),
        *("DataTransfer-Regional-Bytes", "SpotUsage:p5.48xlarge"),
        "USW2-BoxUsage:g5.2xlarge",
    }


def test_part_of_the_plan_was_left_unused(world: World) -> None:
    fees = [one for one in world.costs if one.record_type == "SavingsPlanRecurringFee"]
    unused = {one.day: amount(one, "NetAmortizedCost") for one in fees}

    assert unused[date(2026, 11, 13)] > 0
    assert unused[date(2026, 11, 25)] == 0
    assert min(unused.values()) == 0


def test_a_dozen_jobs_of_three_teams_are_in_the_bill_of_the_month(world: World) -> None:
    month = [one for one in world.costs if one.day >= NOVEMBER and job_of(one)]

    assert len({job_of(one) for one in month}) >= 12
    assert {one.tags["team"] for one in month} == {"nlp", "vision", "platform"}
    assert {key for one in month for key in one.tags} >= set(JOB_KEYS)


def test_only_the_forgotten_node_has_idle_gpus(world: World) -> None:
    last: dict[str, float] = defaultdict(float)
    for series in world.metrics:
        if series.name == "nvidia_smi_utilization_gpu":
            known = [value for at, value in series.points if at <= MONDAY]
            last[series.dimensions["InstanceId"]] += known[-1]
    idle = {instance for instance, value in last.items() if value == 0}

    forgotten = [
        one.instance_ids() for one in STINTS if one.phase in {"forgotten", "boot"}
    ]
    assert idle == {instance for ids in forgotten for instance in ids}


def test_what_runs_has_a_volume_and_what_ended_is_gone(world: World) -> None:
    assert {one.instance for one in world.volumes} == {
        one.id for one in world.instances
    }
    assert {one.state for one in world.instances} == {"running"}
    crashed = company_world(datetime(2026, 11, 28, 15, 30, tzinfo=UTC))
    assert "terminated" in {one.state for one in crashed.instances}


def test_the_same_instant_gives_the_same_world() -> None:
    assert company_world(MONDAY).dump() == company_world(MONDAY).dump()
