"""Capacity that was paid at purchase or is reserved, from AWS to the answer."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.resources import Reservation
from bot.use_cases.settle import due_warning, tell_ending
from deploy.sandbox.aws.builders import (
    cost,
    gpu_hours,
    instance,
)
from deploy.sandbox.aws.world import CapacityReservationSeed, CostTag
from deploy.sandbox.aws.world_services import (
    Services,
    TrainingPlanSeed,
)
from tests.builders import at, usd
from tests.contract.sources.aws import NOW

if TYPE_CHECKING:
    from tests.cases.place import Place

from tests.cases.resources import P5, TAGS, TODAY, job, look

BLOCK = "cr-00000000000000001"


def block(**fields: Any) -> CapacityReservationSeed:
    values: dict[str, Any] = {
        "id": BLOCK, "instance_type": "p5.48xlarge", "count": 2, "available": 1,
        "type": "capacity-block", "started_at": TODAY - timedelta(hours=48),
        "ends_at": TODAY + timedelta(hours=48),
        "bought_at": at("2026-04-02T10:00Z"),
    }  # fmt: skip
    return CapacityReservationSeed(**(values | fields))


def in_block(**fields: Any) -> Any:
    values: dict[str, Any] = {
        "launched_at": "2026-04-14T00:00", "lifecycle": "capacity-block",
        "capacity_reservation_id": BLOCK, "tags": TAGS,
    }  # fmt: skip
    return instance("i-00000000000000001", "p5.48xlarge", **(values | fields))


def test_a_block_costs_its_share_of_the_fee_and_idle_hours_stand_apart(
    place: Place,
) -> None:  # C039
    place.config["prices"] = {"capacity_blocks": {BLOCK: "$18,432"}}
    place.aws.serve(instances=[in_block()], capacity_reservations=[block()])
    look(place, TODAY, NOW)

    answer = place.cost("job-1")
    groups = {one.key: one.total for one in place.cost(by="job").groups}

    # 18432 / (2 x 96 h) = $96 an hour of one instance.
    assert answer.total == usd("576.00")
    assert "spread over its hours" in answer.provisional_basis[0]
    assert groups["bucket:commitment-unused"] == usd("576.00")
    assert sum(one.nanos for one in groups.values()) == usd("1152.00").nanos


def test_a_block_whose_fee_nobody_knows_is_unknown_and_never_free(
    place: Place,
) -> None:
    place.aws.serve(instances=[in_block()], capacity_reservations=[block()])
    look(place, TODAY, NOW)

    answer = place.cost("job-1")

    assert answer.total == usd("0")
    assert "fee is not known" in answer.provisional_unknown[0]


def test_a_fee_in_the_bill_is_found_and_counts_once(place: Place) -> None:
    place.aws.serve(
        tags=[CostTag(key="job-id")],
        costs=[
            cost("2026-04-02", "18432.00", usage_type="CapacityBlock:p5.48xlarge",
                 record_type="Fee"),
            *(gpu_hours(f"2026-04-{day:02}", "g5.xlarge", hours="24", price="1.006")
              for day in range(1, 12)),
        ],
        instances=[in_block()],
        capacity_reservations=[block()],
        estimated_days=1,
    )  # fmt: skip
    look(place, TODAY - timedelta(hours=1), NOW)

    answer = place.cost("job-1", since="2026-04-01")
    whole = place.cost(since="2026-04-01", by="job")
    cash = place.cost(since="2026-04-01", metric="billed")

    assert answer.total == usd("576.00")
    plain = usd("1.006").nanos * 24 * 11
    spread = usd("96").nanos * (6 + 7)
    assert whole.total.nanos == plain + spread
    assert cash.billed.nanos == plain + usd("18432").nanos


def test_capacity_reserved_on_demand_costs_what_nobody_uses(place: Place) -> None:
    odcr = block(type="default", ends_at=None, count=3, available=2)
    place.aws.serve(capacity_reservations=[odcr])
    look(place, TODAY, NOW)

    groups = {one.key: one.total for one in place.cost(by="job").groups}

    # Two idle p5.48xlarge at $55.04, for six hours.
    assert groups == {"bucket:commitment-unused": usd("660.48")}


def test_a_training_plan_prices_what_runs_in_it(place: Place) -> None:
    plan = TrainingPlanSeed(
        name="p", starts_at=TODAY, ends_at=TODAY + timedelta(hours=48), fee="9600.00",
        instance_type=P5, count=2, available=1,
    )  # fmt: skip
    place.aws.serve(
        services=Services(
            training_plans=[plan],
            training_jobs=[job(instance_type=P5, plan=plan.arn)],
        )
    )
    look(place, TODAY, NOW)

    groups = {one.key: one.total for one in place.cost(by="job").groups}

    assert groups == {
        "job-1": usd("600.00"),
        "bucket:commitment-unused": usd("600.00"),
    }


@pytest.mark.parametrize(
    ("left", "due"),
    [
        (timedelta(hours=25), None),
        (timedelta(hours=24), timedelta(hours=24)),
        (timedelta(hours=5), timedelta(hours=24)),
        (timedelta(hours=3), timedelta(hours=4)),
        (timedelta(minutes=39), timedelta(minutes=40)),
        (timedelta(0), None),
    ],
)
def test_the_end_of_a_block_is_warned_of(
    place: Place, left: timedelta, due: timedelta | None
) -> None:
    place.aws.serve(capacity_reservations=[block(ends_at=NOW + left)])
    look(place, NOW, source="inventory")

    assert due_warning(_held(place), NOW) == due


def test_each_warning_is_told_once(place: Place) -> None:
    place.aws.serve(capacity_reservations=[block(ends_at=NOW + timedelta(hours=5))])
    look(place, NOW, source="inventory")

    for minutes in (0, 5, 70, 75):
        tell_ending(place.store, channel="C1", now=NOW + timedelta(minutes=minutes))

    with place.store.read() as unit:
        told = unit.outbox.depth()
    assert sum(told.values()) == 2


def _held(place: Place) -> Reservation:
    with place.store.read() as unit:
        (held,) = unit.ledger.reservations()
    return held
