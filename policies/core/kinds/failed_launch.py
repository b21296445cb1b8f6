"""The kind `failed-launch`: many GPUs that start, fail fast, and start again.

A start is a job's machines that came up together; it failed fast when all of them were
gone within minutes. It tells, and never acts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field

from billing.core.money import Money
from billing.core.periods import rfc3339
from policies.core.document import PolicyBase
from policies.core.facts import LaunchFacts
from policies.core.fields import CountFromOne, Duration
from policies.core.finding import (
    Evidence,
    Finding,
    PlannedAction,
    Severity,
    Subject,
    Unknown,
)
from policies.core.judging import Judgement, message_of, plural
from policies.core.quantities import duration_text
from policies.core.view import View


class FailedLaunchPolicy(PolicyBase):
    """Many GPUs that start, fail fast, and start again."""

    kind: Literal["failed-launch"] = "failed-launch"
    gpus: CountFromOne = Field(8, description="GPUs of a start that count")
    within: Duration = Field(
        timedelta(minutes=15), description="how soon all of them were gone"
    )
    times: CountFromOne = Field(2, description="how often, to be told")
    lookback: Duration = Field(
        timedelta(hours=24), description="how far back starts are counted"
    )

    @property
    def launches_window(self) -> timedelta:
        """Return how far back starts are looked at."""
        return self.lookback


def judge(policy: FailedLaunchPolicy, view: View, now: datetime) -> Judgement:
    """Return jobs that failed fast often enough."""
    starts: dict[str, list[LaunchFacts]] = defaultdict(list)
    unknown: list[Unknown] = []
    for one in view.facts.launches:
        if one.started_at <= now - policy.lookback or not one.job:
            continue
        if one.gpus is None and _is_fast(policy, one):
            subject = Subject(type="job", id=one.job)
            missing = "number of GPUs of the instance type"
            unknown.append(
                Unknown(
                    policy=policy.name, subject=subject, missing=missing, job=one.job
                )
            )
        elif one.gpus is not None and one.gpus >= policy.gpus:
            starts[one.job].append(one)
    findings = []
    for job in sorted(starts):
        failed = [one for one in starts[job] if _is_fast(policy, one)]
        if len(failed) >= policy.times:
            findings.append(_finding(policy, job, failed, now))
    return Judgement(
        findings=tuple(findings),
        unknown=tuple(dict.fromkeys(unknown)),
        in_scope=len(starts),
    )


def _is_fast(policy: FailedLaunchPolicy, one: LaunchFacts) -> bool:
    return one.ended_at is not None and one.ended_at - one.started_at <= policy.within


def _finding(
    policy: FailedLaunchPolicy,
    job: str,
    failed: Sequence[LaunchFacts],
    now: datetime,
) -> Finding:
    failed = sorted(failed, key=lambda one: one.started_at)
    last = failed[-1]
    cost = _sum([one.cost for one in failed])
    times = [rfc3339(one.started_at) for one in failed[-3:]]
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=Subject(type="job", id=job),
        job=job,
        severity=Severity.WARNING,
        clause=f"{policy.times} starts of {policy.gpus} GPUs gone within "
        f"{duration_text(policy.within)}",
        since=failed[0].started_at,
        cost_at_stake=cost,
        evidence=(
            Evidence(
                name="starts that failed fast",
                value=str(len(failed)),
                threshold=f"< {policy.times}",
                as_of=now,
            ),
            Evidence(name="GPUs of the last one", value=str(last.gpus)),
        ),
        explanation=(
            (
                f"{plural(len(failed), 'start')} in {duration_text(policy.lookback)} ended "
                f"within {duration_text(policy.within)}, the last ones at "
                f"{', '.join(times)}."
            ),
            f"Together they cost {cost}."
            if cost
            else "What they cost is unknown in part.",
            "Starts of one machine first are cheaper to get right.",
        ),
        actions=(PlannedAction(do="warn", at=now),),
        owner=last.owner,
        team=last.team,
    )


def _sum(amounts: Sequence[Money | None]) -> Money | None:
    known = [amount for amount in amounts if amount is not None]
    if len(known) < len(amounts) or not known:
        return None
    return sum(known[1:], known[0])


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    return message_of(finding, f"job {finding.job} keeps failing ({finding.policy})")
