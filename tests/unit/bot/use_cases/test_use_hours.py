"""Hours of use: whole hours, means over accelerators, gaps that stay gaps."""

from __future__ import annotations

from datetime import timedelta
from math import nan
from typing import TYPE_CHECKING

from billing.core.fleet import ScopeFailure
from billing.core.periods import Period
from billing.ports import MetricSeries
from bot.use_cases.use_hours import due_hours, hours_of, ingest_use
from tests.builders import NOW, REGION, at, period
from tests.builders_use_cases import Company, runs
from tests.fakes.sources import InMemoryMetricSource

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

WINDOW = period("2026-11-30T07:00Z", "2026-11-30T09:00Z")


def _series(
    *values: float | None,
    part: str = "0",
    resource: str = "i-1",
    signal: str = "gpu_utilization",
) -> MetricSeries:
    start = at("2026-11-30T07:00Z")
    points = [
        (start + number * timedelta(minutes=5), value)
        for number, value in enumerate(values)
        if value is not None
    ]
    return MetricSeries(
        resource_id=resource,
        signal=signal,
        part=part,
        points=tuple(points),
        period_s=300,
    )


def test_an_hour_is_the_mean_over_all_its_accelerators() -> None:
    found = hours_of([_series(*[90] * 12), _series(*[10] * 12, part="1")], WINDOW)

    ((one),) = found
    assert (one.resource_id, one.hour) == ("i-1", at("2026-11-30T07:00Z"))
    assert (one.gpu_pct, one.covered_s) == (50, 3600)


def test_a_gap_is_not_covered_and_not_zero() -> None:
    (one,) = hours_of([_series(80, None, None, 80)], WINDOW)

    assert (one.gpu_pct, one.covered_s) == (80, 600)


def test_what_is_no_number_and_no_gpu_is_left_out() -> None:
    series = [_series(nan), _series(5, signal="cpu_utilization", resource="i-2")]

    assert hours_of(series, WINDOW) == []


def test_points_outside_the_window_are_left_out() -> None:
    window = Period(at("2026-11-30T08:00Z"), at("2026-11-30T09:00Z"))

    assert hours_of([_series(*[50] * 12)], window) == []


def test_hours_are_read_once_they_are_over_and_settled() -> None:
    assert due_hours(at("2026-11-30T05:00Z"), at("2026-11-30T09:05Z")) == period(
        "2026-11-30T05:00Z", "2026-11-30T08:00Z"
    )
    assert due_hours(at("2026-11-30T05:00Z"), at("2026-11-30T09:20Z")).end == at(
        "2026-11-30T09:00Z"
    )


def test_what_is_long_gone_is_not_caught_up() -> None:
    for last in (None, at("2026-01-01")):
        found = due_hours(last, NOW)
        assert found.duration == timedelta(hours=48)


def test_nothing_is_due_twice_within_an_hour() -> None:
    found = due_hours(at("2026-11-30T08:00Z"), at("2026-11-30T09:16Z"))

    assert found == period("2026-11-30T08:00Z", "2026-11-30T09:00Z")


def test_a_clock_that_went_back_reads_nothing() -> None:
    assert due_hours(at("2026-12-30"), NOW).duration == timedelta()


def test_measured_hours_are_kept_and_the_rest_is_named(store: SqlStore) -> None:
    company = Company(store)
    company.is_watched(
        runs("i-1", since="2026-11-30T06:00Z"),
        runs("i-2", since="2026-11-30T06:00Z"),
        runs("i-3", since="2026-11-30T06:00Z", instance_type="m7i.large"),
        at_="2026-11-30T06:00Z",
    )
    failure = ScopeFailure(
        source="metrics",
        account="999999999999",
        region=REGION,
        code="Denied",
        message="no",
    )
    metrics = InMemoryMetricSource(known=[_series(*[3] * 12)], failures=[failure])

    outcome = ingest_use(metrics, store, now=NOW)

    assert outcome.notes == ("metrics: 1 hour of use, 1 of 2 instances measured",)
    assert outcome.errors == (failure,)
    with store.read() as unit:
        (one,) = unit.ledger.hours_of_use(["i-1", "i-2"], WINDOW)
    assert one.gpu_pct == 3


def test_without_accelerators_nothing_is_asked(store: SqlStore) -> None:
    outcome = ingest_use(InMemoryMetricSource(), store, now=NOW)

    assert outcome.notes == ("metrics: no instance with accelerators ran",)
