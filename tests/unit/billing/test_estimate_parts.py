"""Checkpoints, servers of one's own, other counts, and what past runs teach."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.break_even import Servers, break_even
from billing.core.checkpoints_size import (
    BILLED_GB,
    GIGABYTE,
    CheckpointPlan,
    Optimizer,
    size_text,
)
from billing.core.estimate import EstimateRequest
from billing.core.estimate_history import calibrated, quantile, score
from billing.core.estimate_scaling import Measured, scaling_of
from billing.core.money import Rate
from billing.core.prices import Purchase
from tests.builders import usd
from tests.builders_estimates import make_past

WEEK = Fraction(24 * 7)
RUN = EstimateRequest(
    instance_type="p5.48xlarge", count=4, hours=Fraction(10), region="us-east-1"
)


def test_the_published_checkpoints_of_70b() -> None:
    plan = CheckpointPlan(params=70 * 10**9)

    assert plan.size == 140 * GIGABYTE
    assert plan.count(WEEK) == 336
    assert plan.written(WEEK) == 47_040 * GIGABYTE
    assert size_text(plan.written(WEEK)) == "47.04 TB"


def test_175b_at_two_bytes_is_350_gb() -> None:
    assert CheckpointPlan(params=175 * 10**9).size == 350 * GIGABYTE


def test_adam_adds_twelve_bytes_for_each_parameter() -> None:
    plan = CheckpointPlan(params=70 * 10**9, optimizer=Optimizer.ADAM)

    assert plan.size == 980 * GIGABYTE


def test_keeping_costs_size_times_time_kept() -> None:
    # One checkpoint of 1,000 GB, as AWS bills them, kept for a month at $0.023 each.
    plan = CheckpointPlan(
        params=1000 * BILLED_GB // 2, every=Fraction(1), keep=Fraction(730)
    )

    assert plan.cost(Fraction(1)) == usd("23")
    assert plan.cost(Fraction(10)) == usd("230")


def test_no_more_are_there_at_once_than_are_kept() -> None:
    plan = CheckpointPlan(params=1, every=Fraction(1), keep=Fraction(24))

    assert plan.kept_at_once(Fraction(10)) == 10
    assert plan.kept_at_once(Fraction(100)) == 24


def test_buying_pays_in_the_month_in_which_it_has_cost_less() -> None:
    servers = Servers(
        price=usd("73000"), power_kw=Fraction(10), cooling=Fraction(1),
        per_kwh=usd("0.10"), staff_per_month=usd("0"), failures=Fraction(0),
        utilisation=Fraction(1),
    )  # fmt: skip

    found = break_even(servers, Rate.of("11"), 1)

    # Rented 730 x $11 = $8,030 a month, owned 730 x 10 kW x $0.10 = $730.
    assert found.owned_per_month == usd("730")
    assert found.rented_per_month == usd("8030")
    assert found.month == 10


def test_servers_that_stand_idle_pay_later_or_never() -> None:
    def month(percent: int) -> int | None:
        servers = Servers(price=usd("300000"), utilisation=Fraction(percent, 100))
        return break_even(servers, Rate.of("55.04"), 8).month

    busy, half, idle = month(90), month(45), month(1)
    assert busy is not None
    assert half is not None
    assert busy < half
    assert idle is None


def published() -> list[Measured]:
    """Return the published times of one training on 4 to 32 GPUs."""
    times = {4: "14", 8: "7.5", 16: "4.2", 32: "2.9"}
    return [
        Measured(job=f"llm-{count}", count=count, hours=Fraction(text))
        for count, text in times.items()
    ]


def test_published_times_show_the_part_that_does_not_scale() -> None:
    found = scaling_of(published())

    assert found is not None
    for run in published():
        assert abs(found.hours(run.count) / run.hours - 1) < Fraction(1, 4)
    assert found.efficiency(4) == 1
    assert found.efficiency(32) < found.efficiency(8) < 1


def test_one_count_alone_says_nothing_of_others() -> None:
    same = [Measured(job=f"j{n}", count=8, hours=Fraction(n)) for n in (1, 2, 3)]

    assert scaling_of(same) is None
    assert scaling_of([]) is None


def test_runs_that_got_slower_with_more_instances_are_not_extrapolated() -> None:
    slower = [
        Measured(job="a", count=4, hours=Fraction(5)),
        Measured(job="b", count=8, hours=Fraction(9)),
    ]

    assert scaling_of(slower) is None


def test_counts_far_from_what_was_measured_are_not_offered() -> None:
    found = scaling_of(published())

    assert found is not None
    assert found.counts_near(32) == (8, 16, 64)
    assert found.counts_near(1000) == ()


@given(st.integers(1, 64), st.integers(1, 64), st.integers(1, 500), st.integers(1, 500))
def test_a_fit_never_promises_more_than_perfect_scaling(
    one: int, other: int, hours: int, less: int
) -> None:
    found = scaling_of(
        [
            Measured(job="a", count=one, hours=Fraction(hours)),
            Measured(job="b", count=one + other, hours=Fraction(less)),
        ]
    )

    if found is not None:
        assert found.hours(2 * one) * 2 >= found.hours(one) > 0


def test_five_runs_alike_teach_the_range_and_are_named() -> None:
    past = [make_past(f"llm-{n}", actual=str(1000 + 100 * n)) for n in range(1, 6)]

    found = calibrated(RUN, past)

    assert found is not None
    assert (found.low, found.expected, found.high) == (
        Fraction(114, 100), Fraction(13, 10), Fraction(146, 100),
    )  # fmt: skip
    assert "5 finished runs like it" in found.idle_basis
    assert "llm-1" in found.idle_basis


@pytest.mark.parametrize(
    "other",
    [
        {"instance_type": "g5.48xlarge"},
        {"count": 40},
        {"purchase": Purchase.SPOT},
        {"actual": None},
        {"job": "llm-1"},
    ],
    ids=["family", "count", "spot", "not-billed", "same-job"],
)
def test_runs_that_are_not_alike_teach_nothing(other: dict[str, object]) -> None:
    past = [make_past(f"llm-{n}") for n in range(1, 5)]
    fifth = make_past(**({"job": "llm-9"} | other))  # type: ignore[arg-type]

    assert calibrated(RUN, [*past, fifth]) is None
    assert calibrated(RUN, [*past, make_past("llm-9")]) is not None


def test_a_score_tells_coverage_and_the_median_error() -> None:
    past = [
        make_past("a", actual="1300"),
        make_past("b", actual="1000"),
        make_past("c", actual="2600"),
        make_past("d", actual=None),
    ]

    found = score(past)

    assert (found.judged, found.waiting, found.within) == (3, 1, 2)
    assert found.coverage == Fraction(2, 3)
    assert found.median_error == Fraction(3, 10)
    assert found.text.startswith("2 of 3 runs cost between low and high (67 %")


def test_without_judged_runs_there_is_no_score_rather_than_zero() -> None:
    found = score([make_past(actual=None)])

    assert found.coverage is None
    assert found.median_error is None
    assert found.text == "none can be judged yet: 1 waits for its bill"


@given(st.lists(st.fractions(0, 100), min_size=1, max_size=20))
def test_quantiles_stay_among_the_values(values: list[Fraction]) -> None:
    ordered = sorted(values)
    ends = [quantile(ordered, Fraction(share, 10)) for share in (0, 1, 5, 9, 10)]

    assert ends == sorted(ends)
    assert (ends[0], ends[-1]) == (ordered[0], ordered[-1])
