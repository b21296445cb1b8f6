"""Who is told, how often, and what has ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from billing.core.money import Money
from policies.core.decide import Decisions, Why, decide
from policies.core.finding import (
    Evaluation,
    Finding,
    Severity,
    Subject,
    Unknown,
)
from policies.ports import StoredFinding
from tests.builders_policies import NOW


def make_finding(
    job: str = "job-1",
    *,
    mode: str = "notify",
    severity: Severity = Severity.WARNING,
    cost: str | None = "100",
) -> Finding:
    return Finding(
        policy="idle",
        kind="idle",
        mode=mode,
        subject=Subject(type="job", id=job),
        job=job,
        severity=severity,
        clause="idle",
        since=NOW - timedelta(hours=1),
        cost_at_stake=None if cost is None else Money.of(cost),
        evidence=(),
        explanation=(),
    )


def make_stored(
    finding: Finding,
    *,
    told_ago: timedelta | None = None,
    resolved_ago: timedelta | None = None,
) -> StoredFinding:
    return StoredFinding(
        finding=finding,
        opened_at=NOW - timedelta(days=2),
        updated_at=NOW - timedelta(minutes=5),
        resolved_at=None if resolved_ago is None else NOW - resolved_ago,
        updates=3,
        notified_at=None if told_ago is None else NOW - told_ago,
    )


def decided(
    *findings: Finding,
    stored: tuple[StoredFinding, ...] = (),
    unknown: tuple[Unknown, ...] = (),
    notices_max: int = 50,
) -> Decisions[StoredFinding]:
    evaluation = Evaluation(
        now=NOW, findings=findings, unknown=unknown, judged=("idle",)
    )
    return decide(evaluation, stored, NOW, notices_max=notices_max)


def whys(decisions: Decisions[StoredFinding]) -> list[Why]:
    return [notice.why for notice in decisions.notices]


def test_a_new_finding_is_told_once() -> None:
    finding = make_finding()
    told = make_stored(finding, told_ago=timedelta(minutes=5))

    assert whys(decided(finding)) == [Why.NEW]
    assert whys(decided(finding, stored=(told,))) == []


def test_a_finding_nobody_was_told_of_is_still_new() -> None:
    finding = make_finding()

    assert whys(decided(finding, stored=(make_stored(finding),))) == [Why.NEW]


@pytest.mark.parametrize(
    "finding", [make_finding(mode="observe"), make_finding(severity=Severity.INFO)]
)
def test_observing_and_advice_tell_nobody(finding: Finding) -> None:
    decisions = decided(finding)

    assert decisions.notices == ()
    assert decisions.record == (finding,)


@pytest.mark.parametrize(
    ("hours", "expected"), [(23.9, []), (24, [Why.REMINDER])], ids=["before", "day"]
)
def test_a_lasting_finding_is_told_again_after_a_day(
    hours: float, expected: list[Why]
) -> None:
    finding = make_finding()
    told = make_stored(finding, told_ago=timedelta(hours=hours))

    assert whys(decided(finding, stored=(told,))) == expected


def test_a_louder_finding_is_told_at_once() -> None:
    told = make_stored(make_finding(), told_ago=timedelta(minutes=1))

    decisions = decided(make_finding(severity=Severity.CRITICAL), stored=(told,))

    assert whys(decisions) == [Why.WORSE]


@pytest.mark.parametrize(
    ("cost", "minutes", "expected"),
    [
        ("150", 90, []),
        ("150.01", 90, [Why.WORSE]),
        ("150.01", 59, []),
        ("50", 90, []),
        (None, 90, []),
    ],
)
def test_half_as_much_again_is_worse_but_not_every_minute(
    cost: str | None, minutes: int, expected: list[Why]
) -> None:
    told = make_stored(make_finding(), told_ago=timedelta(minutes=minutes))

    assert whys(decided(make_finding(cost=cost), stored=(told,))) == expected


@pytest.mark.parametrize(("minutes", "expected"), [(29, []), (31, [Why.NEW])])
def test_a_finding_that_flaps_is_not_news(minutes: int, expected: list[Why]) -> None:
    finding = make_finding()
    stored = make_stored(
        finding,
        told_ago=timedelta(hours=2),
        resolved_ago=timedelta(minutes=minutes),
    )

    assert whys(decided(finding, stored=(stored,))) == expected


def test_what_is_not_found_again_is_resolved() -> None:
    stored = make_stored(make_finding())

    decisions = decided(stored=(stored,))

    assert decisions.resolved == (stored,)
    assert decisions.record == ()


def test_what_cannot_be_judged_stays_open() -> None:
    finding = make_finding()
    unknown = Unknown(policy="idle", subject=finding.subject, missing="metrics")

    decisions = decided(stored=(make_stored(finding),), unknown=(unknown,))

    assert decisions.resolved == ()
    assert decisions.record == (finding,)
    assert decisions.notices == ()


def test_findings_of_a_policy_that_was_not_judged_stay() -> None:
    other = make_stored(replace(make_finding(), policy="other"))

    decisions = decided(stored=(other,))

    assert (decisions.resolved, decisions.record) == ((), ())


def test_a_storm_is_cut_and_the_rest_is_counted() -> None:
    findings = [make_finding(f"job-{n}", cost=str(n)) for n in range(5)]

    decisions = decided(*findings, notices_max=2)

    assert [notice.finding.job for notice in decisions.notices] == ["job-4", "job-3"]
    assert decisions.left_out == 3
    assert len(decisions.record) == 5


def test_a_pause_refuses_actions_and_not_notices() -> None:
    finding = make_finding(mode="enforce")
    evaluation = Evaluation(now=NOW, findings=(finding,), unknown=(), judged=("idle",))

    stored: tuple[StoredFinding, ...] = ()
    decisions = decide(evaluation, stored, NOW)

    assert len(decisions.notices) == 1
