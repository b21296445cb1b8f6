"""Commitments: the baseline of hours, what to buy, what is not used, what ends."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest

from billing.core.baseline import hourly_use, percentile
from billing.core.fleet import Lifecycle
from billing.core.money import Money, Rate
from billing.core.periods import Period
from billing.core.usage import EndBasis, ResourceKind, UsageInterval
from billing.ports import CommitmentFacts, OwnedPlan
from policies.core.evaluate import evaluate
from policies.core.finding import Evaluation
from policies.load import load_text
from tests.builders import at
from tests.builders_policies import NOW, make_coverage, make_facts, policy

RULE = "name: p5\nkind: commitment-coverage\nfamily: p5\ntarget: 60%..70%"
DAY = timedelta(days=1)
DAYTIME = Period(at("2026-11-01T00:00Z"), at("2026-11-01T04:00Z"))


def judged(
    *commitments: CommitmentFacts, plans: list[OwnedPlan] | None = None
) -> Evaluation:
    facts = make_facts(commitments=commitments or [make_coverage()], plans=plans or [])
    return evaluate([policy(RULE)], facts, NOW)


def plan(
    left: timedelta = 20 * DAY, *, family: str = "", plan_id: str = "sp-1"
) -> OwnedPlan:
    return OwnedPlan(
        plan_id=plan_id, kind="Compute", family=family, region="",
        hourly=Money.of("40"), ends_at=NOW + left,
    )  # fmt: skip


# --------------------------------------------------------------------------- baseline


def ran(
    since: str,
    until: str | None,
    *,
    shape: str = "p5.48xlarge",
    lifecycle: Lifecycle = Lifecycle.ON_DEMAND,
) -> UsageInterval:
    return UsageInterval(
        resource_id="i-1",
        kind=ResourceKind.INSTANCE,
        account="123456789012",
        region="us-east-1",
        zone="us-east-1a",
        shape=shape,
        lifecycle=lifecycle,
        started_at=at(since),
        ended_at=None if until is None else at(until),
        end_basis=EndBasis.EXACT,
        last_seen_at=at("2026-11-01T04:00Z"),
    )


def hours(*intervals: UsageInterval) -> list[str]:
    found = hourly_use(intervals, "p5", DAYTIME, lambda _: Rate.of("10"))
    assert found is not None
    return [Money(nanos).text() for nanos in found]


def test_an_hour_holds_the_part_of_it_that_ran() -> None:
    whole = ran("2026-10-01T00:00Z", None)
    part = ran("2026-11-01T01:30Z", "2026-11-01T02:15Z")

    assert hours(whole, part) == ["10.00", "15.00", "12.50", "10.00"]


@pytest.mark.parametrize("lifecycle", [Lifecycle.SPOT, Lifecycle.CAPACITY_BLOCK])
def test_spot_and_capacity_blocks_are_no_part_of_it(lifecycle: Lifecycle) -> None:
    assert hours(ran("2026-10-01T00:00Z", None, lifecycle=lifecycle)) == ["0.00"] * 4


def test_other_families_are_no_part_of_it() -> None:
    assert hours(ran("2026-10-01T00:00Z", None, shape="p5en.48xlarge")) == ["0.00"] * 4


def test_a_price_nobody_knows_makes_it_unknown() -> None:
    one = ran("2026-10-01T00:00Z", None)

    assert hourly_use([one], "p5", DAYTIME, lambda _: None) is None


def test_the_tenth_percentile_is_what_nine_of_ten_hours_reach() -> None:
    values = [0] * 71 + [100] * 649  # a month of hours, less than 10 % of them empty

    assert percentile(values) == 100
    assert percentile([0] * 72 + [100] * 648) == 0


# ------------------------------------------------------------------------- what to buy


def test_too_little_covered_says_what_would_be_enough_and_when_it_pays() -> None:
    facts = make_coverage(
        "300", baseline_pct=45.0, baseline="200", plan_share=Fraction(72, 100)
    )
    (finding,) = judged(facts).findings

    assert finding.explanation[-2:] == (
        (
            "A 1-year Compute Savings Plan over $28.80 an hour would cover $40.00 more: the "
            "middle of the band."
        ),
        "It pays while it is used more than 72% of its time.",
    )


def test_without_a_price_of_plans_no_price_is_made_up() -> None:
    (finding,) = judged(
        make_coverage("300", baseline_pct=45.0, baseline="200")
    ).findings

    assert finding.explanation[-1].endswith("what a plan for it costs is unknown.")


def test_too_much_covered_says_how_much_to_let_end() -> None:
    (finding,) = judged(
        make_coverage("900", baseline_pct=90.0, baseline="200")
    ).findings

    assert finding.explanation[-1] == (
        "$40.00 an hour are covered beyond the band: let that much end."
    )


@pytest.mark.parametrize(("used", "found"), [(95.0, 0), (94.9, 1), (None, 0)])
def test_what_is_committed_and_not_used_is_found(
    used: float | None, found: int
) -> None:
    facts = make_coverage("650", utilization_pct=used)

    assert len(judged(facts).findings) == found


# -------------------------------------------------------------------------- what ends


@pytest.mark.parametrize(
    ("left", "clause"),
    [
        (61 * DAY, ""),
        (60 * DAY, "ends within 60d"),
        (20 * DAY, "ends within 30d"),
        (7 * DAY, "ends within 7d"),
        (timedelta(0), ""),
    ],
)
def test_a_plan_is_told_before_it_ends(left: timedelta, clause: str) -> None:
    found = [
        one.clause for one in judged(make_coverage("650"), plans=[plan(left)]).findings
    ]

    assert found == ([clause] if clause else [])


def test_a_plan_bound_to_another_family_is_another_policys() -> None:
    plans = [plan(family="g5"), plan(family="p5", plan_id="sp-2")]

    (finding,) = judged(make_coverage("650"), plans=plans).findings

    assert finding.subject.id == "sp-2"


def test_plans_that_could_not_be_read_are_unknown() -> None:
    facts = make_facts(commitments=[make_coverage("650")], plans=None)

    (unknown,) = evaluate([policy(RULE)], facts, NOW).unknown

    assert unknown.missing == "when Savings Plans end"


def test_times_before_the_end_must_fall() -> None:
    text = f"ends_within: [7d, 60d]\n{RULE}".replace("\n", "\n    ")
    _, errors = load_text(f"policies:\n  - {text}\n")

    assert "times that fall" in str(errors[0])
