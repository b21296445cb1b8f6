"""The kind `budget`: shares of a month's budget, and its forecast."""

from __future__ import annotations

import pytest

from policies.core.evaluate import evaluate, needs_of
from policies.core.finding import Evaluation, Severity
from tests.builders_policies import NOW, make_facts, make_month, policy


def judged(*lines: str, **month: str | None) -> Evaluation:
    text = "\n".join(("name: budgets", "kind: budget", *lines))
    return evaluate([policy(text)], make_facts(team_months=[make_month(**month)]), NOW)  # type: ignore[arg-type] # keys of a month


@pytest.mark.parametrize(
    ("spent", "share"),
    [
        ("160000", None),
        ("160000.01", "80%"),
        ("200000", "80%"),
        ("200000.000000001", "100%"),
    ],
)
def test_a_share_is_passed_by_strictly_more(spent: str, share: str | None) -> None:
    findings = judged(spent=spent).findings

    assert [one.clause for one in findings] == (
        [f"$200,000 in 2026-11: {share}"] if share else []
    )


def test_each_share_is_a_finding_of_its_own_so_that_each_is_told() -> None:
    (at_80,) = judged(spent="170000").findings
    (at_100,) = judged(spent="210000").findings

    assert at_80.fingerprint != at_100.fingerprint
    assert (at_80.severity, at_100.severity) == (Severity.WARNING, Severity.CRITICAL)


def test_a_month_that_will_end_above_is_told_before() -> None:
    (finding,) = judged(spent="50000", forecast="230000").findings

    assert finding.clause == "$200,000 in 2026-11: forecast"
    assert str(finding.cost_at_stake) == "$30,000.00"


def test_a_forecast_can_be_left_out() -> None:
    assert judged("forecast: false", spent="50000", forecast="230000").findings == ()


def test_an_unknown_forecast_is_no_finding_and_no_zero() -> None:
    result = judged(spent="50000", forecast=None)

    assert (result.findings, result.unknown) == ((), ())


def test_a_month_that_cannot_be_summed_is_unknown() -> None:
    result = judged(spent=None)

    assert result.findings == ()
    assert [one.missing for one in result.unknown] == ["what the team has spent"]


def test_a_team_without_a_budget_is_left_out_unless_it_is_named() -> None:
    everybody = judged(budget=None)
    named = judged("team: nlp", budget=None)

    assert (everybody.findings, everybody.unknown) == ((), ())
    assert [one.missing for one in named.unknown] == [
        "a budget: set teams.nlp.budget or amount"
    ]


def test_a_named_team_that_spent_nothing_known_is_unknown() -> None:
    result = judged("team: robotics", "amount: $10")

    assert [one.subject.id for one in result.unknown] == ["robotics"]


def test_the_amount_of_the_policy_wins() -> None:
    (finding,) = judged("amount: $100,000").findings

    assert finding.clause == "$100,000 in 2026-11: 100%"


def test_what_teams_spent_is_gathered_for_it_alone() -> None:
    budget = policy("name: a\nkind: budget")
    ttl = policy("name: b\nkind: ttl")

    assert needs_of([budget]).team_months
    assert not needs_of([ttl]).team_months
