"""Burn rates, the next day and changes."""

from __future__ import annotations

from decimal import Decimal

import pytest

from billing.core.fleet import Lifecycle
from billing.core.forecast import burn, describe_change, next_24h, percent_change
from billing.core.money import Money, Rate
from billing.core.priced import PREPAID_REASON
from tests.builders import (
    NOW,
    make_interval,
    make_key,
    make_price,
    make_spot_price,
    make_volume_interval,
    usd,
)

P5 = make_price("60")
BOOK = {P5.key: [P5]}


def test_burn_is_the_sum_of_what_runs_now() -> None:
    gp3 = make_price("0.0001", key=make_key("ebs:gp3"))
    running = [make_interval(resource_id=f"i-{number}") for number in range(3)]
    over = make_interval(resource_id="i-9", end="2026-11-30T08:00Z")
    later = make_interval(resource_id="i-8", start="2026-11-30T10:00Z")
    disk = make_volume_interval(size_gib=1000)

    found = burn([*running, over, later, disk], {**BOOK, gp3.key: [gp3]}, NOW)

    assert found.rate == Rate.of("180.10")
    assert next_24h(found.rate) == usd("4322.40")


def test_burn_takes_the_spot_price_of_now() -> None:
    spot = make_interval(lifecycle=Lifecycle.SPOT)
    series = [
        make_spot_price("12", since="2026-11-30T08:00Z"),
        make_spot_price("99", since="2026-11-30T10:00Z"),
        make_spot_price("10", since="2026-11-29"),
    ]

    assert burn([spot], {series[0].key: series}, NOW).rate == Rate.of("12")


@pytest.mark.parametrize(
    ("unknown", "name"),
    [
        (
            make_interval(resource_id="i-2", shape="p5e.48xlarge"),
            "p5e.48xlarge on-demand in us-east-1 (no price known)",
        ),
        (
            make_interval(resource_id="i-2", lifecycle=Lifecycle.CAPACITY_BLOCK),
            f"p5.48xlarge capacity-block in us-east-1 ({PREPAID_REASON})",
        ),
    ],
    ids=["no-price", "capacity-block"],
)
def test_burn_with_an_unknown_part_is_unknown(unknown: object, name: str) -> None:
    found = burn([make_interval(), unknown], BOOK, NOW)  # type: ignore[list-item]

    assert found.rate is None
    assert found.known == Rate.of("60")
    assert found.unknown == (name,)
    assert next_24h(found.rate) is None


def test_nothing_running_burns_nothing() -> None:
    assert burn([], {}, NOW).rate == Rate(0)


@pytest.mark.parametrize(
    ("before", "after", "percent", "text"),
    [
        ("200", "250", "25.0", "+25.0 %"),
        ("200", "50", "-75.0", "-75.0 %"),
        ("3", "2", "-33.3", "-33.3 %"),
        ("5", "5", "0.0", "no change"),
        ("0", "430", None, "new (was $0.00)"),
        ("0", "0", None, "no change"),
        ("-5", "5", None, "n/a"),
        (None, "5", None, "n/a"),
        ("5", None, None, "n/a"),
    ],
)
def test_change_in_percent(  # C018
    before: str | None, after: str | None, percent: str | None, text: str
) -> None:
    old = None if before is None else Money.of(before)
    new = None if after is None else Money.of(after)

    assert percent_change(old, new) == (None if percent is None else Decimal(percent))
    assert describe_change(old, new) == text
