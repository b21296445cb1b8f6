"""The kinds that look at what work and places cost: efficiency, placement."""

from __future__ import annotations

from datetime import timedelta

import pytest

from billing.core.fleet import Lifecycle
from bot.use_cases.work_facts import sort_of
from policies.core.evaluate import evaluate, needs_of
from policies.core.facts import Facts
from policies.core.finding import Evaluation, Severity
from policies.load import load_text
from tests.builders_policies import NOW, make_facts, make_instance, make_job, policy
from tests.builders_watching import make_transfer, make_work

TOKENS = "per_million_tokens: $2"


def judged(facts: Facts, kind: str, *lines: str) -> Evaluation:
    return evaluate(
        [policy("\n".join(("name: a", f"kind: {kind}", *lines)))], facts, NOW
    )


# ------------------------------------------------------------------------- efficiency


@pytest.mark.parametrize(("price", "found"), [("2", 0), ("2.000001", 1), ("0.5", 0)])
def test_strictly_more_than_the_limit_is_a_finding(price: str, found: int) -> None:
    facts = make_facts(jobs=[make_job()], work=[make_work(price)])

    assert len(judged(facts, "efficiency", TOKENS).findings) == found


def test_work_without_a_known_cost_is_unknown_and_never_cheap() -> None:
    work = make_work(None, missing="a part of its cost is unknown")
    result = judged(make_facts(jobs=[make_job()], work=[work]), "efficiency", TOKENS)

    assert result.findings == ()
    assert result.unknown[0].missing == (
        "cost per million tokens: a part of its cost is unknown"
    )


def test_a_job_that_reports_another_counter_is_not_judged() -> None:
    facts = make_facts(jobs=[make_job()], work=[make_work(counter="steps")])
    result = judged(facts, "efficiency", TOKENS)

    assert (result.findings, result.unknown) == ((), ())


def test_another_window_is_another_policys() -> None:
    work = make_work(over=timedelta(days=1))
    result = judged(make_facts(jobs=[make_job()], work=[work]), "efficiency", TOKENS)

    assert result.findings == ()


def test_a_policy_without_any_limit_is_refused() -> None:
    _, errors = load_text("policies:\n  - {name: a, kind: efficiency}\n")

    assert "per_million_tokens" in str(errors[0])


# -------------------------------------------------------------------------- placement


@pytest.mark.parametrize(
    ("cost", "total", "found"),
    [
        ("100.01", "1000", 1),
        ("100", "1000", 0),  # not more than the floor
        ("200", "4000", 0),  # not more than 5 %
        ("200.01", "4000", 1),
    ],
)
def test_traffic_over_floor_and_share_is_found(
    cost: str, total: str, found: int
) -> None:
    facts = make_facts(jobs=[make_job()], transfers=[make_transfer(cost, total=total)])

    assert len(judged(facts, "placement", "floor: $100").findings) == found


def test_a_job_without_a_billed_day_is_unknown() -> None:
    (unknown,) = judged(make_facts(jobs=[make_job()]), "placement").unknown

    assert unknown.missing == "billed days"


def spot(*, lifecycle: Lifecycle = Lifecycle.SPOT, shape: str = "g5.12xlarge") -> Facts:
    machine = make_instance(instance_type=shape, lifecycle=lifecycle)
    return make_facts(machine, jobs=[make_job()], transfers=[make_transfer("1")])


def test_spot_that_is_often_taken_back_is_told_where_it_is_calmer() -> None:
    (finding,) = judged(spot(), "placement").findings

    assert finding.severity is Severity.INFO
    assert finding.clause == "spot g5.12xlarge in us-east-1 is often taken back"
    assert finding.explanation[1].startswith("Calmer at the same saving or more: ")
    assert finding.actions[0].do == "warn"


@pytest.mark.parametrize(
    "facts",
    [spot(lifecycle=Lifecycle.ON_DEMAND), spot(shape="x9.nothing")],
)
def test_what_is_not_spot_or_not_known_is_not_told(facts: Facts) -> None:
    assert judged(facts, "placement").findings == ()


def test_spot_can_be_left_out() -> None:
    assert judged(spot(), "placement", "spot: false").findings == ()


@pytest.mark.parametrize(
    ("usage_type", "sort"),
    [
        ("USE1-USW2-AWS-Out-Bytes", "between regions"),
        ("USE1-USW2-AWS-In-Bytes", "between regions"),
        ("DataTransfer-Regional-Bytes", "between zones"),
        ("USE2-DataTransfer-xAZ-In-Bytes", "between zones"),
        ("EUW1-NatGateway-Bytes", "through NAT"),
        ("NatGateway-Hours", "through NAT"),
        ("DataTransfer-Out-Bytes", ""),
        ("BoxUsage:p5.48xlarge", ""),
    ],
)
def test_traffic_is_told_by_the_words_of_the_bill(usage_type: str, sort: str) -> None:
    assert sort_of(usage_type) == sort


@pytest.mark.parametrize(
    ("kind", "line", "field"),
    [
        ("efficiency", TOKENS, "work_windows"),
        ("placement", "floor: $50", "transfer_windows"),
    ],
)
def test_only_what_a_kind_looks_at_is_gathered(
    kind: str, line: str, field: str
) -> None:
    needs = needs_of([policy(f"name: a\nkind: {kind}\n{line}")])

    assert getattr(needs, field) == (timedelta(days=7),)
    assert needs.signals_lookback is None
    assert needs.locations == ()
