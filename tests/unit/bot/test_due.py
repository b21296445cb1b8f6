from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.use_cases.due import Calendar, Every, due

NEW_YORK = ZoneInfo("America/New_York")
BERLIN = ZoneInfo("Europe/Berlin")
MONDAY_NINE = Calendar(every="week", at=time(9), zone=BERLIN)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def test_a_missed_week_is_caught_up_once_with_its_own_slot() -> None:  # C118
    last = at("2026-11-23T08:00Z")
    back_at = at("2026-11-30T10:00Z")

    slot = due(MONDAY_NINE, last, back_at)

    assert slot == at("2026-11-30T08:00Z")
    assert due(MONDAY_NINE, slot, back_at + timedelta(minutes=5)) is None


def test_two_missed_hours_are_one_run() -> None:  # C118
    hourly = Every(timedelta(hours=1))

    slot = due(hourly, at("2026-11-30T08:00Z"), at("2026-11-30T11:10Z"))

    assert slot == at("2026-11-30T11:00Z")


def test_four_seconds_late_is_still_due() -> None:  # C117
    assert due(MONDAY_NINE, at("2026-11-23T08:00Z"), at("2026-11-30T08:00:04Z"))


@pytest.mark.parametrize(
    ("weekday", "day"), [(0, "2026-11-30"), (6, "2026-11-29")], ids=["mon", "sun"]
)
def test_weekday_zero_is_monday(weekday: int, day: str) -> None:  # C120
    schedule = Calendar(every="week", at=time(9), zone=ZoneInfo("UTC"), weekday=weekday)

    assert schedule.slot_at(at("2026-11-30T12:00Z")) == at(f"{day}T09:00Z")


def test_an_hour_that_occurs_twice_counts_once() -> None:  # C121
    nightly = Calendar(every="day", at=time(1, 30), zone=NEW_YORK)
    instants = [at("2026-11-01T04:00Z") + timedelta(minutes=15) * n for n in range(20)]

    slots = {nightly.slot_at(instant) for instant in instants}

    assert slots == {at("2026-10-31T05:30Z"), at("2026-11-01T05:30Z")}


def test_an_hour_that_is_skipped_moves_forward() -> None:  # C121
    nightly = Calendar(every="day", at=time(2, 30), zone=NEW_YORK)

    assert nightly.slot_at(at("2026-03-08T12:00Z")) == at("2026-03-08T03:30-04:00")


def test_a_monthly_slot_is_the_first_of_the_month() -> None:
    monthly = Calendar(every="month", at=time(9), zone=BERLIN)

    assert monthly.slot_at(at("2026-11-30T12:00Z")) == at("2026-11-01T08:00Z")
    assert monthly.next_after(at("2026-11-30T12:00Z")) == at("2026-12-01T08:00Z")


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.sampled_from(["day", "week", "month"]),
    st.times(),
    st.sampled_from(
        ["America/New_York", "Europe/Helsinki", "Australia/Lord_Howe", "UTC"]
    ),
)
def test_the_next_slot_is_always_later(
    now: datetime, every: str, clock: time, zone: str
) -> None:
    schedule = Calendar(every=every, at=clock.replace(tzinfo=None), zone=ZoneInfo(zone))

    slot, following = schedule.slot_at(now), schedule.next_after(now)

    assert slot <= now < following
    assert schedule.slot_at(following) == following
