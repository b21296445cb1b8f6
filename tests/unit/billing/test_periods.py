"""Half-open UTC time, billing days and months."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.periods import (
    DAY,
    InvalidPeriodError,
    Period,
    day_of,
    day_period,
    days_between,
    month_start,
    next_month,
    previous_month,
    rfc3339,
    utc,
)
from tests.builders import at, day, period

dates = st.dates(min_value=date(1970, 1, 1), max_value=date(2200, 1, 1))
hours = st.integers(min_value=0, max_value=100)
INDIA = timezone(timedelta(hours=5, minutes=30))


def test_end_of_a_period_is_outside() -> None:
    found = period("2026-11-01", "2026-11-02")

    assert at("2026-11-01") in found
    assert at("2026-11-01T23:59:59.999999Z") in found
    assert at("2026-11-02") not in found


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (datetime(2026, 11, 1), datetime(2026, 11, 2, tzinfo=UTC)),  # noqa: DTZ001
        (datetime(2026, 11, 1, tzinfo=INDIA), datetime(2026, 11, 2, tzinfo=UTC)),
        (at("2026-11-02"), at("2026-11-01")),
    ],
    ids=["naive", "other-zone", "reversed"],
)
def test_periods_are_aware_utc_and_forward(start: datetime, end: datetime) -> None:
    with pytest.raises(InvalidPeriodError):
        Period(start, end)


def test_touching_periods_share_nothing() -> None:
    one = period("2026-11-01", "2026-11-02")
    two = period("2026-11-02", "2026-11-03")

    assert one.overlap(two) is None


def test_billing_day_is_the_utc_day() -> None:
    evening_in_india = datetime(2026, 11, 2, 2, tzinfo=INDIA)

    assert day_of(evening_in_india) == date(2026, 11, 1)
    assert utc(evening_in_india).tzinfo is UTC


def test_naive_instant_has_no_utc() -> None:
    with pytest.raises(InvalidPeriodError):
        utc(datetime(2026, 11, 1))  # noqa: DTZ001


def test_months_around_the_year() -> None:
    assert next_month(day("2026-12-31")) == date(2027, 1, 1)
    assert previous_month(day("2027-01-01")) == date(2026, 12, 1)
    assert next_month(day("2028-01-31")) == date(2028, 2, 1)


@given(dates)
def test_months_are_neighbours(some: date) -> None:
    first = month_start(some)

    assert previous_month(next_month(some)) == first
    assert first <= some < next_month(some)


@given(dates, st.integers(min_value=0, max_value=70))
def test_days_cover_their_span_once(since: date, count: int) -> None:
    until = since + count * DAY

    days = list(days_between(since, until))

    assert len(days) == count
    assert all(day_period(one).duration == timedelta(hours=24) for one in days)
    assert days == sorted(set(days))


@given(hours, hours, hours, hours)
def test_overlap_is_symmetric_and_inside_both(
    start: int, length: int, other_start: int, other_length: int
) -> None:
    zero, hour = at("2026-11-01"), timedelta(hours=1)
    one = Period(zero + start * hour, zero + (start + length) * hour)
    two = Period(zero + other_start * hour, zero + (other_start + other_length) * hour)

    shared = one.overlap(two)

    assert shared == two.overlap(one)
    if shared is not None:
        assert shared.start in one
        assert shared.start in two
        assert shared.end <= min(one.end, two.end)


def test_instants_are_written_with_z() -> None:
    assert rfc3339(at("2026-11-30T09:00:00.5Z")) == "2026-11-30T09:00:00.500000Z"
