"""How far a bill is complete."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import pytest

from billing.core.completeness import billed_through, gpu_hours_by_day
from billing.core.fleet import Lifecycle
from tests.builders import at, day, make_interval, make_volume_interval

FIRST = day("2026-11-10")


@dataclass(frozen=True)
class Stored:
    day: date
    is_estimated: bool = True
    equal_reads: int = 0


def through(
    *days: Stored,
    seen: dict[str, float] | None = None,
    billed: dict[str, float] | None = None,
    covered: tuple[str, ...] = (),
    now: str = "2026-11-12T12:00Z",
) -> str | None:
    found = billed_through(
        days,
        seen_hours={day(key): value for key, value in (seen or {}).items()},
        billed_hours={day(key): value for key, value in (billed or {}).items()},
        covered_days={day(key) for key in covered},
        now=at(now),
    )
    return None if found is None else found.date().isoformat()


@pytest.mark.parametrize(
    ("billed", "expected"),
    [(100.0, "2026-11-11"), (98.0, "2026-11-11"), (97.9, None), (0.0, None)],
    ids=["all", "at-98-percent", "just-under", "none"],
)
def test_day_with_enough_billed_hours_is_complete(
    billed: float, expected: str | None
) -> None:
    found = through(
        Stored(FIRST),
        seen={"2026-11-10": 100},
        billed={"2026-11-10": billed},
        covered=("2026-11-10",),
    )

    assert found == expected


def test_hours_say_nothing_of_a_day_that_nobody_watched() -> None:
    found = through(Stored(FIRST), seen={"2026-11-10": 100}, billed={"2026-11-10": 100})

    assert found is None


def test_final_day_is_complete() -> None:
    assert through(Stored(FIRST, is_estimated=False)) == "2026-11-11"


@pytest.mark.parametrize(
    ("now", "equal_reads", "expected"),
    [
        ("2026-11-14T00:00Z", 1, "2026-11-11"),
        ("2026-11-13T23:59Z", 1, None),
        ("2026-11-14T00:00Z", 0, None),
    ],
    ids=["72-hours-and-equal", "too-young", "read-once"],
)
def test_old_day_must_have_been_read_twice_alike(
    now: str, equal_reads: int, expected: str | None
) -> None:
    found = through(
        Stored(FIRST, equal_reads=equal_reads), seen={"2026-11-10": 5}, now=now
    )

    assert found == expected


def test_one_reading_settles_an_old_day_in_which_nothing_ran() -> None:
    assert through(Stored(FIRST), now="2026-11-14T00:00Z") == "2026-11-11"


@pytest.mark.parametrize(
    ("now", "expected"),
    [("2026-11-12T00:00Z", "2026-11-11"), ("2026-11-11T23:00Z", None)],
    ids=["after-a-day", "too-soon"],
)
def test_watched_day_without_gpus_waits_a_day_for_its_bill(
    now: str, expected: str | None
) -> None:
    assert through(Stored(FIRST), covered=("2026-11-10",), now=now) == expected


def test_incomplete_day_holds_back_all_after_it() -> None:
    days = [
        Stored(FIRST, is_estimated=False),
        Stored(day("2026-11-11")),
        Stored(day("2026-11-12"), is_estimated=False),
    ]

    found = through(*days, seen={"2026-11-11": 5}, now="2026-11-13T12:00Z")

    assert found == "2026-11-11"


def test_missing_day_holds_back_all_after_it() -> None:
    days = [
        Stored(day("2026-11-12"), is_estimated=False),
        Stored(FIRST, is_estimated=False),
    ]

    assert through(*days, now="2026-11-20T00:00Z") == "2026-11-11"


def test_day_that_goes_on_is_never_complete() -> None:
    found = through(
        Stored(day("2026-11-12"), is_estimated=False), now="2026-11-12T23:59Z"
    )

    assert found is None


def test_no_days_no_bill() -> None:
    assert through() is None


def test_seen_hours_count_gpu_instances_by_day() -> None:
    intervals = [
        make_interval(start="2026-11-10T18:00Z", end="2026-11-11T06:00Z"),
        make_interval(resource_id="i-2", start="2026-11-11T20:00Z"),
        make_interval(resource_id="i-3", start="2026-11-10", shape="m5.xlarge"),
        make_volume_interval(start="2026-11-10"),
        make_interval(
            resource_id="i-4",
            start="2026-11-10T10:00Z",
            end="2026-11-10T10:30Z",
            lifecycle=Lifecycle.SPOT,
            is_reclaimed=True,
        ),
        make_interval(
            resource_id="i-5", start="2026-11-10", lifecycle=Lifecycle.CAPACITY_BLOCK
        ),
    ]

    hours = gpu_hours_by_day(
        intervals, FIRST, FIRST + timedelta(days=3), at("2026-11-11T22:00Z")
    )

    assert hours == {
        day("2026-11-10"): 6.0,
        day("2026-11-11"): 8.0,
        day("2026-11-12"): 0.0,
    }
