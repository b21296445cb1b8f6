"""Leaks of a run: every cent in one place, nothing invented, the first name counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.charges import CostCategory
from billing.core.leak_time import Time, UseOfTime, merged, pieces, spans_of
from billing.core.leaks import CostLine, Leak, LeakFacts, LeakReport, leaks
from billing.core.money import Money, Rate
from billing.core.periods import Period, day_of
from billing.core.progress import Counter, ProgressReport, progress_of
from tests.builders import ACCOUNT, at, day, period, usd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DAY = "2026-11-28"
HOUR = timedelta(hours=1)


def _line(amount: str, usage: str = "BoxUsage:p5.48xlarge", **values: Any) -> CostLine:
    category = values.pop("category", CostCategory.COMPUTE)
    return CostLine(
        account=ACCOUNT, day=day(values.pop("on", DAY)), category=category,
        amount=usd(amount), is_open=values.pop("is_open", False), usage_type=usage,
        region="us-east-1", **values,
    )  # fmt: skip


def _times(
    start: str = f"{DAY}T00:00Z", hours: int = 24, *, names: Sequence[str] = ("i-1",)
) -> list[Time]:
    begin = at(start)
    return [
        Time(account=ACCOUNT, resource_id=name, period=piece, weight=10)
        for name in names
        for piece in pieces(Period(begin, begin + hours * HOUR))
    ]


def _used(times: Iterable[Time], percents: Sequence[float], seconds: int = 3600) -> Any:
    return {
        (one.resource_id, one.hour): (percent, seconds)
        for one, percent in zip(times, percents, strict=True)
    }


def _watched(facts: LeakFacts) -> LeakFacts:
    return replace(facts, watched_since={ACCOUNT: at("2026-11-01")})


def _amounts(report: LeakReport) -> dict[str, str]:
    found: dict[str, Money] = {}
    for part in report.parts:
        found[part.key] = found.get(part.key, usd("0")) + part.amount
    return {key: amount.text() for key, amount in found.items()}


def _of(report: LeakReport, leak: Leak) -> Any:
    (found,) = [one for one in report.leaks if one.leak is leak]
    return found


def test_the_published_example_is_compute_before_overheads() -> None:
    # 32 x p5.48xlarge x 72 h at $98.32, as published: $226,529.28.
    cost = Rate.of("98.32").cost_of(timedelta(hours=72)) * 32
    names = [f"i-{number:02}" for number in range(32)]
    times = _times("2026-11-26T00:00Z", 72, names=names)
    days = ["2026-11-26", "2026-11-27", "2026-11-28"]
    a_day = Rate.of("98.32").cost_of(timedelta(hours=24)) * 32
    use = UseOfTime(hours=_used(times, [95.0] * len(times)))

    report = leaks(
        [_line(a_day.text(), on=on) for on in days],
        LeakFacts(times=times, use=use, counts_progress=True),
        "USD",
    )

    assert cost == usd("226529.28")
    assert _amounts(report) == {"compute": "226529.28"}
    assert report.avoidable == usd("0")


def test_idle_hours_are_idle_and_busy_ones_are_not() -> None:
    times = _times(hours=4)
    facts = LeakFacts(times=times, use=UseOfTime(hours=_used(times, [2, 90, 90, 4.9])))

    report = leaks([_line("400")], facts, "USD")

    assert _amounts(report) == {"idle and boot": "200.00", "compute": "200.00"}
    assert _of(report, Leak.IDLE).missing == ""


def test_below_the_target_the_missing_share_is_waiting() -> None:
    times = _times(hours=2)
    facts = LeakFacts(times=times, use=UseOfTime(hours=_used(times, [35, 70])))

    report = leaks([_line("400")], facts, "USD")

    # Half of an hour at half of 70 %.
    assert _amounts(report) == {
        "waiting at low utilisation": "100.00",
        "compute": "300.00",
    }


def test_unknown_utilisation_is_not_idle() -> None:
    report = leaks([_line("400")], LeakFacts(times=_times(hours=4)), "USD")

    assert _amounts(report) == {"compute": "400.00"}
    for leak in (Leak.IDLE, Leak.LOW):
        assert _of(report, leak).amount is None
        assert "100 %" in _of(report, leak).missing


def test_a_part_without_measurements_stays_in_compute_and_is_said() -> None:
    times = _times(hours=4)
    used = _used(times[:1], [0])

    report = leaks(
        [_line("400")], LeakFacts(times=times, use=UseOfTime(hours=used)), "USD"
    )

    assert _amounts(report) == {"idle and boot": "100.00", "compute": "300.00"}
    assert "75 %" in _of(report, Leak.IDLE).missing


def test_an_hour_that_is_half_measured_is_half_known() -> None:
    times = _times(hours=1)
    used = _used(times, [0], seconds=1800)

    report = leaks(
        [_line("400")], LeakFacts(times=times, use=UseOfTime(hours=used)), "USD"
    )

    assert _amounts(report) == {"idle and boot": "200.00", "compute": "200.00"}


def test_compute_of_a_day_that_nobody_watched_stays_compute() -> None:
    report = leaks([_line("400", on="2026-11-01")], LeakFacts(times=_times()), "USD")

    assert _amounts(report) == {"compute": "400.00"}
    assert _of(report, Leak.IDLE).amount is None


def _progress(*values: tuple[str, int]) -> Any:
    return progress_of(
        ProgressReport(counter=Counter.STEPS, at=at(f"{DAY}T{time}Z"), value=value)
        for time, value in values
    )


def test_work_done_again_is_lost_however_busy_it_was() -> None:
    times = _times(hours=4)
    found = _progress(
        ("00:00", 0),
        ("01:00", 1000),
        ("02:00", 2000),
        ("02:00:01", 1000),
        ("04:00", 3000),
    )
    lost, waiting = spans_of(found, times[0].period.start)
    use = UseOfTime(
        hours=_used(times, [95, 2, 95, 95]), lost=lost, waiting=waiting,
        restarts=found.restarts,
    )  # fmt: skip

    report = leaks(
        [_line("400")], LeakFacts(times=times, use=use, counts_progress=True), "USD"
    )

    # The second hour was idle by its mean; it was done again, so it is lost.
    assert _amounts(report)["work lost at restarts"] == "100.00"
    assert _of(report, Leak.RESTARTS).evidence[0] == "1 restart"
    assert "1.0 instance hours" in _of(report, Leak.RESTARTS).evidence[1]


def test_time_before_the_first_report_and_until_the_resumption_is_boot() -> None:
    times = _times(hours=4)
    found = _progress(
        ("01:00", 0), ("02:00", 100), ("03:00", 100), ("03:30", 90), ("04:00", 95)
    )
    lost, waiting = spans_of(found, times[0].period.start)

    assert waiting == (
        period(f"{DAY}T00:00Z", f"{DAY}T01:00Z"),
        period(f"{DAY}T03:00Z", f"{DAY}T03:30Z"),
    )
    use = UseOfTime(hours=_used(times, [95] * 4), lost=lost, waiting=waiting)
    report = leaks(
        [_line("400")], LeakFacts(times=times, use=use, counts_progress=True), "USD"
    )
    assert _amounts(report)["idle and boot"] == "150.00"


def test_a_counter_that_began_in_the_middle_says_nothing_of_boot() -> None:
    found = _progress(("01:00", 500), ("02:00", 600))

    assert spans_of(found, at(f"{DAY}T00:00Z")) == ((), ())


def test_without_progress_lost_work_is_unknown_and_reclaims_are_told() -> None:
    facts = LeakFacts(times=_times(), reclaimed=2)

    found = _of(leaks([_line("400")], facts, "USD"), Leak.RESTARTS)

    assert found.amount is None
    assert found.missing == "the job does not report how far it is"
    assert found.evidence == ("AWS took back spot instances: 2",)


@pytest.mark.parametrize(
    ("usage", "key"),
    [
        ("NatGateway-Bytes", "NAT gateways"),
        ("USE2-NatGateway-Hours", "NAT gateways"),
        ("DataTransfer-Regional-Bytes", "transfer between zones"),
        ("USW2-DataTransfer-xAZ-In-Bytes", "transfer between zones"),
        ("USE1-USW2-AWS-Out-Bytes", "transfer between regions"),
        ("DataTransfer-Out-Bytes", "network"),
        ("VpcEndpoint-Hours", "network"),
    ],
)
def test_network_is_called_by_what_it_is(usage: str, key: str) -> None:
    line = _line("12", usage, category=CostCategory.NETWORK)

    assert _amounts(leaks([line], LeakFacts(), "USD")) == {key: "12.00"}


def test_storage_of_days_without_an_instance_was_kept() -> None:
    lines = [
        _line("5", "EBS:VolumeUsage.gp3", category=CostCategory.STORAGE, on=on)
        for on in (DAY, "2026-11-29", "2026-11-30")
    ]

    report = leaks(lines, _watched(LeakFacts(times=_times())), "USD")

    assert _amounts(report) == {"storage": "5.00", "volumes oversized or kept": "10.00"}
    found = _of(report, Leak.VOLUMES)
    assert found.evidence[0] == "2 days without an instance"
    assert "$5.00" in found.missing


def test_checkpoints_are_object_storage_kept_after_the_run() -> None:
    line = _line(
        "7", "TimedStorage-ByteHrs", category=CostCategory.STORAGE, on="2026-11-29"
    )

    report = leaks([line], _watched(LeakFacts(times=_times())), "USD")

    assert _amounts(report) == {"checkpoints kept": "7.00"}


@pytest.mark.parametrize("watched", [{}, {ACCOUNT: at("2026-11-29T10:00Z")}])
def test_a_day_that_nobody_watched_is_not_called_empty(watched: Any) -> None:
    line = _line(
        "7", "TimedStorage-ByteHrs", category=CostCategory.STORAGE, on="2026-11-29"
    )
    facts = replace(LeakFacts(times=_times()), watched_since=watched)

    report = leaks([line], facts, "USD")

    assert _amounts(report) == {"storage": "7.00"}
    assert _of(report, Leak.CHECKPOINTS).amount is None


def _managed(amount: str, quantity: str | None = "10") -> CostLine:
    return _line(
        amount, "USE1-Train:ml.p5.48xlarge", category=CostCategory.MANAGED_SERVICE,
        quantity=None if quantity is None else Decimal(quantity),
    )  # fmt: skip


def test_the_premium_is_what_a_managed_instance_costs_above_plain_ec2() -> None:
    facts = LeakFacts(rates={("p5.48xlarge", "us-east-1"): Rate.of("98.32")})

    report = leaks([_managed("1130.68")], facts, "USD")

    assert _amounts(report) == {
        "managed-service premium": "147.48",
        "managed service": "983.20",
    }


@pytest.mark.parametrize(
    ("quantity", "rates"),
    [(None, {("p5.48xlarge", "us-east-1"): Rate.of("98.32")}), ("10", {})],
)
def test_a_premium_without_price_or_hours_is_unknown(quantity: Any, rates: Any) -> None:
    report = leaks([_managed("1130.68", quantity)], LeakFacts(rates=rates), "USD")

    assert _amounts(report) == {"managed service": "1130.68"}
    assert _of(report, Leak.PREMIUM).amount is None


def test_a_managed_instance_below_the_ec2_price_has_no_premium() -> None:
    facts = LeakFacts(rates={("p5.48xlarge", "us-east-1"): Rate.of("98.32")})

    report = leaks([_managed("500")], facts, "USD")

    assert _amounts(report) == {"managed service": "500.00"}
    assert _of(report, Leak.PREMIUM).amount == usd("0")


def test_a_run_without_any_leak_has_nothing_to_fix() -> None:
    times = _times()
    facts = LeakFacts(
        times=times, use=UseOfTime(hours=_used(times, [90] * 24)), counts_progress=True
    )

    report = leaks([_line("400")], facts, "USD")

    assert [one.fix for one in report.leaks if one.fix] == []
    assert all(one.amount == usd("0") for one in report.leaks)


def test_touching_spans_become_one() -> None:
    spans = [period("2026-11-02", "2026-11-03"), period("2026-11-01", "2026-11-02")]

    assert merged(spans) == (period("2026-11-01", "2026-11-03"),)


@given(
    amounts=st.lists(st.integers(-(10**12), 10**15), min_size=1, max_size=6),
    percents=st.lists(st.floats(0, 100), min_size=6, max_size=6),
    seconds=st.integers(0, 4000),
    lost=st.tuples(st.integers(0, 360), st.integers(0, 360)),
    hours=st.integers(0, 6),
)
def test_the_parts_are_always_the_whole(
    amounts: list[int], percents: list[float], seconds: int, lost: tuple[int, int],
    hours: int,
) -> None:  # fmt: skip
    begin = at(f"{DAY}T00:00Z")
    times = _times(hours=hours)
    low, high = sorted(lost)
    span = Period(begin + low * HOUR / 60, begin + high * HOUR / 60)
    use = UseOfTime(hours=_used(times, percents[:hours], seconds), lost=merged([span]))
    lines = [
        replace(
            _line("0", is_open=bool(number % 2)), amount=Money(nanos), day=day_of(begin)
        )
        for number, nanos in enumerate(amounts)
    ]

    report = leaks(lines, LeakFacts(times=times, use=use), "USD")

    assert sum(part.amount.nanos for part in report.parts) == sum(amounts)
    for is_open in (False, True):
        told = sum(p.amount.nanos for p in report.parts if p.line.is_open is is_open)
        assert told == sum(one.amount.nanos for one in lines if one.is_open is is_open)
