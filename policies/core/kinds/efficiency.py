"""The kind `efficiency`: a running job whose work costs more a unit than it should.

Only jobs that report a counter are judged by it; one whose cost or progress is not known
is unknown, never cheap. It tells, and never acts.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal, Self

from pydantic import Field, model_validator

from billing.core.money import Money
from policies.core.document import PolicyBase
from policies.core.facts import JobFacts, JobWork
from policies.core.fields import Amount, Duration, JobCondition
from policies.core.finding import Evidence, Finding, PlannedAction, Severity, Subject
from policies.core.judging import Judgement, Judging, message_of
from policies.core.quantities import QuantityError, duration_text
from policies.core.scoping import judged_jobs, miss_job
from policies.core.view import View

#: counter -> what a price is told for
UNITS = {"steps": "step", "samples": "1,000 samples", "tokens": "million tokens"}


class EfficiencyPolicy(PolicyBase):
    """A running job whose work costs more a unit than it should."""

    kind: Literal["efficiency"] = "efficiency"
    where: JobCondition | None = Field(None, description="condition in CEL")
    lookback: Duration = Field(
        timedelta(days=7), description="how far back cost and work are looked at"
    )
    per_step: Amount | None = Field(
        None, description="cost of one step; strictly more is a finding"
    )
    per_thousand_samples: Amount | None = Field(
        None, description="cost of a thousand samples; strictly more is a finding"
    )
    per_million_tokens: Amount | None = Field(
        None, description="cost of a million tokens; strictly more is a finding"
    )

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if not self.limits_of_work:
            expected = "per_step, per_thousand_samples or per_million_tokens"
            raise QuantityError("no limit", expected, "add at least one")
        return self

    @property
    def limits_of_work(self) -> dict[str, Money]:
        """Return the limit of each counter that has one."""
        limits = {
            "steps": self.per_step,
            "samples": self.per_thousand_samples,
            "tokens": self.per_million_tokens,
        }
        return {name: limit for name, limit in limits.items() if limit is not None}

    @property
    def work_window(self) -> timedelta:
        """Return how far back work is looked at."""
        return self.lookback


def judge(policy: EfficiencyPolicy, view: View, now: datetime) -> Judgement:
    """Return running jobs whose work costs too much, and those that cannot be judged."""
    judging = Judging(policy)
    known = {
        (one.job, one.counter): one
        for one in view.facts.work
        if one.over == policy.lookback
    }
    for job in judged_jobs(judging, policy, view):
        for counter, limit in policy.limits_of_work.items():
            work = known.get((job.job, counter))
            if work is None:
                continue  # it reports no such counter: there is nothing to judge by
            if work.per_unit is None:
                miss_job(judging, job, f"cost per {UNITS[counter]}: {work.missing}")
            elif work.per_unit.currency != limit.currency:
                miss_job(judging, job, f"its cost in {limit.currency}")
            elif work.per_unit > limit:
                judging.findings.append(
                    _finding(policy, job, work, work.per_unit, limit, now=now)
                )
    return judging.result()


def _finding(
    policy: EfficiencyPolicy,
    job: JobFacts,
    work: JobWork,
    cost: Money,
    limit: Money,
    *,
    now: datetime,
) -> Finding:
    unit = UNITS[work.counter]
    over = duration_text(policy.lookback)
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=Subject(type="job", id=job.job),
        job=job.job,
        severity=Severity.WARNING,
        clause=f"over {limit} per {unit}",
        since=now - policy.lookback,
        cost_at_stake=None,
        evidence=(
            Evidence(
                name=f"cost per {unit}",
                value=cost.text(),
                unit=cost.currency,
                threshold=limit.text(),
                as_of=now,
            ),
        ),
        explanation=(
            f"Its last {over} cost {_price(cost)} per {unit}, the limit is {_price(limit)}.",
            f"In that time it got {work.done:,} {work.counter} done.",
        ),
        actions=(PlannedAction(do="warn", at=now),),
        owner=job.owner,
        team=job.team,
    )


def _price(amount: Money) -> str:
    """Return a price with the decimals that a small one needs."""
    return f"{amount.text()} {amount.currency}"


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    return message_of(
        finding, f"job {finding.job} pays a lot for its work ({finding.policy})"
    )
