"""Evaluation is pure: order and duplicates of anything leave no trace."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.core.evaluate import evaluate, needs_of
from policies.core.facts import Facts
from tests.builders_policies import (
    ACCOUNT,
    CHECKPOINTS,
    NOW,
    REGION,
    gpu_series,
    idle_instance,
    make_coverage,
    make_facts,
    make_instance,
    make_job,
    make_listing,
    policies,
    policy,
    saved_steps,
)

ALL = policies(f"""\
- {{name: idle, kind: idle, where: 'job.env != "prod"'}}
- {{name: ttl, kind: ttl, default: 4h}}
- {{name: large, kind: approval, over: 10K, approvers: ["@a"]}}
- {{name: p5, kind: commitment-coverage, family: p5}}
- {{name: keep, kind: checkpoint-retention, location: "{CHECKPOINTS}", keep: {{last: 1}}}}
""")
INSTANCES = (
    idle_instance("i-1"),
    idle_instance("i-2"),
    idle_instance("i-3", job=""),
    make_instance("i-4", job="other", environment=""),
    make_instance("i-5", job="busy", series=gpu_series([90.0] * 24, [0.0] * 24)),
)
JOBS = (
    make_job("job-123", spent="20000"),
    make_job("other", spent=None),
    make_job("busy", spent="5"),
)


@given(
    st.permutations(ALL),
    st.permutations(INSTANCES),
    st.permutations(JOBS),
    st.integers(min_value=0, max_value=3),
)
def test_order_and_duplicates_do_not_matter(
    rules: list[object], instances: list[object], jobs: list[object], twice: int
) -> None:
    facts = make_facts(
        *instances,  # type: ignore[arg-type]
        *instances[:twice],  # type: ignore[arg-type]
        jobs=[*jobs, *jobs[:twice]],  # type: ignore[list-item]
        checkpoints=[make_listing(saved_steps(1, 2, 3))],
        commitments=[make_coverage("100")],
    )

    again = evaluate([*rules, *rules[:twice]], facts, NOW)  # type: ignore[list-item]

    assert again == evaluate(ALL, plain_facts(), NOW)
    assert len(again.findings) >= 6


def plain_facts() -> Facts:
    return make_facts(
        *INSTANCES,
        jobs=JOBS,
        checkpoints=[make_listing(saved_steps(1, 2, 3))],
        commitments=[make_coverage("100")],
    )


def test_a_fingerprint_depends_on_the_trouble_and_not_on_its_values() -> None:
    rule = policy("name: ttl\nkind: ttl\ndefault: 4h")
    facts = make_facts(make_instance())

    (now,) = evaluate([rule], facts, NOW).findings
    (later,) = evaluate([rule], facts, NOW + timedelta(hours=1)).findings

    assert now.fingerprint == later.fingerprint
    assert evaluate(ALL, plain_facts(), NOW).judged == (
        *("idle", "keep", "large", "p5", "ttl"),
    )


# C159
@pytest.mark.parametrize("limit", ["max_actions: 0", "max_share: 0%"])
def test_a_limit_of_zero_allows_nothing(limit: str) -> None:
    rule = policy(
        "name: idle\nkind: idle\nmode: enforce\n"
        "steps: [warn, {after: 15m, do: stop}]\n"
        f"limits: {{{limit}}}"
    )
    idle = [idle_instance(f"i-{index}", job="") for index in range(9)]
    facts = make_facts(*idle, make_instance("i-x", job=""))

    reasons = [one.reason for one in evaluate([rule], facts, NOW).refused]

    assert "9 findings, 0 allowed by limits" in reasons


# P2
def test_stale_scopes_are_unknown_for_every_kind_that_acts() -> None:
    rules = [rule for rule in ALL if rule.kind in {"idle", "ttl"}]
    facts = make_facts(idle_instance(), stale=[(ACCOUNT, REGION)])

    result = evaluate(rules, facts, NOW)

    assert result.findings == ()
    assert {one.policy for one in result.unknown} == {"idle", "ttl"}


def test_only_needed_facts_are_asked_for() -> None:
    needs = needs_of(ALL)

    assert needs.signals_lookback == timedelta(minutes=90)
    assert [location.bucket for location in needs.locations] == ["models"]
    assert needs.families == ("p5",)
    assert needs.coverage_lookback == timedelta(days=30)
    assert needs_of([ALL[2]]).signals_lookback is None
