"""Estimates: what they add up to, and when there is none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.estimate import (
    Estimate,
    EstimateRequest,
    NoPriceError,
    Overheads,
    alternative_keys,
    estimate,
    probability_interrupted,
    problems,
)
from billing.core.gpus import gpu_types_known
from billing.core.money import Rate, total
from billing.core.prices import Price, Purchase
from tests.builders import make_key, make_price, make_spot_price, usd

RUN = EstimateRequest(
    instance_type="p5.48xlarge", count=32, hours=Fraction(72), region="us-east-1"
)
LIST = make_price("98.32")


def costs(found: Estimate) -> tuple[str, str, str]:
    return str(found.low), str(found.expected), str(found.high)


def test_published_example() -> None:
    found = estimate(RUN, LIST)

    assert found.compute == usd("226529.28")
    assert found.hourly == Rate.of("3146.24")
    assert costs(found) == ("$226,529.28", "$294,488.06", "$339,793.92")
    assert [line.name for line in found.lines] == [
        "compute",
        "synchronisation and idle",
    ]
    assert found.lines[0].basis == "32 x p5.48xlarge x 72 h at $98.32/h"


def test_time_limit_is_the_high_end() -> None:
    found = estimate(replace(RUN, is_time_limit=True), LIST)

    assert costs(found) == ("$226,529.28",) * 3
    assert [line.name for line in found.lines] == ["compute"]


def test_spot_adds_the_work_done_again() -> None:
    run = replace(RUN, count=1, hours=Fraction(100), purchase=Purchase.SPOT)

    found = estimate(run, make_spot_price("10", since="2026-11-01"))

    assert costs(found) == ("$1,000.00", "$1,430.00", "$1,650.00")
    assert found.lines[-1].name == "spot interruptions"


def test_own_price_stands_beside_the_list_price() -> None:
    run = replace(RUN, count=1, hours=Fraction(10))

    found = estimate(run, make_price("100"), yours=Rate.of("60"))

    assert (found.compute, found.low) == (usd("1000"), usd("600"))
    assert found.expected == usd("780")
    assert (found.list_rate, found.yours) == (Rate.of("100"), Rate.of("60"))
    assert found.lines[1].cost == usd("-400")
    assert found.lines[1].basis == "$60.00/h instead of $100.00/h"


def test_organisation_can_set_its_overheads() -> None:
    run = replace(RUN, count=1, hours=Fraction(10))
    own = Overheads(idle_expected=Fraction(2), idle_high=Fraction(3))

    found = estimate(run, make_price("10"), overheads=own)

    assert costs(found) == ("$100.00", "$200.00", "$300.00")


@pytest.mark.parametrize(
    ("price", "yours"),
    [(None, None), (make_price("0"), None), (LIST, Rate(0)), (None, Rate.of("5"))],
    ids=["none", "zero", "own-zero", "own-only"],
)
def test_no_price_is_no_estimate(price: Price | None, yours: Rate | None) -> None:
    # C038: an estimate of $0 would approve itself.
    with pytest.raises(NoPriceError) as caught:
        estimate(RUN, price, yours=yours)

    assert str(caught.value) == (
        "no on-demand price is known for 'p5.48xlarge' in 'us-east-1'"
    )


def test_every_problem_is_told_at_once() -> None:
    bad = replace(RUN, instance_type="p5.49xlarge", count=0, hours=Fraction(-3, 2))

    found = problems(bad, gpu_types_known())

    assert [(one.field, one.message) for one in found] == [
        ("count", "count must be 1 or more, got 0"),
        ("hours", "hours must be more than 0, got -1.5"),
        ("instance_type", "instance type 'p5.49xlarge' is not known"),
    ]
    assert "p5.48xlarge" in found[-1].suggestions


def test_plan_without_problems() -> None:
    assert problems(RUN, gpu_types_known()) == ()


def test_alternatives_are_ranked_by_what_they_cost() -> None:
    run = replace(RUN, count=1, hours=Fraction(10))
    candidates = [
        make_price("9", key=make_key(region="us-west-2")),
        make_price("50", key=make_key(region="eu-west-1")),
        make_spot_price("4", since="2026-11-01", zone="us-east-1a"),
        make_spot_price("3", since="2026-11-01", zone="us-east-1b"),
        make_price("1", key=make_key("p5.4xlarge")),
        make_price("1", key=make_key("g5.xlarge")),
        make_price("0", key=make_key(region="us-east-2")),
        make_price("1", key=make_key(region="cn-north-1"), currency="CNY"),
    ]

    found = estimate(run, make_price("10"), candidates=candidates).alternatives

    assert [(one.what, str(one.expected)) for one in found] == [
        ("8 x p5.4xlarge", "$104.00"),
        ("us-west-2", "$117.00"),
        ("spot", "$39.03"),
    ]
    assert found[-1].why == (
        "$90.97 less, at $3.00/h, not said to be interruptible: AWS may take it back"
        " at two minutes' notice"
    )


def test_unknown_spot_price_is_said() -> None:
    (only,) = estimate(RUN, LIST).alternatives

    assert (only.what, only.expected) == ("spot", None)
    assert only.why == "no spot price is known in us-east-1"


def test_keys_to_compare_with() -> None:
    keys = alternative_keys(RUN, ["us-east-1", "us-west-2"], ["us-east-1a"])

    assert [(key.product, key.region, str(key.purchase)) for key in keys] == [
        ("p5.48xlarge", "us-east-1", "spot"),
        ("p5.4xlarge", "us-east-1", "on-demand"),
        ("p5.48xlarge", "us-west-2", "on-demand"),
    ]


def test_chance_of_an_interruption() -> None:
    assert f"{probability_interrupted(0.024, 14):.1%}" == "28.8%"


@given(
    st.integers(min_value=1, max_value=10**12),
    st.integers(min_value=1, max_value=10**12),
    st.integers(min_value=1, max_value=2000),
    st.fractions(min_value=Fraction(1, 3600), max_value=2000),
    st.sampled_from([Purchase.ON_DEMAND, Purchase.SPOT]),
    st.booleans(),
)
def test_lines_add_up_to_expected_between_low_and_high(
    listed: int,
    own: int,
    count: int,
    hours: Fraction,
    purchase: Purchase,
    is_time_limit: bool,  # noqa: FBT001 - drawn
) -> None:
    run = replace(
        RUN, count=count, hours=hours, purchase=purchase, is_time_limit=is_time_limit
    )
    price = replace(LIST, rate=Rate(listed))

    found = estimate(run, price, yours=Rate(own))

    assert total(line.cost for line in found.lines) == found.expected
    assert found.low <= found.expected <= found.high


def test_a_way_that_saves_next_to_nothing_is_not_offered() -> None:
    run = replace(RUN, count=1, hours=Fraction(10))
    nearly = make_price("9.95", key=make_key(region="us-west-2"))

    found = estimate(run, make_price("10"), candidates=[nearly]).alternatives

    assert [one.what for one in found] == ["spot"]
