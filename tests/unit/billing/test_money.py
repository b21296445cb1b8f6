"""Exact amounts, their texts and their division."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.money import (
    NANOS_MAX,
    InvalidAmountError,
    MixedCurrencyError,
    Money,
    Rate,
    nanos_from_text,
    people_text,
    split,
    total,
)
from tests.builders import usd

nanos = st.integers(min_value=-NANOS_MAX, max_value=NANOS_MAX)
weights = st.lists(st.integers(min_value=0, max_value=10**9), min_size=1, max_size=8)


def test_scientific_notation_is_read_exactly() -> None:  # C015
    texts = ["1.2E-7", "0E-10", "-3.0E-7", "19.99"]

    whole = total(Money.of(text) for text in texts)

    assert whole.text() == "19.98999982"
    assert str(whole) == "$19.99"


def test_negative_dust_is_shown_as_zero_without_a_sign() -> None:  # C015
    assert str(Money.of("-1.8E-7")) == "$0.00"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-12.5", "-$12.50"),
        ("-0.001", "$0.00"),
        ("1234567.891", "$1,234,567.89"),
        ("1E+3", "$1,000.00"),
        ("0.125", "$0.12"),
        ("0.135", "$0.14"),
        ("-0.005", "$0.00"),
        ("-0.0051", "-$0.01"),
    ],
)
def test_amounts_for_people(text: str, shown: str) -> None:  # C156
    assert str(Money.of(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "NaN",
        "sNaN",
        "Infinity",
        "-inf",
        "1,000",
        "$5",
        "0x10",
        "1_000",
        "\u0661\u0662",
        "1e500000",
        "1e999999999",
        "9" * 400,
        "9223372036.854775808",
    ],
)
def test_text_that_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(InvalidAmountError):
        nanos_from_text(text)


@pytest.mark.parametrize("value", [0.1, 5, None, Decimal(1)])
def test_anything_but_text_is_refused(value: object) -> None:
    with pytest.raises(InvalidAmountError):
        nanos_from_text(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1.0, True, "1"])
def test_nanos_are_whole_numbers_only(value: object) -> None:
    with pytest.raises(InvalidAmountError):
        Money(value)  # type: ignore[arg-type]


def test_tiny_exponents_round_to_nothing_quickly() -> None:
    assert nanos_from_text("1e-999999999") == 0


def test_half_a_nano_rounds_to_even() -> None:
    assert [nanos_from_text(text) for text in ("0.5e-9", "1.5e-9", "-2.5e-9")] == [
        0,
        2,
        -2,
    ]


def test_currencies_never_mix() -> None:  # C042
    yuan = Money.of("70", "CNY")

    for operation in (yuan.__add__, yuan.__sub__, yuan.__lt__, yuan.__ge__):
        with pytest.raises(MixedCurrencyError):
            operation(usd("1"))
    with pytest.raises(MixedCurrencyError):
        Rate.of("1") + Rate.of("1", "CNY")
    assert yuan != usd("70")


def test_thirds_add_up() -> None:  # C155
    parts = split(usd("100"), [1, 1, 1])

    assert parts is not None
    assert total(parts) == usd("100")
    assert [str(part) for part in parts] == ["$33.33", "$33.33", "$33.33"]


def test_split_without_weights_is_nobodys() -> None:  # C155
    assert split(usd("41"), [0, 0]) is None
    assert split(usd("41"), []) is None


def test_negative_weight_is_refused() -> None:  # C155
    with pytest.raises(ValueError, match=r"must not be negative, got \[3, -1\]"):
        split(usd("10"), [3, -1])


@given(nanos, weights)
def test_parts_sum_to_the_whole_and_none_turns_its_sign(
    amount: int, shares: list[int]
) -> None:
    parts = split(Money(amount), shares)

    if parts is None:
        assert sum(shares) == 0
        return
    assert total(parts) == Money(amount)
    for part, weight in zip(parts, shares, strict=True):
        exact = Fraction(amount * weight, sum(shares))
        assert abs(part.nanos - exact) < 1
        assert part.nanos * amount >= 0


@given(nanos)
def test_plain_text_reads_back_as_the_same_amount(amount: int) -> None:
    text = Money(amount).text()

    assert nanos_from_text(text) == amount
    assert "e" not in text.lower()
    assert len(text.partition(".")[2]) in range(2, 10)


@given(nanos)
def test_text_for_people_is_the_amount_to_the_cent(amount: int) -> None:
    shown = people_text(amount)

    digits = Decimal(shown.replace("$", "").replace(",", ""))
    assert abs(digits - Decimal(amount).scaleb(-9)) <= Decimal("0.005")
    assert shown != "-$0.00"
    assert shown.startswith(("$", "-$"))


@given(nanos, nanos)
def test_order_and_difference_agree(left: int, right: int) -> None:
    one, two = Money(left), Money(right)

    assert (one < two) == ((one - two).nanos < 0)
    assert (one >= two) == (not one < two)
    assert one - two == -(two - one)


@given(st.integers(min_value=0, max_value=10**12), st.timedeltas(timedelta(0)))
def test_cost_of_time_is_within_half_a_nano_of_exact(
    rate: int, length: timedelta
) -> None:
    cost = Rate(rate).cost_of(length)

    hours = Fraction(length // timedelta(microseconds=1), 3_600_000_000)
    assert abs(cost.nanos - rate * hours) <= Fraction(1, 2)
