"""Sums of equal intervals are the sums of each, to the nano-unit."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from billing.core.accrual import accrue
from billing.core.attribution import TagKeys
from billing.core.money import total
from tests.builders import at, make_interval, make_price, make_tag_span, period

NOVEMBER = period("2026-11-01", "2026-12-01")
NOW = at("2026-11-30T09:00:00.000007Z")
FLEET = [
    replace(
        make_interval(),
        resource_id=f"i-{number}",
        started_at=at("2026-11-28T01:02:03.000001Z") + timedelta(minutes=number % 3),
        ended_at=None,
    )
    for number in range(12)
]
TAGS = [
    make_tag_span(resource_id=one.resource_id, value=f"job-{number % 2}")
    for number, one in enumerate(FLEET)
]


@pytest.mark.parametrize("rate", ["98.32", "0.000000001", "3.333333333"])
def test_equal_intervals_cost_the_sum_of_what_each_costs_alone(rate: str) -> None:
    book = {make_price(rate).key: [make_price(rate)]}

    together = accrue(FLEET, TAGS, book, NOVEMBER, now=NOW, keys=TagKeys())
    alone = [
        accrue([one], TAGS, book, NOVEMBER, now=NOW, keys=TagKeys()) for one in FLEET
    ]

    for cell in together.cells:
        same = [one for each in alone for one in each.cells if one.key == cell.key]
        assert cell.amount == total(one.amount for one in same)
        assert cell.running == sum((one.running for one in same), timedelta(0))
    assert {cell.key for cell in together.cells} == {
        one.key for each in alone for one in each.cells
    }


def test_every_equal_resource_without_a_price_is_counted_once() -> None:
    again = [replace(FLEET[0], started_at=at("2026-11-29T00:00Z"))]

    found = accrue([*FLEET, *again], TAGS, {}, NOVEMBER, now=NOW, keys=TagKeys())

    assert [(one.job, one.resources) for one in found.unknown] == [
        ("job-0", 6),
        ("job-1", 6),
    ]
