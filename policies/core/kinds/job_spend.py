"""The kind `job-spend`: a running job that has cost more than it should.

Over an amount, over what was approved for it, or over an amount while none of its GPUs
is used. A part that is unknown is reported, never taken for zero.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from billing.core.money import Money
from billing.core.periods import DAY
from policies.core.activity import Watch
from policies.core.document import PolicyBase
from policies.core.facts import JobFacts
from policies.core.fields import (
    Amount,
    Drift,
    Duration,
    JobCondition,
    PercentLimit,
    words,
)
from policies.core.finding import Evidence, Finding, PlannedAction, Severity, Subject
from policies.core.judging import Judgement, Judging, message_of
from policies.core.kinds.approval import exact_beside
from policies.core.quantities import (
    QuantityError,
    duration_text,
    money_text,
    parse_limit,
)
from policies.core.scoping import judged_jobs, miss_job
from policies.core.view import View

RUNNING, UNACCELERATED = "running", "unaccelerated"


class JobSpendPolicy(PolicyBase):
    """A running job that has cost more than it should."""

    kind: Literal["job-spend"] = "job-spend"
    where: JobCondition | None = Field(None, description="condition in CEL")
    over: Amount | None = Field(None, description="cost so far; strictly more than")
    over_approved: Drift | None = Field(
        None, description="cost so far beyond the approved ceiling by this much"
    )
    while_: Annotated[
        str,
        *words(RUNNING, UNACCELERATED),
        Field(alias="while", description="running, or unaccelerated: no GPU is used"),
    ] = RUNNING
    busy: PercentLimit = Field(
        parse_limit("< 5%", unit="%"), description="GPU utilisation that is no use"
    )
    for_: Annotated[
        Duration, Field(alias="for", description="how long no GPU must be used")
    ] = timedelta(minutes=30)

    @model_validator(mode="after")
    def _some_limit(self) -> Self:
        if self.over is None and self.over_approved is None:
            raise QuantityError("neither", "over or over_approved")
        return self

    @property
    def signals_window(self) -> timedelta | None:
        """Return how far back signals are looked at."""
        return self.for_ if self.while_ == UNACCELERATED else None


def judge(policy: JobSpendPolicy, view: View, now: datetime) -> Judgement:
    """Return running jobs beyond the amount or beyond what was approved."""
    judging = Judging(policy)
    for job in judged_jobs(judging, policy, view):
        limit = _limit(policy, job)
        if limit is None:
            continue
        if job.spent is None or job.spent.currency != limit[0].currency:
            miss_job(judging, job, f"cost so far in {limit[0].currency}")
        elif job.spent > limit[0]:
            _over(judging, policy, job, view, now)
    return judging.result()


def _limit(policy: JobSpendPolicy, job: JobFacts) -> tuple[Money, str] | None:
    """Return the lower of the amounts that may not be passed, and what sets it."""
    limits: list[tuple[Money, str]] = []
    if policy.over is not None:
        limits.append((policy.over, f"over {money_text(policy.over)}"))
    if policy.over_approved is not None and job.approved_ceiling is not None:
        drift = policy.over_approved
        ceiling = job.approved_ceiling.scaled(1 + drift)
        percent = f"{float(drift * 100):g}%"
        limits.append((ceiling, f"over what was approved by more than {percent}"))
    return min(limits, key=lambda one: one[0].nanos, default=None)


def _over(
    judging: Judging, policy: JobSpendPolicy, job: JobFacts, view: View, now: datetime
) -> None:
    unused: str | None = None
    if policy.while_ == UNACCELERATED:
        unused = _unused(judging, policy, job, view, now)
        if unused is None:
            return
    judging.findings.append(_finding(policy, job, unused, now))


def _unused(
    judging: Judging, policy: JobSpendPolicy, job: JobFacts, view: View, now: datetime
) -> str | None:
    """Say that no GPU was used; None when one was, or nobody knows (reported)."""
    watch = Watch({"gpu_utilization": policy.busy}, now - policy.for_, now, view.cache)
    groups = [group for group in view.groups if group.job == job.job]
    seen = [watch.activity(one) for group in groups for one in group.instances]
    if any(activity.busy for activity in seen):
        return None
    stale = sorted({scope for group in groups for scope in group.stale})
    missing = [f"fresh facts of {', '.join(stale)}"] if stale else []
    missing += sorted({text for activity in seen for text in activity.missing})
    if missing or not seen:
        miss_job(judging, job, "; ".join(missing) or "GPU signals")
        return None
    return f"No GPU was used in the last {duration_text(policy.for_)}."


def _finding(
    policy: JobSpendPolicy, job: JobFacts, unused: str | None, now: datetime
) -> Finding:
    limit = _limit(policy, job)
    assert limit is not None
    assert job.spent is not None
    amount, clause = limit
    explanation = [f"It has cost {exact_beside(job.spent, amount)} so far."]
    if job.approved_ceiling is not None:
        explanation.append(f"Up to {job.approved_ceiling} was approved for it.")
    if unused:
        explanation.append(unused)
    explanation.append(
        f"It goes on at {job.rate}, {job.rate.cost_of(DAY)} a day."
        if job.rate
        else "What it costs per hour now is unknown."
    )
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=Subject(type="job", id=job.job),
        job=job.job,
        severity=Severity.CRITICAL if _is_far_over(job, amount) else Severity.WARNING,
        clause=f"{clause}, {policy.while_}",
        since=job.since or now,
        cost_at_stake=job.rate.cost_of(DAY) if job.rate else None,
        evidence=(
            Evidence(
                name="cost so far",
                value=job.spent.text(),
                unit=amount.currency,
                threshold=f"> {amount.text()}",
            ),
        ),
        explanation=tuple(explanation),
        actions=(PlannedAction(do="warn", at=now),),
        owner=job.owner,
        team=job.team,
    )


def _is_far_over(job: JobFacts, limit: Money) -> bool:
    return job.spent is not None and job.spent > limit.scaled(Fraction(3, 2))


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    return message_of(finding, f"job {finding.job} costs a lot ({finding.policy})")
