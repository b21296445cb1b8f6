"""Progress of a job: growing counters, restarts, late reports and gaps."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.periods import Period
from billing.core.progress import Counter, ProgressReport, progress_of
from tests.builders import at


def _reports(
    *values: tuple[str, int], attempt: int | None = None
) -> list[ProgressReport]:
    return [
        ProgressReport(
            counter=Counter.STEPS, at=at(f"2026-11-30T{time}Z"), value=value,
            attempt=attempt,
        )
        for time, value in values
    ]  # fmt: skip


def test_no_report_is_no_progress_and_not_zero() -> None:
    assert progress_of([]) is None


def test_a_counter_that_grows_is_useful_work_at_a_rate() -> None:
    found = progress_of(_reports(("00:00", 0), ("01:00", 500), ("02:00", 1000)))

    assert found is not None
    assert (found.useful, found.lost, found.restarts) == (1000, 0, ())
    assert found.per_hour == 500


def test_one_report_has_a_value_and_no_rate() -> None:
    found = progress_of(_reports(("00:00", 40)))

    assert found is not None
    assert (found.last_value, found.useful, found.per_hour) == (40, 0, None)


def test_a_job_resumed_from_step_900_after_1000_lost_100_steps() -> None:
    found = progress_of(
        _reports(("00:00", 0), ("01:00", 1000), ("01:30", 900), ("02:30", 1900))
    )

    assert found is not None
    assert (found.useful, found.lost) == (1900, 100)
    (restart,) = found.restarts
    assert restart.lost == 100
    assert restart.resumed_at == at("2026-11-30T01:30Z")


def test_lost_work_took_the_time_since_the_counter_passed_the_resumed_value() -> None:
    found = progress_of(_reports(("00:00", 0), ("01:00", 1000), ("01:30", 900)))

    assert found is not None
    (restart,) = found.restarts
    assert restart.lost_time == Period(at("2026-11-30T00:54Z"), at("2026-11-30T01:00Z"))


def test_a_second_fall_below_the_first_does_not_reach_over_it() -> None:
    found = progress_of(
        _reports(("00:00", 0), ("01:00", 1000), ("02:00", 900), ("03:00", 950), ("04:00", 500))
    )  # fmt: skip

    assert found is not None
    first, second = found.restarts
    assert first.lost_time.end <= second.lost_time.start
    assert second.lost_time == Period(at("2026-11-30T02:00Z"), at("2026-11-30T03:00Z"))


def test_within_one_attempt_a_smaller_value_is_a_late_report() -> None:
    reports = _reports(
        ("00:00", 0), ("01:00", 1000), ("01:01", 995), ("02:00", 2000), attempt=1
    )

    found = progress_of(reports)

    assert found is not None
    assert (found.useful, found.lost, found.restarts) == (2000, 0, ())


def test_a_new_attempt_that_goes_on_where_the_old_one_was_lost_nothing() -> None:
    reports = [
        *_reports(("00:00", 0), ("01:00", 1000), attempt=1),
        *_reports(("02:00", 1000), ("03:00", 2000), attempt=2),
    ]

    found = progress_of(reports)

    assert found is not None
    assert (found.useful, found.lost) == (2000, 0)


def test_the_order_of_arrival_does_not_matter() -> None:
    reports = _reports(("00:00", 0), ("01:00", 1000), ("01:30", 900), ("02:30", 1900))

    assert progress_of(reversed(reports)) == progress_of(reports)


def test_a_span_without_reports_is_a_gap_and_in_no_rate() -> None:
    found = progress_of(
        _reports(
            ("00:00", 0), ("00:10", 100), ("00:20", 200), ("05:20", 210), ("05:30", 310),
        )
    )  # fmt: skip

    assert found is not None
    assert found.gaps == (Period(at("2026-11-30T00:20Z"), at("2026-11-30T05:20Z")),)
    assert (found.seen, found.seen_time) == (300, timedelta(minutes=30))
    assert found.per_hour == 600
    assert found.useful == 310


def test_a_counter_first_seen_late_says_where_it_began() -> None:
    found = progress_of(_reports(("00:00", 5000), ("01:00", 6000)))

    assert found is not None
    assert (found.begins_at, found.useful) == (5000, 1000)


def test_starting_over_loses_everything_before() -> None:
    found = progress_of(
        _reports(("00:00", 700), ("01:00", 800), ("02:00", 0), ("03:00", 50))
    )

    assert found is not None
    assert (found.begins_at, found.useful, found.lost) == (0, 50, 800)


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=30))
def test_useful_and_lost_work_are_all_that_was_ever_counted(values: list[int]) -> None:
    start = at("2026-11-01T00:00Z")
    reports = [
        ProgressReport(
            counter=Counter.TOKENS,
            at=start + number * timedelta(minutes=1),
            value=value,
        )
        for number, value in enumerate(values)
    ]

    found = progress_of(reports)

    assert found is not None
    grown = sum(max(after - before, 0) for before, after in pairwise(values))
    assert found.useful + found.lost == grown + values[0] - found.begins_at
    assert found.useful >= 0
    for restart in found.restarts:
        assert restart.lost_time.end <= restart.resumed_at


@pytest.mark.parametrize("value", [0, 2**63 - 1])
def test_the_largest_counter_stays_exact(value: int) -> None:
    found = progress_of(_reports(("00:00", 0), ("01:00", value)))

    assert found is not None
    assert found.per_hour == Fraction(value)
