"""Planned runs: read from texts, priced from what is known, never at $0."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.estimate import NoPriceError
from billing.core.money import Rate
from billing.core.plan_rates import plan_keys
from billing.core.prices import Purchase
from bot.use_cases.estimate import (
    COUNT_MAX,
    HOURS_MAX,
    BadPlanError,
    PlanTexts,
    estimate_run,
    plan_of,
    read_plan,
)
from bot.use_cases.pricing import OwnPrice, price_book
from tests.builders import (
    NOW,
    REGION,
    at,
    make_key,
    make_price,
    make_spot_price,
    usd,
)

if TYPE_CHECKING:
    from billing.core.estimate import Estimate, EstimateRequest
    from billing.core.prices import Price
    from bot.unit_of_work import SqlStore


def _plan(
    instance_type: str = "p5.48xlarge",
    count: int = 32,
    hours: str = "72",
    *,
    purchase: str = "on-demand",
    region: str = REGION,
    is_time_limit: bool = False,
) -> EstimateRequest:
    return plan_of(
        instance_type=instance_type, count=count, hours=hours, purchase=purchase,
        region=region, job="llm", is_time_limit=is_time_limit,
    )  # fmt: skip


def _estimate(
    store: SqlStore,
    plan: EstimateRequest,
    *known: Price,
    own: tuple[OwnPrice, ...] = (),
) -> Estimate:
    with store.write() as unit:
        if known:
            unit.ledger.record_prices(known, known[0].as_of)
        return estimate_run(plan, price_book(unit.ledger, own))


def test_the_published_example_costs_what_it_says(store: SqlStore) -> None:
    found = _estimate(store, _plan(), make_price("98.32"))

    assert found.compute == usd("226529.28")
    assert found.hourly == Rate.of("3146.24")
    assert found.low <= found.expected <= found.high


def test_an_override_is_the_organisations_price_beside_the_list_price(
    store: SqlStore,
) -> None:
    own = OwnPrice(instance_type="p5.48xlarge", rate=Rate.of("60"))

    found = _estimate(store, _plan(), make_price("98.32"), own=(own,))

    assert found.compute == usd("226529.28")
    assert (found.list_rate, found.yours) == (Rate.of("98.32"), Rate.of("60"))
    assert found.low == usd("138240")


def test_a_discount_counts_where_it_fits(store: SqlStore) -> None:
    own = (
        OwnPrice(region="eu-west-1", discount=Fraction(1, 2)),
        OwnPrice(discount=Fraction(1, 4)),
    )

    found = _estimate(store, _plan(), make_price("100"), own=own)

    assert found.yours == Rate.of("75")


def test_without_a_recorded_price_the_shipped_one_counts_with_its_date(
    store: SqlStore,
) -> None:
    found = _estimate(store, _plan())

    assert found.list_rate.nanos > 0
    assert found.price_source
    assert found.price_as_of.year >= 2026


def test_spot_takes_the_dearest_zone(store: SqlStore) -> None:
    found = _estimate(
        store,
        _plan(purchase="spot"),
        make_spot_price("20", since="2026-11-29", zone="us-east-1a"),
        make_spot_price("31", since="2026-11-29", zone="us-east-1b"),
    )

    assert found.list_rate == Rate.of("31")


@pytest.mark.parametrize("purchase", ["savings-plan", "reserved", "odcr"])
def test_what_is_bought_ahead_is_estimated_at_the_list_price(
    store: SqlStore, purchase: str
) -> None:
    found = _estimate(store, _plan(purchase=purchase), make_price("98.32"))

    assert found.compute == usd("226529.28")
    assert found.request.purchase is Purchase(purchase)


def test_a_savings_plan_is_estimated_at_its_own_rate_where_it_is_known(
    store: SqlStore,
) -> None:
    keys = plan_keys(REGION, "p5.48xlarge")
    rates = dict(zip(keys, map(str, range(60, 60 - len(keys), -1)), strict=True))
    known = [make_price(rate, key=key) for key, rate in rates.items()]

    found = _estimate(
        store, _plan(purchase="savings-plan"), make_price("98.32"), *known
    )

    # One year with nothing upfront is the dearest of a year's plans.
    assert found.list_rate == Rate.of("60")
    assert "1 year, no upfront" in found.notes[0].text
    assert "rule of thumb" not in found.notes[0].text


@pytest.mark.parametrize("purchase", ["spot", "capacity-block", "training-plan"])
def test_without_a_price_there_is_no_estimate(store: SqlStore, purchase: str) -> None:
    # C038
    with pytest.raises(NoPriceError, match=f"no {purchase} price is known") as caught:
        _estimate(store, _plan(purchase=purchase))

    assert "prices" in caught.value.hint


def test_a_price_of_zero_is_no_price(store: SqlStore) -> None:
    # C038
    key = make_key("p5.48xlarge", region="eu-north-9")

    with pytest.raises((NoPriceError, ValueError)):
        _estimate(store, _plan(region="eu-north-9"), make_price("0", key=key))


def test_an_unknown_type_is_refused_with_near_names(store: SqlStore) -> None:
    with pytest.raises(BadPlanError, match=r"'p5\.48xlrge' is not known") as caught:
        _estimate(store, _plan("p5.48xlrge"))

    assert "p5.48xlarge" in caught.value.suggestions


def test_everything_wrong_with_a_plan_is_told_at_once() -> None:
    texts = PlanTexts(
        instance_type="p5.48xlrge", count=0, hours="-1", region=REGION,
        purchase="stolen", deadline="2026-11-29", stage="prod",
    )  # fmt: skip

    with pytest.raises(BadPlanError) as caught:
        read_plan(texts, NOW)

    told = str(caught.value).splitlines()
    assert [line.split(" must")[0] for line in told[:5]] == [
        "count", "hours", "purchase", "deadline", "stage",
    ]  # fmt: skip
    assert told[5] == "instance type 'p5.48xlrge' is not known"
    assert "p5.48xlarge" in caught.value.suggestions


def test_a_deadline_is_read_as_a_day_or_an_instant() -> None:
    base = PlanTexts(instance_type="p5.48xlarge", count=1, hours="1", region=REGION)
    for text, at_ in (
        ("2026-12-05", "2026-12-05T00:00Z"),
        ("2026-12-05T12:00+02:00", "2026-12-05T10:00Z"),
        ("2026-12-05T12:00", "2026-12-05T12:00Z"),
    ):
        read = read_plan(replace(base, deadline=text), NOW)
        assert read.terms.deadline == at(at_)


def test_types_are_read_without_regard_to_case_and_spaces() -> None:
    assert _plan(" P5.48xLarge ").instance_type == "p5.48xlarge"


@pytest.mark.parametrize("count", [0, -1, COUNT_MAX + 1])
def test_counts_out_of_range_are_refused(count: int) -> None:
    with pytest.raises(BadPlanError, match=f"got {count}"):
        _plan(count=count)


@pytest.mark.parametrize(
    "hours",
    [
        "0", "-1", "nan", "inf", "-inf", "1e999999999", "1e-999999999", "0e999999999",
        "", "h", "three", "1,5", "72 h 3", str(HOURS_MAX + 1), "1_0x",
    ],
)  # fmt: skip
def test_hours_that_are_no_sensible_number_are_refused(hours: str) -> None:
    with pytest.raises(BadPlanError, match="hours must be"):
        _plan(hours=hours)


@pytest.mark.parametrize(
    ("text", "hours"),
    [("72", 72), ("1.5", Fraction(3, 2)), ("72h", 72), (" 2 ", 2), ("1e2", 100)],
)
def test_hours_are_read_exactly(text: str, hours: Fraction) -> None:
    assert _plan(hours=text).hours == hours


@given(st.text(max_size=12))
def test_any_text_as_hours_is_a_number_or_a_named_error(text: str) -> None:
    try:
        found = _plan(hours=text).hours
    except BadPlanError:
        return
    assert 0 < found <= HOURS_MAX


def test_unknown_ways_to_buy_name_those_there_are() -> None:
    with pytest.raises(BadPlanError, match="on-demand, spot"):
        _plan(purchase="on_demand")


def test_a_time_limit_is_the_high_end(store: SqlStore) -> None:
    found = _estimate(store, _plan(is_time_limit=True), make_price("98.32"))

    assert found.low == found.expected == found.high == usd("226529.28")
