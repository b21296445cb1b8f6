"""The kind `approval`: running jobs past an amount, and the rule for requests."""

from __future__ import annotations

from datetime import timedelta

import pytest

from billing.core.money import Money, total
from policies.core.approvals import job_family
from policies.core.evaluate import evaluate
from policies.core.finding import Evaluation, Severity
from policies.core.rules import planned_job, rule_for
from tests.builders_policies import NOW, make_facts, make_job, policies, policy

RULES = """\
- name: large
  kind: approval
  over: $10,000
  approvers: ["@gpu-approvers"]
  tiers:
    - {over: "$100,000", required: 2, approvers: ["@gpu-approvers", "@finance"]}
    - {over: "$1M", required: 3}
"""
NOTHING = Money.zero()


def required(high: str | None, committed: Money = NOTHING) -> int | None:
    amount = None if high is None else Money.of(high)
    rule = rule_for(policies(RULES), make_job(), amount, committed)
    return rule.tier.required if rule else None


# C099
@pytest.mark.parametrize(
    ("high", "people"),
    [
        ("9999.995", None),
        ("10000.00", None),
        ("10000.004", 1),
        ("10000.01", 1),
        ("100000", 1),
        ("100000.000000001", 2),
        ("1000000.01", 3),
    ],
)
def test_strictly_more_than_the_amount_needs_approval(
    high: str, people: int | None
) -> None:
    assert required(high) == people


# C099
def test_a_sum_of_exactly_the_amount_needs_nobody() -> None:
    parts = [Money.of(text) for text in ("5275.67", "3551.80", "1172.53")]

    assert rule_for(policies(RULES), make_job(), total(parts), NOTHING) is None


# C038
def test_an_unknown_price_falls_under_the_strictest_tier() -> None:
    assert required(None) == 3


def test_another_currency_falls_under_the_strictest_tier() -> None:
    euros = Money.of("1", "EUR")

    rule = rule_for(policies(RULES), make_job(), euros, Money.zero("EUR"))

    assert rule is not None
    assert rule.tier.required == 3


def test_splitting_a_run_does_not_dodge_the_limit() -> None:
    assert required("6000", Money.of("6000")) == 1
    assert required("6000", Money.of("4000")) is None


def test_a_tier_without_approvers_has_those_of_the_policy() -> None:
    rule = rule_for(policies(RULES), make_job(), Money.of("2000000"), NOTHING)

    assert rule is not None
    assert rule.tier.approvers == ("@gpu-approvers",)


def test_the_rule_holds_what_was_in_force() -> None:
    rule = rule_for(policies(RULES), make_job(), Money.of("20000"), NOTHING)

    assert rule is not None
    assert (rule.policy, rule.expires_after_s) == ("large", 86_400)
    assert rule.tier.over == Money.of("10000")


def test_where_leaves_runs_out_and_unknown_does_not() -> None:
    text = RULES.replace("  over: $10,000", '  where: job.team == "nlp"\n  over: 10K')
    rules = policies(text)

    def people(team: str) -> int | None:
        job = planned_job(
            job="a",
            team=team,
            owner="",
            environment="",
            instance_type="p5.48xlarge",
            count=1,
            gpus=8,
            high=Money.of("20000"),
        )
        rule = rule_for(rules, job, Money.of("20000"), NOTHING)
        return rule.tier.required if rule else None

    assert (people("nlp"), people("vision"), people("")) == (1, None, 1)


def test_the_strictest_of_several_policies_decides_in_any_order() -> None:
    both = policies(
        RULES + "- name: strict\n  kind: approval\n  over: 5K\n  required: 2\n"
        '  approvers: ["@finance"]\n'
    )

    for order in (both, both[::-1]):
        rule = rule_for(order, make_job(), Money.of("20000"), NOTHING)
        assert rule is not None
        assert rule.policy == "strict"


def test_no_policy_asks_nobody() -> None:
    assert rule_for((), make_job(), None, NOTHING) is None


# ------------------------------------------------------------------- running jobs


def judged(**changes: object) -> Evaluation:
    rule = policy('name: large\nkind: approval\nover: $10,000\napprovers: ["@a"]')
    job = make_job(**changes)  # type: ignore[arg-type]
    return evaluate([rule], make_facts(jobs=[job]), NOW)


@pytest.mark.parametrize(
    ("spent", "predicted", "severity"),
    [
        ("10000", "10000", None),
        ("10000.01", None, Severity.CRITICAL),
        ("100", "10000.01", Severity.WARNING),
        (None, "20000", Severity.WARNING),
        ("100", None, None),
    ],
)
def test_a_running_job_past_the_amount_is_found(
    spent: str | None, predicted: str | None, severity: Severity | None
) -> None:
    result = judged(spent=spent, predicted=predicted)

    assert [finding.severity for finding in result.findings] == (
        [severity] if severity else []
    )
    assert result.unknown == ()


@pytest.mark.parametrize(("spent", "predicted"), [(None, None), (None, "100")])
def test_an_unknown_cost_is_unknown(spent: str | None, predicted: str | None) -> None:
    result = judged(spent=spent, predicted=predicted)

    assert result.findings == ()
    assert "cost so far" in result.unknown[0].missing


def test_another_currency_is_unknown() -> None:
    assert judged(spent="20000", currency="CNY").unknown[0].missing == "cost in USD"


def test_a_live_grant_covers_a_job_and_a_lapsed_one_does_not() -> None:
    later, before = NOW + timedelta(seconds=1), NOW

    assert judged(spent="20000", has_grant=True, grant_ends_at=later).findings == ()
    (finding,) = judged(spent="20000", has_grant=True, grant_ends_at=before).findings
    assert "Its approval ended at 2026-11-30T09:00:00Z." in finding.explanation


def test_a_lapse_asks_and_stops_nothing() -> None:
    (finding,) = judged(spent="20000").findings

    assert [action.do for action in finding.actions] == ["ask"]
    assert "Nothing is stopped" in finding.explanation[-1]


def test_a_job_that_has_ended_is_left_alone() -> None:
    assert judged(spent="20000", ended_at=NOW).findings == ()
    assert judged(spent="20000", instances=0).findings == ()


# C099
def test_a_difference_smaller_than_a_cent_is_shown() -> None:
    (finding,) = judged(spent="10000.004").findings

    assert "$10,000.004" in finding.explanation[0]


@pytest.mark.parametrize(
    ("job", "family"),
    [
        ("llm-7", "llm"),
        ("llm_7b.run-12", "llm_7b.run"),
        ("sweep-4-12", "sweep"),
        ("42", "42"),
        ("", ""),
        ("run", "run"),
    ],
)
def test_pieces_of_a_run_share_a_family(job: str, family: str) -> None:
    assert job_family(job) == family
