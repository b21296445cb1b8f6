"""The kind `checkpoint-retention`: checkpoints nobody needs any more.

Proposes only; this release deletes and tags nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from billing.core.money import Money
from policies.core.document import Part, PolicyBase
from policies.core.facts import CheckpointFacts, JobFacts
from policies.core.fields import (
    CountFromOne,
    Duration,
    JobCondition,
    Steps,
    Text,
    reader,
    words,
)
from policies.core.finding import (
    Evidence,
    Finding,
    PlannedAction,
    Severity,
    Subject,
    Unknown,
)
from policies.core.judging import Judgement, message_of, number_text, plural
from policies.core.locations import Location, parse_location
from policies.core.quantities import QuantityError, duration_text, parse_count
from policies.core.retention import Checkpoint, Plan, Rule, checkpoints_of, plan
from policies.core.view import View, job_values

GIB = 2**30
ALL = "all"
STEPS_SHOWN = 5


def _last(value: object) -> int | None:
    """Read how many to keep: a number from 1, or ``all`` (None)."""
    if value is None or (isinstance(value, int) and value >= 1):
        return value
    text = str(value)
    if text == ALL:
        return None
    try:
        return parse_count(text, least=1)
    except QuantityError:
        expected = "a number of at least 1, or all"
        raise QuantityError(text, expected, "0 would keep nothing") from None


Last = Annotated[
    int | None,
    PlainValidator(_last),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": ALL}]}),
]


class Best(Part):
    """The best by a metric; unknown values make nothing be proposed."""

    count: CountFromOne = Field(1, description="how many to keep")
    metric: Text = Field(description="name of the metric, such as eval_loss")
    order: Annotated[str, *words("min", "max")] = Field(
        "min", description="whether lower (min) or higher (max) is better"
    )


class Keep(Part):
    """What to keep; a checkpoint that any clause keeps stays."""

    last: Last = Field(1, description="newest complete ones of each run, or all")
    best: Best | None = Field(None, description="the best by a metric")
    every: Steps | None = Field(None, description="steps that are multiples of this")
    newer_than: Duration | None = Field(None, description="anything younger")


class CheckpointRetentionPolicy(PolicyBase):
    """Checkpoints nobody needs any more."""

    kind: Literal["checkpoint-retention"] = "checkpoint-retention"
    where: JobCondition | None = Field(None, description="condition in CEL")
    location: Annotated[
        Location,
        PlainValidator(reader(Location, parse_location)),
        WithJsonSchema({"type": "string", "pattern": r"^s3://.*\{step\}.*/$"}),
    ] = Field(description="S3 template with {step}, and {job} unless there is one job")
    keep: Keep = Field(description="what to keep")
    settle: Duration = Field(
        timedelta(hours=1), description="younger than this it may still be written"
    )
    do: Annotated[str, *words("quarantine")] = Field(
        "quarantine", description="what is proposed: tag, and delete after `hold`"
    )
    hold: Duration = Field(
        timedelta(days=7), description="how long something stays tagged"
    )

    @model_validator(mode="after")
    def _settled_within_hold(self) -> Self:
        if self.keep.best is not None and self.keep.last is None:
            raise QuantityError("last: all", "best without last: all, which keeps all")
        return self

    @property
    def rule(self) -> Rule:
        """Return the keys as a rule of the planner."""
        best = self.keep.best
        return Rule(
            last=self.keep.last,
            best=best.count if best else 0,
            metric=best.metric if best else "",
            is_lower_better=best is None or best.order == "min",
            every=self.keep.every or 0,
            newer_than=self.keep.newer_than,
            settle=self.settle,
        )


def judge(policy: CheckpointRetentionPolicy, view: View, now: datetime) -> Judgement:
    """Return jobs whose checkpoints could go, and those that cannot be judged."""
    listed = [
        facts
        for facts in view.facts.checkpoints
        if facts.location == policy.location.text
    ]
    if not listed or not all(facts.is_complete for facts in listed):
        what = "a complete listing" if listed else "a listing"
        return Judgement(
            unknown=(_unknown(policy, "", f"{what} of {policy.location}"),), in_scope=1
        )
    facts = min(listed, key=repr) if len(listed) > 1 else listed[0]
    jobs = {job.job: job for job in view.jobs}
    findings: list[Finding] = []
    unknown: list[Unknown] = []
    found = checkpoints_of(policy.location, facts.objects)
    for job, checkpoints in sorted(found.items()):
        known = jobs.get(job.lower())
        missing = _out_of_scope(policy, job, known)
        if missing is None:
            continue
        decided = plan(policy.rule, job, checkpoints, now)
        if missing or decided.question:
            unknown.append(_unknown(policy, job, missing or decided.question))
        elif decided.drop:
            findings.append(_finding(policy, decided, facts, known, now))
    return Judgement(
        findings=tuple(findings), unknown=tuple(unknown), in_scope=len(found)
    )


def _subject(policy: CheckpointRetentionPolicy, job: str) -> Subject:
    text = policy.location.folder(job) if job else policy.location.text
    return Subject(type="checkpoint-location", id=text)


def _unknown(policy: CheckpointRetentionPolicy, job: str, missing: str) -> Unknown:
    return Unknown(
        policy=policy.name, subject=_subject(policy, job), missing=missing, job=job
    )


def _out_of_scope(
    policy: CheckpointRetentionPolicy, job: str, known: JobFacts | None
) -> str | None:
    """Return None when `where:` leaves the job out, what is missing, or ""."""
    if policy.where is None:
        return ""
    values: dict[str, object] = job_values(known) if known else {"job.id": job}
    holds = policy.where.holds(values)
    if holds is False:
        return None
    return "" if holds else policy.where.missing(values)


def _finding(
    policy: CheckpointRetentionPolicy,
    decided: Plan,
    facts: CheckpointFacts,
    known: JobFacts | None,
    now: datetime,
) -> Finding:
    price = facts.price_per_gb_month
    before, after = (
        _monthly(price, size) for size in (decided.bytes_before, decided.bytes_after)
    )
    saved = before - after if before is not None and after is not None else None
    oldest = min(one.written_at for one in decided.drop)
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=_subject(policy, decided.job),
        job=decided.job,
        severity=Severity.WARNING,
        clause="kept by no clause of keep",
        since=min(oldest, now),
        cost_at_stake=saved,
        evidence=(
            Evidence(name="bytes before", value=str(decided.bytes_before), unit="B"),
            Evidence(name="bytes after", value=str(decided.bytes_after), unit="B"),
            _money_evidence("cost per month before", before),
            _money_evidence("cost per month after", after),
        ),
        explanation=tuple(_sentences(policy, decided, before, after)),
        actions=(PlannedAction(do=policy.do, at=now),),
        owner=known.owner if known else "",
        team=known.team if known else "",
    )


def _monthly(price: Money | None, size_bytes: int) -> Money | None:
    return None if price is None else price.scaled(Fraction(size_bytes, GIB))


def _money_evidence(name: str, amount: Money | None) -> Evidence:
    if amount is None:
        return Evidence(name=name, value=None)
    return Evidence(name=name, value=amount.text(), unit=amount.currency)


def _sentences(
    policy: CheckpointRetentionPolicy,
    decided: Plan,
    before: Money | None,
    after: Money | None,
) -> list[str]:
    kept = [one for one, _ in decided.keep]
    size = f"{_size(decided.bytes_before)} would become {_size(decided.bytes_after)}"
    cost = (
        "the storage price is unknown"
        if before is None
        else f"{before} a month would become {after}"
    )
    return [
        f"{plural(len(decided.drop), 'checkpoint')} could go: {_steps(decided.drop)}.",
        f"{plural(len(kept), 'checkpoint')} would stay: {_steps(kept)}.",
        f"{size}; {cost}.",
        f"Proposed: {policy.do}, then {duration_text(policy.hold)} to object.",
        "Nothing is deleted: this release only proposes.",
    ]


def _steps(checkpoints: Iterable[Checkpoint]) -> str:
    steps = [one.step for one in checkpoints]
    shown = ", ".join(str(step) for step in steps[:STEPS_SHOWN])
    left = len(steps) - STEPS_SHOWN
    return f"step {shown} and {left} more" if left > 0 else f"step {shown}"


def _size(size_bytes: int) -> str:
    return f"{number_text(size_bytes / GIB)} GiB"


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    name = f"job {finding.job}" if finding.job else finding.subject.id
    return message_of(
        finding, f"{name} keeps checkpoints it does not need ({finding.policy})"
    )
