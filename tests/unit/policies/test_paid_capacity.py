"""What a run adds to capacity that is paid for already, and which amount counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from billing.core.estimate import EstimateLine, EstimateRequest, Extras, estimate
from billing.core.money import Money
from billing.core.prices import Purchase
from billing.core.resources import Reservation, ReservationKind
from policies.core.kinds.approval import ApprovalPolicy
from policies.core.paid_capacity import (
    PaidCapacity,
    counted_sentence,
    marginal_cost,
    paid_capacity,
)
from policies.core.rules import planned_job, rule_for
from tests.builders import NOW, REGION, make_price

PLAN = EstimateRequest(
    job="llm-1", instance_type="p5.48xlarge", count=8, hours=Fraction(72),
    purchase=Purchase.ODCR, region=REGION,
)  # fmt: skip
SAVED = EstimateLine(name="checkpoints", cost=Money.of("100"), basis="")


def _reservation(**values: Any) -> Reservation:
    known: dict[str, Any] = {
        "reservation_id": "cr-1", "kind": ReservationKind.ON_DEMAND,
        "account": "012345678901", "region": REGION, "zone": "us-east-1a",
        "instance_type": "p5.48xlarge", "count": 8, "available": 8, "state": "active",
        "starts_at": NOW - timedelta(days=1), "ends_at": None,
    }  # fmt: skip
    return Reservation(**(known | values))


def _found(plan: EstimateRequest = PLAN) -> Any:
    return estimate(plan, make_price("10"), extras=Extras(lines=(SAVED,)))


@pytest.mark.parametrize(
    ("paid", "share"),
    [
        (PaidCapacity(instances=8, hours=None), "0"),
        (PaidCapacity(instances=80, hours=Fraction(1000)), "0"),
        (PaidCapacity(instances=4, hours=None), "1/2"),
        (PaidCapacity(instances=8, hours=Fraction(18)), "3/4"),
        (PaidCapacity(instances=2, hours=Fraction(36)), "7/8"),
        (None, "1"),
    ],
)
def test_only_what_fits_into_free_machines_and_hours_is_paid(
    paid: PaidCapacity | None, share: str
) -> None:
    found = _found()
    beside = Money.of("100")

    assert (
        marginal_cost(found, paid)
        == (found.high - beside).scaled(Fraction(share)) + beside
    )


def test_free_capacity_of_the_same_kind_type_and_place_counts_together() -> None:
    end = NOW + timedelta(hours=10)
    held = [
        _reservation(available=2),
        _reservation(available=3, ends_at=end),
        _reservation(kind=ReservationKind.CAPACITY_BLOCK),
        _reservation(instance_type="p4d.24xlarge"),
        _reservation(region="eu-west-1"),
        _reservation(state="cancelled"),
        _reservation(starts_at=NOW + timedelta(hours=1)),
        _reservation(ends_at=NOW),
        _reservation(available=None),
        _reservation(available=0),
    ]

    assert paid_capacity(PLAN, held, NOW) == PaidCapacity(
        instances=5, hours=Fraction(10)
    )
    assert paid_capacity(PLAN, [_reservation(available=None)], NOW) is None


@pytest.mark.parametrize("purchase", [Purchase.ON_DEMAND, Purchase.SPOT])
def test_a_run_that_buys_its_own_machines_is_on_no_paid_capacity(
    purchase: Purchase,
) -> None:
    assert (
        paid_capacity(replace(PLAN, purchase=purchase), [_reservation()], NOW) is None
    )


def test_both_amounts_are_told_where_they_differ() -> None:
    found = _found()

    assert counted_sentence(found, found.high) == ""
    told = counted_sentence(found, Money.of("100"))
    assert str(found.high) in told
    assert "$100.00 beyond what is paid" in told


@pytest.mark.parametrize(
    ("count", "marginal", "asks"),
    [
        ("full", "100", True),
        ("marginal", "100", False),
        ("marginal", "1000.01", True),
        ("marginal", None, True),
    ],
)
def test_a_policy_counts_as_it_says(
    count: str, marginal: str | None, *, asks: bool
) -> None:
    policy = ApprovalPolicy.model_validate(
        {"name": "large", "over": "$1,000", "count": count, "approvers": ["a@b.c"]}
    )
    high = Money.of("5000")
    job = planned_job(
        job="llm-1", team="", owner="", environment="", instance_type="p5.48xlarge",
        count=8, gpus=64, high=high,
    )  # fmt: skip

    rule = rule_for(
        [policy], job, high, Money.zero(),
        marginal=Money.of(marginal) if marginal else None,
    )  # fmt: skip

    assert (rule is not None) is asks


def test_an_unknown_price_needs_approval_however_it_is_counted() -> None:
    policy = ApprovalPolicy.model_validate(
        {"name": "l", "over": "$1,000", "count": "marginal", "approvers": ["a@b.c"]}
    )
    job = planned_job(
        job="llm-1", team="", owner="", environment="", instance_type="p5.48xlarge",
        count=8, gpus=64, high=None,
    )  # fmt: skip

    assert rule_for([policy], job, None, Money.zero(), marginal=Money.of("1"))
