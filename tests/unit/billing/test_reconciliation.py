"""Every difference between the bill and running time is the sum of named reasons."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.accrual import AccruedCell, CellKey
from billing.core.charges import CostCategory, PricingCategory
from billing.core.fleet import Lifecycle
from billing.core.money import Money, total
from billing.core.reconciliation import (
    BilledLine,
    JobDay,
    Known,
    Reason,
    reconcile,
    score,
)
from tests.builders import ACCOUNT, REGION, day, usd

P5 = "p5.48xlarge"
ON = day("2026-10-05")
POOL = (ACCOUNT, ON, REGION, P5, False)
KNOWN = Known(complete={(ACCOUNT, ON)}, watched={(ACCOUNT, ON)}, starts={}, doubtful={})


def line(
    billed: str, hours: str | None = None, *, job: str = "job-1", **fields: Any
) -> BilledLine:
    values: dict[str, Any] = {
        "key": job,
        "account": ACCOUNT,
        "day": ON,
        "region": REGION,
        "shape": P5,
        "cost_category": CostCategory.COMPUTE,
        "pricing": PricingCategory.STANDARD,
        "billed": usd(billed),
        "effective": usd(billed),
        "hours": None if hours is None else Fraction(hours),
    }
    return BilledLine(**values | fields)


def ran(hours: str, cost: str, *, job: str = "job-1", **fields: Any) -> AccruedCell:
    values: dict[str, Any] = {
        "job": job,
        "account": ACCOUNT,
        "day": ON,
        "cost_category": CostCategory.COMPUTE,
        "region": REGION,
        "shape": P5,
        "lifecycle": Lifecycle.ON_DEMAND,
        "currency": "USD",
    }
    return AccruedCell(
        key=CellKey(**values | fields),
        amount=usd(cost),
        running=timedelta(seconds=int(Fraction(hours) * 3600)),
    )


def of(found: tuple[JobDay, ...], key: str = "job-1") -> JobDay:
    (one,) = (one for one in found if one.key == key)
    return one


def told(one: JobDay) -> dict[Reason, str]:
    return {reason: part.text() for reason, part in one.reasons}


def test_equal_sides_have_no_reason_and_no_error() -> None:
    one = of(reconcile([line("240", "24")], [ran("24", "240")], KNOWN))

    assert one.reasons == ()
    assert one.error == 0


def test_hours_that_only_the_bill_has_are_an_instance_nobody_saw() -> None:
    one = of(reconcile([line("240", "24")], [ran("12", "120")], KNOWN))

    assert told(one) == {Reason.UNSEEN: "120.00"}
    assert one.error == Fraction(1, 2)


def test_a_job_of_which_nothing_was_seen_is_unseen() -> None:
    one = of(reconcile([line("240", "24")], [], KNOWN))

    assert told(one) == {Reason.UNSEEN: "240.00"}


def test_cost_without_hours_that_nobody_saw_is_unseen() -> None:
    assert told(of(reconcile([line("80", "0")], [], KNOWN))) == {Reason.UNSEEN: "80.00"}


def test_hours_that_the_bill_lacks_are_not_billed_or_not_yet() -> None:
    billed, cells = [line("120", "12")], [ran("24", "240")]
    open_ = replace(KNOWN, complete=frozenset())

    assert told(of(reconcile(billed, cells, KNOWN))) == {Reason.NOT_BILLED: "-120.00"}
    assert told(of(reconcile(billed, cells, open_))) == {Reason.NOT_COMPLETE: "-120.00"}


def test_hours_that_another_job_has_are_a_matter_of_tags() -> None:
    billed = [line("100", "10"), line("140", "14", job="bucket:untagged")]
    cells = [ran("24", "240")]

    found = reconcile(billed, cells, KNOWN)

    assert told(of(found)) == {Reason.TAG: "-140.00"}
    assert told(of(found, "bucket:untagged")) == {Reason.TAG: "140.00"}


def test_untagged_running_time_meets_the_untagged_bill() -> None:
    billed = [line("240", "24", job="bucket:untagged")]

    (one,) = reconcile(billed, [ran("24", "240", job="")], KNOWN)

    assert one.key == "bucket:untagged"
    assert one.reasons == ()


def test_an_end_between_two_polls_is_told_from_an_unseen_instance() -> None:
    known = replace(KNOWN, doubtful={POOL: Fraction(5, 60)})

    one = of(reconcile([line("240.5", "24.05")], [ran("24", "240")], known))

    assert told(one) == {Reason.ENDS: "0.50"}


def test_seconds_at_starts_are_told_apart() -> None:
    known = replace(KNOWN, starts={POOL: 3})

    one = of(reconcile([line("239.7", "23.97")], [ran("24", "240")], known))

    assert told(one) == {Reason.MINIMUM: "-0.30"}


@pytest.mark.parametrize(
    ("fields", "known", "reason"),
    [
        ({"effective": usd("140")}, KNOWN, Reason.COMMITTED),
        ({"pricing": PricingCategory.COMMITTED}, KNOWN, Reason.COMMITTED),
        ({}, replace(KNOWN, repriced={POOL}), Reason.PRICE_CHANGED),
        ({}, KNOWN, Reason.DISCOUNT),
    ],
)
def test_another_price_for_the_same_hours_is_named(
    fields: dict[str, Any], known: Known, reason: Reason
) -> None:
    one = of(reconcile([line("200", "24", **fields)], [ran("24", "240")], known))

    assert [found for found, _ in one.reasons] == [reason]


def test_spot_is_held_against_spot() -> None:
    billed = [line("100", "24"), line("30", "10", pricing=PricingCategory.DYNAMIC)]
    cells = [ran("24", "100"), ran("10", "40", lifecycle=Lifecycle.SPOT)]

    one = of(reconcile(billed, cells, KNOWN))

    assert told(one) == {Reason.SPOT_PRICE: "-10.00"}
    assert one.on_demand == (usd("100"), usd("100"))


def test_running_time_without_a_price_is_named() -> None:
    known = replace(KNOWN, unpriced={("job-1", P5)})

    assert told(of(reconcile([line("240", "24")], [], known))) == {
        Reason.NO_PRICE: "240.00"
    }


def test_what_never_accrues_is_named_and_is_no_error_of_compute() -> None:
    billed = [
        line("240", "24"),
        line("5", shape="", cost_category=CostCategory.NETWORK),
        line("7", shape="", cost_category=CostCategory.STORAGE),
        line("2", shape="", cost_category=CostCategory.MANAGED_SERVICE),
    ]
    cells = [ran("24", "240"), ran("0", "6", cost_category=CostCategory.STORAGE)]

    one = of(reconcile(billed, cells, KNOWN))

    assert told(one) == {
        Reason.NETWORK: "5.00",
        Reason.OTHER: "2.00",
        Reason.STORAGE: "1.00",
    }
    assert one.error == 0


def test_hours_that_the_bill_does_not_tell_are_not_guessed() -> None:
    one = of(reconcile([line("200")], [ran("24", "240")], KNOWN))

    assert told(one) == {Reason.DISCOUNT: "-40.00"}


def test_only_days_that_are_complete_and_watched_are_judged() -> None:
    billed, cells = [line("240", "24")], [ran("12", "120")]

    judged = score(reconcile(billed, cells, KNOWN))
    unwatched = score(reconcile(billed, cells, replace(KNOWN, watched=frozenset())))

    assert (judged.job_days, judged.worst, judged.overall) == (
        1,
        Fraction(1, 2),
        Fraction(-1, 2),
    )
    assert (unwatched.job_days, unwatched.median, unwatched.worst) == (0, None, None)


def test_a_day_of_cents_is_not_judged() -> None:
    found = reconcile([line("0.5", "1")], [ran("1", "0.1")], KNOWN)

    assert score(found).job_days == 0


AMOUNTS = st.integers(0, 10**6)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["job-1", "job-2", "bucket:untagged"]),
            AMOUNTS,
            st.one_of(st.none(), st.integers(0, 48)),
            st.sampled_from(PricingCategory),
            st.sampled_from(CostCategory),
        ),
        max_size=6,
    ),
    st.lists(
        st.tuples(
            st.sampled_from(["job-1", "job-2", ""]),
            AMOUNTS,
            st.integers(0, 48),
            st.sampled_from([Lifecycle.ON_DEMAND, Lifecycle.SPOT]),
        ),
        max_size=6,
    ),
)
def test_reasons_sum_to_the_difference_exactly(
    bills: list[Any], runs: list[Any]
) -> None:
    billed = [
        line(
            f"{cents}.01", None if hours is None else str(hours), job=job,
            pricing=pricing, cost_category=category,
            shape=P5 if category is CostCategory.COMPUTE else "",
        )
        for job, cents, hours, pricing, category in bills
    ]  # fmt: skip
    cells = [
        ran(str(hours), f"{cents}.03", job=job, lifecycle=lifecycle)
        for job, cents, hours, lifecycle in runs
    ]

    found = reconcile(billed, cells, KNOWN)

    for one in found:
        assert total((part for _, part in one.reasons), "USD") == one.difference
    both = total((one.difference for one in found), "USD")
    wanted = total((one.effective for one in billed), "USD") - total(
        (one.amount for one in cells), "USD"
    )
    assert both == wanted == Money(both.nanos)
