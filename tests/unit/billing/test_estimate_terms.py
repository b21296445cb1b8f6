"""What a deadline, bearing interruptions and a stage change in an estimate."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from billing.core.estimate import (
    Estimate,
    EstimateRequest,
    Extras,
    Stage,
    Terms,
    estimate,
)
from billing.core.estimate_deadline import block_count, block_days, deadline_of
from billing.core.estimate_factors import Overheads, stage_overheads, with_spot_band
from billing.core.money import Rate
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.spot_advisor import spot_band, spot_regions
from tests.builders import NOW, make_key, make_price, make_spot_price

RUN = EstimateRequest(
    instance_type="p5.48xlarge", count=32, hours=Fraction(72), region="us-east-1"
)
LIST = make_price("98.32")
SPOT = make_spot_price("40", since="2026-11-01", zone="us-east-1a")
OTHER_REGION = make_price("90", key=make_key(region="us-west-2"))


def plan(run: EstimateRequest = RUN, **terms: object) -> EstimateRequest:
    return replace(run, terms=Terms(**terms))  # type: ignore[arg-type]


def ways(request: EstimateRequest) -> Estimate:
    return estimate(
        request,
        LIST,
        candidates=[SPOT, OTHER_REGION],
        extras=Extras(on_demand=Rate.of("98.32")),
    )


def test_what_can_be_interrupted_is_offered_spot_first_with_its_losses() -> None:
    found = ways(plan(is_interruptible=True)).alternatives

    assert [one.what for one in found[:2]] == ["spot", "us-west-2"]
    assert "for work done again" in found[0].why
    assert "of instances taken back in a month" in found[0].why


def test_what_cannot_be_interrupted_is_warned_of_spot_after_every_other_way() -> None:
    found = ways(plan()).alternatives

    assert found[-1].what == "spot"
    assert "not said to be interruptible" in found[-1].why


def test_losses_on_spot_grow_with_instances_and_with_the_interval() -> None:
    band = spot_band("p5.48xlarge", "us-east-1")

    few = with_spot_band(Overheads(), band, count=1)
    many = with_spot_band(Overheads(), band, count=64)
    rare = with_spot_band(Overheads(), band, count=64, checkpoint_hours=Fraction(8))

    assert 1 < few.expected < many.expected < rare.expected
    assert many.expected < many.high


def test_a_place_the_advisor_does_not_know_keeps_the_rule_of_thumb() -> None:
    assert spot_band("p5.48xlarge", "mars-north-1") is None
    assert with_spot_band(Overheads(), None, count=64) == Overheads()


def test_the_advisor_knows_many_places_of_common_types() -> None:
    assert len(spot_regions("g5.12xlarge")) > 5


def test_an_experiment_is_expected_to_cost_more_than_production() -> None:
    # The published run of 32 x p5.48xlarge x 72 h ended at 2.42 times its quote.
    experiment = stage_overheads(Stage.EXPERIMENT)
    production = stage_overheads(Stage.PRODUCTION)

    assert experiment.expected > production.expected
    assert estimate(RUN, LIST, overheads=experiment).high.text() == "548200.8576"


def test_production_is_offered_commitments_and_an_experiment_is_not() -> None:
    production = [one.what for one in ways(plan(stage=Stage.PRODUCTION)).alternatives]
    experiment = [one.what for one in ways(plan(stage=Stage.EXPERIMENT)).alternatives]

    bound = "savings plan or reserved, 1 year"
    assert production.index("us-west-2") < production.index(bound)
    assert not [what for what in experiment if "year" in what]


def test_a_commitment_says_what_is_owed_and_when_it_pays() -> None:
    found = ways(plan(stage=Stage.PRODUCTION)).alternatives
    why = next(one.why for one in found if one.what.endswith("1 year"))

    assert "$16,536,637.44 is owed over the term" in why
    assert "pays above 60 % use" in why


def plan_price(rate: str, code: str) -> Price:
    key = PriceKey(
        region="us-east-1", product="p5.48xlarge",
        purchase=Purchase.SAVINGS_PLAN, zone=code,
    )  # fmt: skip
    return replace(make_price(rate), key=key)


def test_known_rates_of_plans_stand_in_place_of_the_rule_of_thumb() -> None:
    extras = Extras(
        on_demand=Rate.of("98.32"),
        plans=(
            plan_price("60", "Compute:1:All Upfront"),
            plan_price("64", "Compute:1:No Upfront"),
            plan_price("58", "EC2Instance:1:No Upfront"),
        ),
    )

    found = estimate(plan(stage=Stage.PRODUCTION), LIST, extras=extras).alternatives
    by_name = {one.what: one for one in found if "year" in one.what}

    assert set(by_name) == {
        "EC2 instance savings plan, 1 year",
        "compute savings plan, 1 year",
        "savings plan or reserved, 3 years",
    }
    compute = by_name["compute savings plan, 1 year"]
    assert "at $64.00/h with no upfront" in compute.why
    assert "pays above 65 % use of it; $60.00/h with all upfront" in compute.why
    assert "rule of thumb" not in compute.why
    assert "held to p5 in us-east-1" in by_name["EC2 instance savings plan, 1 year"].why


@pytest.mark.parametrize(
    ("hours_left", "said"),
    [
        (200, "start by 2026-12-04 05:00 UTC"),
        (100, "tight: started now the high end is 8.0 h late"),
        (90, "does not fit: started now the high end is 18.0 h late"),
    ],
    ids=["in-time", "tight", "late"],
)
def test_a_deadline_says_when_to_start_and_what_does_not_fit(
    hours_left: int, said: str
) -> None:
    request = plan(deadline=NOW + timedelta(hours=hours_left))

    found = deadline_of(request, Overheads(), NOW)

    assert found is not None
    assert found.text.startswith(said)
    assert "72 h planned, 93.6 h expected, 108.0 h at the high end" in found.text


def test_restarts_on_spot_bring_the_latest_start_forward() -> None:
    request = plan(deadline=NOW + timedelta(days=30))
    on_spot = replace(request, purchase=Purchase.SPOT)

    certain = deadline_of(request, Overheads(), NOW)
    risky = deadline_of(on_spot, Overheads(), NOW)

    assert certain is not None
    assert risky is not None
    assert risky.latest_start < certain.latest_start


def test_a_fixed_date_brings_up_capacity_that_is_sure_to_be_there() -> None:
    request = plan(deadline=NOW + timedelta(days=20))

    found = {one.what: one for one in ways(request).alternatives}

    assert found["capacity-block"].expected is None
    assert "32 instances for 5 days" in found["capacity-block"].why
    assert found["odcr"].expected == ways(request).expected
    assert "capacity-block" not in {one.what for one in ways(plan()).alternatives}


def test_blocks_come_in_sizes() -> None:
    assert [block_count(count) for count in (1, 3, 33, 65)] == [1, 4, 64, None]
    days = [block_days(Fraction(24 * days)) for days in (1, 14, 15, 182, 183)]
    assert days == [1, 14, 21, 182, None]
