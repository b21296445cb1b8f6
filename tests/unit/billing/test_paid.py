"""Fees found in the bill, and the share of list price that was paid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest

from billing.core.fees import fee_lines, fee_of
from billing.core.money import Money, Rate
from billing.core.paid_shares import BilledHours, paid_shares
from billing.core.resources import Reservation, ReservationKind
from tests.builders import ACCOUNT, REGION, at, day, usd

SINCE, UNTIL = day("2026-11-20"), day("2026-11-27")


@dataclass(frozen=True, slots=True)
class Line:
    account: str
    day: date
    usage_type: str
    billed: Money
    is_credit: bool = False


BLOCK = Reservation(
    reservation_id="cr-1",
    kind=ReservationKind.CAPACITY_BLOCK,
    account=ACCOUNT,
    region=REGION,
    zone="us-east-1a",
    instance_type="p5.48xlarge",
    count=2,
    available=0,
    state="active",
    starts_at=at("2026-03-04"),
    ends_at=at("2026-03-08"),
    bought_at=at("2026-02-26T20:00Z"),
)
FEE = Line(
    ACCOUNT, day("2026-02-26"), "USE1-CapacityBlock:p5.48xlarge", usd("18432.00")
)


def test_a_block_costs_its_fee_over_its_instance_hours() -> None:  # C039
    assert replace(BLOCK, fee=usd("18432.00")).rate == Rate.of("96")


def test_an_extension_is_spread_with_the_fee() -> None:
    extended = replace(
        BLOCK,
        ends_at=at("2026-03-09"),
        fee=usd("18432.00"),
        extension_fee=usd("5568.00"),
    )

    assert extended.rate == Rate.of("100")


def test_an_extended_block_without_its_own_fee_has_no_rate() -> None:
    assert replace(BLOCK, extension_fee=usd("5568.00")).rate is None


def test_the_fee_is_the_line_of_its_type_on_the_days_of_the_purchase() -> None:
    lines = [
        FEE,
        replace(FEE, day=day("2026-02-25")),
        replace(FEE, usage_type="USE1-CapacityBlock:p4d.24xlarge"),
        replace(FEE, usage_type="USE1-BoxUsage:p5.48xlarge"),
        replace(FEE, account="999999999999"),
        replace(FEE, is_credit=True),
    ]

    found = fee_lines(BLOCK, [BLOCK], lines)

    assert found == [FEE]
    assert fee_of(found) == usd("18432.00")


def test_a_fee_billed_after_midnight_is_found() -> None:
    late = replace(FEE, day=day("2026-02-27"))

    assert fee_lines(BLOCK, [BLOCK], [late]) == [late]


def test_two_blocks_of_one_purchase_cannot_be_told_apart() -> None:
    twin = replace(BLOCK, reservation_id="cr-2", bought_at=at("2026-02-27T01:00Z"))

    assert fee_lines(BLOCK, [BLOCK, twin], [FEE]) == ()


def test_no_line_is_no_fee_rather_than_zero() -> None:
    assert fee_of([]) is None


def hours(effective: str, **fields: object) -> BilledHours:
    values = {
        "account": ACCOUNT,
        "instance_type": "p5.48xlarge",
        "region": REGION,
        "hours": Decimal(10),
    }
    return BilledHours(effective=usd(effective), **(values | fields))  # type: ignore[arg-type] # the fields of the value


def price(instance_type: str, region: str) -> int | None:
    del region
    return usd("100").nanos if instance_type.startswith("p5.") else None


def test_the_share_is_what_was_paid_over_the_public_price() -> None:
    (found,) = paid_shares([hours("700"), hours("900")], price, SINCE, UNTIL)

    assert found.share == Fraction(4, 5)
    assert found.text == (
        f"p5 in {ACCOUNT}: 80 % of list price, as billed 2026-11-20 to 2026-11-26"
    )


def test_the_list_cost_of_the_bill_comes_before_a_price() -> None:
    (found,) = paid_shares([hours("700", list_cost=usd("1400"))], price, SINCE, UNTIL)

    assert found.share == Fraction(1, 2)


def test_a_family_with_hours_of_unknown_price_has_no_share() -> None:
    mixed = [hours("700"), hours("100", instance_type="p5.4xlarge")]
    unpriced = [hours("700", instance_type="g5.xlarge"), *mixed]

    found = paid_shares(unpriced, price, SINCE, UNTIL)

    assert [one.family for one in found] == ["p5"]


@pytest.mark.parametrize("effective", ["0", "-5", "1500"])
def test_what_is_no_share_of_list_price_is_not_used(effective: str) -> None:
    (found,) = paid_shares([hours(effective)], price, SINCE, UNTIL)

    assert found.share is None
