"""Provisional cost of running time."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.accrual import Accrued, accrue
from billing.core.attribution import TagKeys
from billing.core.charges import CostCategory
from billing.core.fleet import Lifecycle
from billing.core.money import MixedCurrencyError, Money, Rate, total
from billing.core.periods import Period
from billing.core.priced import price_keys
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.usage import EndBasis, TagSpan, UsageInterval
from tests.builders import (
    ACCOUNT,
    at,
    make_interval,
    make_key,
    make_price,
    make_spot_price,
    make_tag_span,
    make_volume_interval,
    period,
    usd,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

NOVEMBER = period("2026-11-01", "2026-12-01")
KEYS = TagKeys()


def accrued(
    *intervals: UsageInterval,
    tags: Iterable[TagSpan] = (),
    prices: Iterable[Price] = (make_price("60"),),
    over: Period = NOVEMBER,
    now: str = "2026-11-30T09:00Z",
    billed_through: dict[str, datetime] | None = None,
) -> Accrued:
    book: dict[PriceKey, list[Price]] = {}
    for price in prices:
        book.setdefault(price.key, []).append(price)
    return accrue(
        intervals,
        tags,
        book,
        over,
        now=at(now),
        keys=KEYS,
        billed_through=billed_through,
    )


def whole(result: Accrued) -> Money:
    return total(cell.amount for cell in result.cells)


def test_stopped_run_costs_its_time_and_no_more() -> None:  # C147
    run = make_interval(start="2026-11-01T09:00Z", end="2026-11-01T10:05Z")

    assert whole(accrued(run)) == usd("65.00")


def test_running_interval_costs_up_to_now() -> None:
    run = make_interval(start="2026-11-30T08:00Z")

    result = accrued(run, now="2026-11-30T09:30Z")

    assert whole(result) == usd("90.00")
    assert result.cells[0].running == timedelta(hours=1, minutes=30)


def test_stopped_instance_costs_only_its_volume() -> None:  # C149
    stopped = make_interval(
        shape="g5.12xlarge", start="2026-10-01", end="2026-10-01T01:00Z"
    )
    disk = make_volume_interval(size_gib=2048, start="2026-10-01", parent_id="i-1")
    gp3 = make_price(key=make_key("ebs:gp3"), rate="0.000109589")
    month = Period(at("2026-11-01"), at("2026-11-01") + timedelta(hours=730))

    result = accrued(stopped, disk, prices=[gp3], over=month, now="2026-12-31")

    (cost,) = {cell.key.cost_category for cell in result.cells}
    assert cost is CostCategory.STORAGE
    assert str(whole(result)) == "$163.84"


def test_replacement_adds_to_the_job_without_double_count() -> None:  # C150
    first = make_interval(
        resource_id="i-1",
        start="2026-11-30T10:00Z",
        end="2026-11-30T12:00Z",
        end_basis=EndBasis.BOUNDED,
        ended_by="2026-11-30T13:00Z",
    )
    second = make_interval(resource_id="i-2", start="2026-11-30T12:40Z")
    tags = [make_tag_span(resource_id="i-1"), make_tag_span(resource_id="i-2")]

    result = accrued(first, second, tags=tags, now="2026-11-30T13:40Z")

    (cell,) = result.cells
    assert cell.key.job == "job-123"
    assert cell.amount == usd("180.00")


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "1.00"), (20, "1.00"), (60, "1.00"), (61, "1.016666667")],
    ids=["at-once", "under", "at-minimum", "over"],
)
def test_short_run_costs_one_minute(seconds: int, expected: str) -> None:
    start = at("2026-11-10T12:00Z")
    run = make_interval(start=start, end=start + timedelta(seconds=seconds))

    assert whole(accrued(run)) == usd(expected)


def test_minimum_is_charged_once_when_midnight_cuts_it() -> None:
    run = make_interval(start="2026-11-10T23:59:50Z", end="2026-11-11T00:00:10Z")

    result = accrued(run)

    assert whole(result) == usd("1.00")
    assert [cell.key.day for cell in result.cells] == [
        date(2026, 11, 10),
        date(2026, 11, 11),
    ]


def test_minimum_belongs_to_the_window_of_the_start() -> None:
    run = make_interval(start="2026-11-10T23:59:50Z", end="2026-11-11T00:00:10Z")

    later = accrued(run, over=period("2026-11-11", "2026-11-12"))

    assert str(whole(later)) == "$0.17"


def test_volume_has_no_minimum() -> None:
    disk = make_volume_interval(start="2026-11-10T12:00Z", end="2026-11-10T12:00:01Z")
    gp3 = make_price(key=make_key("ebs:gp3"), rate="0.36")

    assert whole(accrued(disk, prices=[gp3])) == usd("0.01")


@pytest.mark.parametrize(
    ("minutes", "is_reclaimed", "expected"),
    [
        (59, True, "0"),
        (60, True, "10.00"),
        (59, False, "9.833333333"),
        (59, None, "9.833333333"),
    ],
    ids=["reclaimed-early", "reclaimed-at-one-hour", "ended-by-a-person", "unknown"],
)
def test_spot_that_aws_took_back_in_its_first_hour_is_free(
    minutes: int,
    is_reclaimed: bool | None,  # noqa: FBT001 - a column of the table above
    expected: str,
) -> None:
    start = at("2026-11-10T12:00Z")
    run = make_interval(
        start=start,
        end=start + timedelta(minutes=minutes),
        lifecycle=Lifecycle.SPOT,
        is_reclaimed=is_reclaimed,
    )
    spot = make_spot_price("10", since="2026-11-01")

    result = accrued(run, prices=[spot])

    assert whole(result) == usd(expected)
    assert result.free == (("i-1",) if expected == "0" else ())
    assert result.unknown == ()


def test_spot_follows_the_price_of_its_zone_over_time() -> None:
    run = make_interval(
        start="2026-11-10T10:00Z", end="2026-11-10T13:00Z", lifecycle=Lifecycle.SPOT
    )
    prices = [
        make_spot_price("12", since="2026-11-10T11:00Z"),
        make_spot_price("10", since="2026-11-09"),
        make_spot_price("14", since="2026-11-10T12:30Z"),
        make_spot_price("99", since="2026-11-09", zone="us-east-1b"),
    ]

    assert whole(accrued(run, prices=prices)) == usd("35.00")  # 10 + 18 + 7


def test_time_before_the_first_known_spot_price_is_unknown() -> None:
    run = make_interval(
        start="2026-11-10T10:00Z", end="2026-11-10T12:00Z", lifecycle=Lifecycle.SPOT
    )
    prices = [make_spot_price("12", since="2026-11-10T11:00Z")]

    result = accrued(run, prices=prices)

    assert whole(result) == usd("12.00")
    (unknown,) = result.unknown
    assert (unknown.product, unknown.purchase) == ("p5.48xlarge", Purchase.SPOT)


def test_missing_price_is_named_and_not_zero() -> None:
    run = make_interval(shape="p5e.48xlarge", start="2026-11-30T08:00Z")

    result = accrued(run, tags=[make_tag_span()])

    assert result.cells == ()
    (unknown,) = result.unknown
    assert (unknown.job, unknown.resources) == ("job-123", 1)
    assert unknown.text == (
        "p5e.48xlarge on-demand in us-east-1 (no price known; resources: 1)"
    )


def test_price_of_zero_is_a_missing_price() -> None:  # C038
    run = make_interval(start="2026-11-30T08:00Z")

    result = accrued(run, prices=[make_price("0")])

    assert result.cells == ()
    assert len(result.unknown) == 1


def test_newer_statement_of_a_price_counts() -> None:
    run = make_interval(start="2026-11-30T08:00Z")
    newer = make_price("55", as_of="2026-11-20")
    older = make_price("98", as_of="2026-11-01")

    for order in ([newer, older], [older, newer]):
        assert whole(accrued(run, prices=order)) == usd("55")


def test_launch_after_now_costs_nothing_yet() -> None:
    ahead = make_interval(start="2026-11-30T09:00:01Z")

    assert accrued(ahead) == Accrued()


def test_capacity_block_is_not_priced_on_demand() -> None:  # C039
    run = make_interval(start="2026-11-30T08:00Z", lifecycle=Lifecycle.CAPACITY_BLOCK)

    result = accrued(run)

    assert result.cells == ()
    assert "its fee is not known" in result.unknown[0].reason


def test_retagged_instance_splits_at_that_instant() -> None:
    run = make_interval(start="2026-11-10T00:00Z", end="2026-11-10T04:00Z")
    tags = [
        make_tag_span(value="job-a", end="2026-11-10T01:00Z"),
        make_tag_span(value="Job-B ", start="2026-11-10T01:00Z"),
    ]

    result = accrued(run, tags=tags)

    amounts = {cell.key.job: cell.amount for cell in result.cells}
    assert amounts == {"job-a": usd("60.00"), "job-b": usd("180.00")}


def test_untagged_volume_works_for_its_instances_job() -> None:
    disk = make_volume_interval(start="2026-11-30T08:00Z", parent_id="i-1")
    gp3 = make_price(key=make_key("ebs:gp3"), rate="0.01")

    result = accrued(disk, tags=[make_tag_span(resource_id="i-1")], prices=[gp3])

    assert [(cell.key.job, cell.amount) for cell in result.cells] == [
        ("job-123", usd("1.00"))
    ]


def test_volume_pays_for_performance_beyond_what_is_included() -> None:
    disk = make_interval(
        resource_id="vol-1",
        shape="gp3",
        kind=make_volume_interval().kind,
        start="2026-11-30T08:00Z",
        size_gib=100,
        iops=4000,
        throughput_mibps=125,
    )
    prices = [
        make_price(key=make_key("ebs:gp3"), rate="0.01"),
        make_price(key=make_key("ebs:gp3:iops"), rate="0.001"),
    ]

    result = accrued(disk, prices=prices)

    assert whole(result) == usd("2.00")
    assert result.unknown == ()
    assert result.cells[0].running == timedelta(hours=1)
    assert [key.product for key in price_keys(disk)] == ["ebs:gp3", "ebs:gp3:iops"]


def test_time_before_billed_through_is_not_counted_again() -> None:
    mine = make_interval(resource_id="i-1", start="2026-11-29T22:00Z")
    other = make_interval(
        resource_id="i-2", start="2026-11-29T22:00Z", account="999999999999"
    )

    result = accrued(
        mine,
        other,
        now="2026-11-30T01:00Z",
        billed_through={ACCOUNT: at("2026-11-30")},
    )

    by_account = {ACCOUNT: usd("0"), "999999999999": usd("0")}
    for cell in result.cells:
        by_account[cell.key.account] += cell.amount
    assert by_account == {ACCOUNT: usd("60.00"), "999999999999": usd("180.00")}


def test_two_currencies_are_never_added() -> None:
    dollars = make_interval(start="2026-11-30T08:00Z")
    yuan = make_interval(
        resource_id="i-2", region="cn-north-1", start="2026-11-30T08:00Z"
    )
    prices = [
        make_price("60"),
        make_price("70", key=make_key(region="cn-north-1"), currency="CNY"),
    ]

    result = accrued(dollars, yuan, prices=prices)

    assert {cell.key.currency for cell in result.cells} == {"USD", "CNY"}
    with pytest.raises(MixedCurrencyError):
        whole(result)


instants = st.timedeltas(timedelta(0), timedelta(days=4)).map(
    lambda since: at("2026-11-05") + since
)
rates = st.integers(min_value=1, max_value=10**12)


@given(
    start=instants,
    length=st.timedeltas(timedelta(0), timedelta(days=3)),
    cuts=st.lists(instants, max_size=4),
    retag=instants,
    spot=st.lists(st.tuples(instants, rates), max_size=4),
    base=rates,
)
def test_days_jobs_and_windows_add_up_to_the_whole_exactly(
    start: datetime,
    length: timedelta,
    cuts: list[datetime],
    retag: datetime,
    spot: list[tuple[datetime, int]],
    base: int,
) -> None:
    run = make_interval(start=start, end=start + length, lifecycle=Lifecycle.SPOT)
    key = price_keys(run)[0]
    prices = [
        Price(key=key, rate=Rate(base), source="x", as_of=at("2026-11-01")),
        *(
            Price(
                key=key, rate=Rate(rate), source="x", as_of=since, effective_from=since
            )
            for since, rate in spot
        ),
    ]
    tags = [
        make_tag_span(value="a", end=retag),
        make_tag_span(value="b", start=retag),
    ]
    bounds = sorted({NOVEMBER.start, *cuts, NOVEMBER.end})

    once = accrued(run, prices=prices)
    pieces = [
        whole(accrued(run, tags=tags, prices=prices, over=Period(one, two)))
        for one, two in pairwise(bounds)
    ]

    assert total(pieces) == whole(once)
    if not spot:
        billed = max(length, timedelta(seconds=60))
        assert whole(once) == Rate(base).cost_of(billed)


@given(st.permutations(range(6)))
def test_order_of_intervals_does_not_matter(order: list[int]) -> None:
    runs = [
        make_interval(resource_id=f"i-{number}", start=f"2026-11-{number + 1:02}")
        for number in range(6)
    ]

    assert accrued(*(runs[number] for number in order)) == accrued(*runs)
