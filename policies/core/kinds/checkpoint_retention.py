"""The kind `checkpoint-retention`: checkpoints nobody needs any more.

What it costs, and what a person reads of it, is `policies.core.retention_words`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

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
    Finding,
    PlannedAction,
    Severity,
    Subject,
    Unknown,
)
from policies.core.holding import RESUMED_FROM, held, scores_of, target_of
from policies.core.judging import Judgement, message_of
from policies.core.locations import Location, parse_location
from policies.core.quantities import QuantityError, duration_text, parse_count
from policies.core.retention import (
    Checkpoint,
    Plan,
    Rule,
    checkpoints_of,
    deleted_bytes,
    plan,
)
from policies.core.retention_words import (
    WHAT_ENFORCE_DOES,
    cost_of,
    evidence_of,
    leftovers,
    listing,
    sentences_of,
    unlisted,
)
from policies.core.view import View, job_values

ALL = "all"
#: A checkpoint of more versions is told and never touched.
PARTS_MAX = 1_000


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
        "quarantine", description="what is done: tag, and delete after `hold`"
    )
    hold: Duration = Field(
        timedelta(days=7),
        description="how long something stays tagged before it is deleted",
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
        partly = next((one for one in listed if not one.is_complete), None)
        lacking = _unknown(policy, "", unlisted(partly, policy.location.text))
        return Judgement(unknown=(lacking,), in_scope=1)
    facts = min(listed, key=repr) if len(listed) > 1 else listed[0]
    jobs = {job.job: job for job in view.jobs}
    sources = resumed_from(view)
    findings: list[Finding] = []
    unknown: list[Unknown] = []
    found = checkpoints_of(policy.location, facts.objects)
    for job, checkpoints in sorted(found.items()):
        known = jobs.get(job.lower())
        missing = _out_of_scope(policy, job, known)
        if missing is None:
            continue
        decided = decide(policy, job, checkpoints, facts, sources=sources, now=now)
        if missing or decided.question:
            unknown.append(_unknown(policy, job, missing or decided.question))
        elif decided.drop:
            findings.append(_finding(policy, decided, facts, known, now))
    return Judgement(
        findings=tuple(findings), unknown=tuple(unknown), in_scope=len(found)
    )


def decide(
    policy: CheckpointRetentionPolicy,
    job: str,
    checkpoints: Sequence[Checkpoint],
    facts: CheckpointFacts,
    *,
    sources: Sequence[str],
    now: datetime,
) -> Plan:
    """Decide what stays of one job, with what its objects themselves say."""
    metric = policy.rule.metric
    return plan(
        policy.rule,
        job,
        checkpoints,
        now,
        scores=scores_of(checkpoints, facts.tags, metric) if metric else None,
        held=held(checkpoints, facts.tags, sources, now),
    )


def resumed_from(view: View) -> tuple[str, ...]:
    """Return the S3 addresses that running instances say they were resumed from."""
    found = {
        one.instance.tags.get(RESUMED_FROM, "").strip()
        for group in view.groups
        for one in group.instances
    }
    return tuple(sorted(found - {""}))


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
    cost = cost_of(decided, facts.prices, now)
    oldest = min(one.written_at for one in decided.drop)
    location, job = policy.location, decided.job
    deleted = deleted_bytes(location, facts.objects).get(job, 0)
    folder = location.folder(job).removeprefix(f"s3://{location.bucket}/")
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=_subject(policy, job),
        job=job,
        severity=Severity.WARNING,
        clause="kept by no clause of keep",
        since=min(oldest, now),
        cost_at_stake=cost.saved,
        evidence=evidence_of(decided, cost),
        explanation=(
            *sentences_of(decided, cost),
            *leftovers(facts, folder, deleted, now),
            *listing(facts),
            f"Proposed: {policy.do}, then {duration_text(policy.hold)} to object.",
            WHAT_ENFORCE_DOES,
        ),
        actions=(
            PlannedAction(do=policy.do, at=now, after=timedelta()),
            PlannedAction(do="delete", at=now, after=policy.hold),
        ),
        targets=tuple(
            sorted(
                target_of(one) for one in decided.drop if len(one.parts) <= PARTS_MAX
            )
        ),
        owner=known.owner if known else "",
        team=known.team if known else "",
    )


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    name = f"job {finding.job}" if finding.job else finding.subject.id
    return message_of(
        finding, f"{name} keeps checkpoints it does not need ({finding.policy})"
    )
