"""Quantities as people write them; strict, and exact."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.money import Money
from policies.core.quantities import (
    QuantityError,
    duration_text,
    money_text,
    parse_count,
    parse_duration,
    parse_limit,
    parse_money,
    parse_percent,
    parse_percent_range,
    parse_steps,
)


# C110, C133
@pytest.mark.parametrize(
    "text",
    [
        *("$10,000", "10K", "10k", "10000 USD", "1e4", "1.0e4", "1.0e+4", "10_000"),
        *("$10000", "10000", "10,000.00", "$ 10,000", "$10k", "0.01M", " $10,000 "),
    ],
)
def test_an_amount_has_many_spellings(text: str) -> None:
    assert parse_money(text) == Money.of("10000")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("2.340,50", "write 2340.50"),
        ("1,5", "write 1.5"),
        ("10,00", "write 10.00"),
        ("1.2.3", "thousands"),
        ("-5", "negative"),
        ("$-5", "negative"),
        ("−5", "negative"),  # noqa: RUF001
        ("$5 EUR", "not both"),
    ],
)
def test_an_ambiguous_amount_is_refused_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_money(text)

    assert hint in caught.value.hint
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "$", "NaN", ".nan", "inf", "1e99", "1e999", "ten", "10 000", "0x10"),
        *("1__0", "_1", "$10,000/month", "٣", "1e4k", "9999999999", "0.0000000001"),
    ],
)
def test_what_is_no_exact_amount_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_money(text)


@given(st.integers(min_value=0, max_value=10**15))
def test_an_amount_survives_being_written_and_read(nanos: int) -> None:
    amount = Money(nanos)

    assert parse_money(money_text(amount)) == amount


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("30m", timedelta(minutes=30)),
        ("24h", timedelta(days=1)),
        ("7d", timedelta(days=7)),
        ("1h30m", timedelta(minutes=90)),
        ("2w", timedelta(days=14)),
        ("90s", timedelta(seconds=90)),
    ],
)
def test_a_duration_is_read(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("30", "30m, 30h or 30d"),
        ("2 hrs", "write 2h"),
        ("30 min", "write 30m"),
        ("1.5h", "1h30m"),
    ],
)
def test_a_loose_duration_is_refused_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_duration(text)

    assert hint in caught.value.hint


@pytest.mark.parametrize("text", ["", "0m", "1m1h", "99999d", "-1h", "h"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_duration(text)


@given(st.integers(min_value=1, max_value=86_400 * 3_650))
def test_a_duration_survives_being_written_and_read(seconds: int) -> None:
    length = timedelta(seconds=seconds)

    assert parse_duration(duration_text(length)) == length


def test_a_percentage_is_an_exact_share() -> None:
    assert parse_percent("20%") == Fraction(1, 5)
    assert parse_percent("0%") == 0


@pytest.mark.parametrize("text", ["20", "0.2", "101%", "-1%", "%", "1,5%"])
def test_what_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_percent(text)


def test_a_band_is_read_and_written() -> None:
    assert str(parse_percent_range("60%..70%")) == "60%..70%"


@pytest.mark.parametrize("text", ["60%-70%", "70%..60%", "60..70", "60%", "60%..170%"])
def test_what_is_no_band_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_percent_range(text)


@pytest.mark.parametrize(
    ("text", "sample", "holds"),
    [
        ("< 5%", 4.9, True),
        ("< 5%", 5.0, False),
        ("<= 5%", 5.0, True),
        ("> 5%", 5.0, False),
        (">= 5%", 5.0, True),
    ],
)
def test_a_comparison_is_strict_where_it_says_so(
    text: str, sample: float, *, holds: bool
) -> None:
    assert parse_limit(text, unit="%").holds(sample) is holds


@pytest.mark.parametrize(
    ("text", "bytes_per_s"),
    [("< 1 MB/s", 1e6), ("<1MB/s", 1e6), ("< 1 MiB/s", 2**20), ("< 500 kB/s", 5e5)],
)
def test_a_rate_of_bytes_is_read(text: str, bytes_per_s: float) -> None:
    assert parse_limit(text, unit="B/s").value == bytes_per_s


@pytest.mark.parametrize("text", ["1 MB/s", "< 1 MB", "< 1", "= 1 MB/s", "< x MB/s"])
def test_what_is_no_comparison_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_limit(text, unit="B/s")


def test_steps_carry_their_unit() -> None:
    assert parse_steps("10000 steps") == 10_000
    with pytest.raises(QuantityError):
        parse_steps("10000")


@pytest.mark.parametrize("text", ["1.5", "-1", "1e-1", "two"])
def test_a_count_is_whole(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_count(text)


@given(st.text(max_size=80))
def test_no_text_breaks_a_parser(text: str) -> None:
    for parse in (parse_money, parse_duration, parse_percent, parse_steps, parse_count):
        with suppress(QuantityError):
            parse(text)
