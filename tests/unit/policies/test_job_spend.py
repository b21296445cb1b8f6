"""The kind `job-spend`: over an amount, over what was approved, or without use."""

from __future__ import annotations

from datetime import timedelta

import pytest

from policies.core.evaluate import evaluate, needs_of
from policies.core.facts import InstanceFacts, JobFacts
from policies.core.finding import Evaluation, Severity
from tests.builders_policies import (
    NOW,
    gpu_series,
    make_facts,
    make_instance,
    make_job,
    policy,
)

QUIET, BUSY = [0.0] * 24, [90.0] * 24


def judged(
    job: JobFacts, *lines: str, on: tuple[InstanceFacts, ...] = ()
) -> Evaluation:
    text = "\n".join(("name: spend", "kind: job-spend", *lines))
    return evaluate([policy(text)], make_facts(*on, jobs=[job]), NOW)


@pytest.mark.parametrize(("spent", "found"), [("50000", []), ("50000.01", ["job-123"])])
def test_the_amount_itself_is_no_finding(spent: str, found: list[str]) -> None:
    result = judged(make_job(spent=spent), "over: $50,000")

    assert [one.job for one in result.findings] == found


def test_far_beyond_the_amount_is_critical() -> None:
    (finding,) = judged(make_job(spent="75001"), "over: $50,000").findings

    assert finding.severity is Severity.CRITICAL


def test_unknown_cost_is_unknown_not_zero() -> None:
    result = judged(make_job(spent=None), "over: $50,000")

    assert result.findings == ()
    assert [one.missing for one in result.unknown] == ["cost so far in USD"]


def test_cost_beyond_what_was_approved_is_found() -> None:
    job = make_job(spent="48001", has_grant=True, approved_ceiling="40000")

    (finding,) = judged(job, "over_approved: 20%").findings

    assert finding.clause == "over what was approved by more than 20%, running"


def test_a_job_without_an_approval_has_no_approved_limit() -> None:
    result = judged(make_job(spent="900000"), "over_approved: 20%")

    assert (result.findings, result.unknown) == ((), ())


def test_the_lower_of_two_limits_counts() -> None:
    job = make_job(spent="45000", has_grant=True, approved_ceiling="30000")

    (finding,) = judged(job, "over: $50,000", "over_approved: 10%").findings

    assert "approved" in finding.clause


def test_an_ended_job_is_left_alone() -> None:
    job = make_job(spent="90000", ended_at=NOW - timedelta(hours=1))

    assert judged(job, "over: $50,000").findings == ()


@pytest.mark.parametrize(
    ("gpus", "found", "unknown"),
    [
        ((QUIET, QUIET), 1, 0),
        ((QUIET, BUSY), 0, 0),
        ((QUIET,), 0, 1),
    ],
)
def test_unaccelerated_means_that_every_gpu_is_known_to_be_unused(
    gpus: tuple[list[float], ...], found: int, unknown: int
) -> None:
    machine = make_instance(series=gpu_series(*gpus))

    result = judged(
        make_job(spent="60000"), "over: $50,000", "while: unaccelerated", on=(machine,)
    )

    assert (len(result.findings), len(result.unknown)) == (found, unknown)


def test_signals_are_gathered_only_for_unaccelerated() -> None:
    plain = policy("name: a\nkind: job-spend\nover: $5")
    unused = policy("name: a\nkind: job-spend\nover: $5\nwhile: unaccelerated")

    assert needs_of([plain]).signals_lookback is None
    assert needs_of([unused]).signals_lookback is not None
