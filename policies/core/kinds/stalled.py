"""The kind `stalled`: GPUs that look busy while the job gets nothing done.

A hang in a collective spins at 100 % and makes no progress. Only jobs that report
progress are judged; it pages the owner and never acts.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from billing.core.periods import rfc3339
from policies.core.activity import Watch
from policies.core.document import PolicyBase
from policies.core.facts import JobFacts
from policies.core.fields import Account, Duration, InstanceCondition, PercentLimit
from policies.core.finding import Evidence, Finding, PlannedAction, Severity
from policies.core.judging import Judgement, Judging, message_of
from policies.core.quantities import duration_text, parse_limit
from policies.core.scoping import judged_groups
from policies.core.view import Group, View


class StalledPolicy(PolicyBase):
    """GPUs that look busy while the job gets nothing done."""

    kind: Literal["stalled"] = "stalled"
    where: InstanceCondition | None = Field(None, description="condition in CEL")
    accounts: tuple[Account, ...] = Field((), description="account ids; empty: all")
    for_: Annotated[
        Duration, Field(alias="for", description="how long without any progress")
    ] = timedelta(minutes=30)
    quiet: PercentLimit = Field(
        parse_limit("< 5%", unit="%"),
        description="GPU utilisation that is idleness, which `idle` is about",
    )

    @property
    def signals_window(self) -> timedelta:
        """Return how far back signals are looked at."""
        return self.for_

    @property
    def needs_progress(self) -> bool:
        """Tell that what jobs report is looked at."""
        return True


def judge(policy: StalledPolicy, view: View, now: datetime) -> Judgement:
    """Return jobs that report progress, make none, and keep their GPUs busy."""
    judging = Judging(policy)
    watch = Watch({"gpu_utilization": policy.quiet}, now - policy.for_, now, view.cache)
    for group in judged_groups(judging, policy, view, only_gpus=True):
        job = group.facts
        if job is None or job.progressed_at is None:
            continue  # it reports nothing: there is nothing to judge by
        if now - job.progressed_at < policy.for_:
            continue
        seen = [watch.activity(one) for one in group.instances]
        if any(activity.busy for activity in seen):
            judging.findings.append(_finding(policy, group, job, now))
        elif any(activity.missing for activity in seen):
            lacks = sorted({lack for activity in seen for lack in activity.missing})
            judging.miss(group, "; ".join(lacks))
    return judging.result()


def _finding(
    policy: StalledPolicy, group: Group, job: JobFacts, now: datetime
) -> Finding:
    assert job.progressed_at is not None
    silent = now - job.progressed_at
    rate = group.rate
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=group.subject,
        job=group.job,
        severity=Severity.CRITICAL,
        clause=f"busy without progress for {duration_text(policy.for_)}",
        since=job.progressed_at,
        cost_at_stake=rate.cost_of(silent) if rate else None,
        evidence=(
            Evidence(
                name="last progress",
                value=rfc3339(job.progressed_at),
                threshold=f"within {duration_text(policy.for_)}",
                as_of=now,
            ),
        ),
        explanation=(
            f"Its last progress was at {rfc3339(job.progressed_at)}.",
            "Its GPUs are busy all the same: it may hang in a collective call.",
            f"Since then it has cost {rate.cost_of(silent)}."
            if rate
            else "The price per hour is unknown.",
        ),
        actions=(PlannedAction(do="warn", at=now),),
        owner=group.owner,
        team=group.team,
    )


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    return message_of(finding, f"job {finding.job} seems to hang ({finding.policy})")
