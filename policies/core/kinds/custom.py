"""The kind `custom`: a condition of one's own on jobs or instances.

What no other kind says, in CEL over the documented fields. A value that is unknown
makes the subject unknown; it never acts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from billing.core.money import USD, Money
from billing.core.periods import DAY
from policies.core.conditions import INSTANCE_FIELDS, Condition, ConditionError
from policies.core.document import PolicyBase
from policies.core.facts import JobFacts
from policies.core.fields import Account, InstanceCondition, Text, words
from policies.core.finding import Evidence, Finding, PlannedAction, Severity, Subject
from policies.core.judging import Judgement, Judging, message_of
from policies.core.scoping import judged_groups, judged_jobs, miss_job
from policies.core.view import Group, View, job_values

JOB, INSTANCE = "job", "instance"


class CustomPolicy(PolicyBase):
    """A condition of one's own on jobs or instances."""

    kind: Literal["custom"] = "custom"
    subject: Annotated[str, *words(JOB, INSTANCE)] = Field(
        JOB, description="what the condition is about: job or instance"
    )
    where: InstanceCondition | None = Field(None, description="condition in CEL")
    accounts: tuple[Account, ...] = Field((), description="account ids; empty: all")
    when: InstanceCondition = Field(description="what is a finding, in CEL")
    severity: Annotated[str, *words("info", "warning", "critical")] = Field(
        "warning", description="info, warning or critical"
    )
    say: Text = Field(description="the sentence people read")

    @field_validator("where", "when")
    @classmethod
    def _of_subject(
        cls, condition: Condition | None, info: ValidationInfo
    ) -> Condition | None:
        if condition is None or info.data.get("subject") != JOB:
            return condition
        foreign = [name for name in condition.names if name in INSTANCE_FIELDS]
        if foreign:
            raise ConditionError(
                f"{foreign[0]!r} needs subject: instance; a job has job.* only"
            )
        return condition


def judge(policy: CustomPolicy, view: View, now: datetime) -> Judgement:
    """Return the jobs or instances for which the condition holds."""
    judging = Judging(policy)
    if policy.subject == JOB and not policy.accounts:
        for job in judged_jobs(judging, policy, view):
            _judge_job(judging, policy, job, now)
        return judging.result()
    for group in judged_groups(judging, policy, view):
        _judge_group(judging, policy, group, now)
    return judging.result()


def _judge_job(
    judging: Judging, policy: CustomPolicy, job: JobFacts, now: datetime
) -> None:
    values = job_values(job)
    holds = policy.when.holds(values)
    if holds is None:
        miss_job(judging, job, policy.when.missing(values))
    elif holds:
        judging.findings.append(
            _finding(
                policy,
                Subject(type="job", id=job.job),
                values,
                now,
                job=job.job,
                owner=job.owner,
                team=job.team,
                stake=job.rate.cost_of(DAY) if job.rate else None,
            )
        )


def _judge_group(
    judging: Judging, policy: CustomPolicy, group: Group, now: datetime
) -> None:
    for one, values in zip(group.instances, group.values, strict=True):
        holds = policy.when.holds(values)
        if holds is None:
            judging.miss(group, policy.when.missing(values))
        elif holds:
            instance = one.instance
            subject = (
                group.subject
                if policy.subject == JOB
                else Subject(
                    type="instance",
                    id=instance.resource_id,
                    account=instance.account,
                    region=instance.region,
                )
            )
            stake = one.rate.cost_of(DAY) if one.rate else None
            judging.findings.append(
                _finding(
                    policy, subject, values, now,
                    job=group.job, owner=group.owner, team=group.team, stake=stake,
                )
            )  # fmt: skip
        if policy.subject == JOB:
            return  # the condition is the same for every instance of a job


def _finding(
    policy: CustomPolicy,
    subject: Subject,
    values: Mapping[str, object],
    now: datetime,
    **about: object,
) -> Finding:
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=subject,
        job=str(about["job"]),
        severity=Severity(policy.severity),
        clause=policy.when.text,
        since=now,
        cost_at_stake=about["stake"],  # type: ignore[arg-type] # Money or None
        evidence=tuple(
            Evidence(name=name, value=_shown(name, values.get(name)))
            for name in policy.when.names
        ),
        explanation=(policy.say,),
        actions=(PlannedAction(do="warn", at=now),),
        owner=str(about["owner"]),
        team=str(about["team"]),
    )


_AMOUNTS = frozenset({"job.spent", "job.predicted", "job.rate", "instance.rate"})


def _shown(name: str, value: object) -> str | None:
    if value is None:
        return None
    if name in _AMOUNTS and isinstance(value, int):
        return str(Money(value, USD))
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    return str(value)[:200]


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    name = f"job {finding.job}" if finding.job else f"instance {finding.subject.id}"
    return message_of(finding, f"{name}: {finding.policy}")
