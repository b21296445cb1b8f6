"""Table tests of policies: facts in, findings out, for a policy repository's own CI.

A case states facts the way a person would say them, and what must be found. Every
difference is named; what a case does not mention is not checked, except that no other
finding may appear. Pure: reading files is someone else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import Field, PlainValidator, WithJsonSchema

from billing.core.fleet import Instance, InstanceState, Lifecycle
from billing.core.gpus import gpu_count
from billing.core.money import USD, Money, Rate
from billing.core.periods import day_of, month_start
from billing.ports import MetricSeries
from policies.core.activity import GPU_SIGNALS
from policies.core.catalogue import Policy
from policies.core.document import Part
from policies.core.evaluate import evaluate
from policies.core.facts import Facts, InstanceFacts, JobFacts, TeamMonth
from policies.core.fields import (
    Account,
    Amount,
    Count,
    Duration,
    Name,
    Text,
    reader,
    words,
)
from policies.core.finding import Evaluation, Finding
from policies.core.quantities import QuantityError, parse_limit

SAMPLE_EVERY = timedelta(minutes=5)
#: How far back a stated signal is taken to have been what it is said to be.
SIGNAL_SPAN = timedelta(hours=6)


def _instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise QuantityError(text, "an instant like 2026-11-30T09:00Z") from None
    if at.tzinfo is None:
        raise QuantityError(text, "an instant with its zone, like 2026-11-30T09:00Z")
    return at.astimezone(UTC)


def _measure(text: str) -> float:
    """Read ``3%``, ``2 kB/s`` or a plain number."""
    for unit in ("%", "B/s"):
        try:
            return float(parse_limit(f"< {text}", unit=unit).value)
        except QuantityError:
            continue
    try:
        return float(text)
    except ValueError:
        raise QuantityError(text, "a measure like 3%, 2 kB/s or 12") from None


def _measures(value: object) -> tuple[float, ...]:
    """Read one measure, or one for each GPU."""
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(one if isinstance(one, float) else _measure(str(one)) for one in items)


Instant = Annotated[
    datetime,
    PlainValidator(reader(datetime, _instant)),
    WithJsonSchema({"type": "string", "examples": ["2026-11-30T09:00Z"]}),
]
Measures = Annotated[
    tuple[float, ...],
    PlainValidator(_measures),
    WithJsonSchema({"type": ["string", "number", "array"]}),
]
LifecycleWord = Annotated[str, *words(*(one.value for one in Lifecycle))]


class InstanceCase(Part):
    """One running instance."""

    id: Text = Field(description="instance id")
    type: Text = Field("p5.48xlarge", description="instance type")
    job: Text | None = Field(None, description="job id; none: untagged")
    team: Text | None = Field(None, description="team")
    owner: Text | None = Field(None, description="owner")
    env: Text | None = Field(None, description="environment")
    account: Account = Field("123456789012", description="account id")
    region: Text = Field("us-east-1", description="region")
    lifecycle: LifecycleWord = Field("on-demand", description="how it was bought")
    running_for: Duration | None = Field(
        None, description="since when it runs; none: unknown"
    )
    rate: Amount | None = Field(None, description="price per hour; none: unknown")
    tags: Mapping[Text, Text] = Field(default_factory=dict, description="other tags")
    signals: Mapping[Text, Measures] = Field(
        default_factory=dict, description="what each signal shows, or each GPU"
    )


class JobCase(Part):
    """One job."""

    job: Text = Field(description="job id")
    team: Text | None = Field(None, description="team")
    owner: Text | None = Field(None, description="owner")
    env: Text | None = Field(None, description="environment")
    spent: Amount | None = Field(None, description="cost so far; none: unknown")
    predicted: Amount | None = Field(None, description="predicted total; none: unknown")
    rate: Amount | None = Field(None, description="cost per hour now; none: unknown")
    instances: Count = Field(1, description="instances it holds")
    gpus: Count | None = Field(None, description="GPUs it holds; none: unknown")
    ended: Duration | None = Field(None, description="how long ago it ended")
    approved: Amount | None = Field(None, description="ceiling that was approved")


class TeamCase(Part):
    """One team's month so far."""

    team: Text = Field(description="team")
    spent: Amount | None = Field(None, description="cost so far; none: unknown")
    forecast: Amount | None = Field(None, description="expected total of the month")
    budget: Amount | None = Field(None, description="the team's budget")


class ExpectedFinding(Part):
    """A finding that must be there; what is left out is not compared."""

    policy: Name = Field(description="name of the policy")
    subject: Text = Field(description="job, instance or team it is about")
    severity: Text | None = Field(None, description="info, warning or critical")
    actions: tuple[Text, ...] | None = Field(None, description="its steps, in order")
    says: Text | None = Field(None, description="part of what people read")


class ExpectedUnknown(Part):
    """A subject that must be unknown to a policy."""

    policy: Name = Field(description="name of the policy")
    subject: Text = Field(description="job, instance or team it is about")


class Case(Part):
    """One situation and what must be found in it."""

    name: Text = Field(description="what it shows, as a sentence")
    now: Instant = Field(
        datetime(2026, 1, 1, 12, tzinfo=UTC), description="when it is judged"
    )
    policies: tuple[Name, ...] = Field((), description="judged ones; empty: all")
    instances: tuple[InstanceCase, ...] = Field((), description="what runs")
    jobs: tuple[JobCase, ...] = Field((), description="jobs")
    teams: tuple[TeamCase, ...] = Field((), description="teams' months")
    findings: tuple[ExpectedFinding, ...] = Field(
        (), description="findings that must be there, and no others"
    )
    unknown: tuple[ExpectedUnknown, ...] = Field(
        (), description="subjects that must be unknown"
    )


class Casebook(Part):
    """A file of tests."""

    tests: tuple[Case, ...] = Field(description="the cases, in any order")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one case.

    Attributes:
        differences: What is not as expected; empty when it passed.
    """

    name: str
    differences: tuple[str, ...]


def run_case(case: Case, policies: Sequence[Policy]) -> Verdict:
    """Judge a case's facts and name every difference from what it expects."""
    known = {one.name for one in policies}
    missing = [name for name in _named(case) if name not in known]
    if missing:
        said = tuple(f"no policy {name!r} is loaded" for name in missing)
        return Verdict(name=case.name, differences=said)
    wanted = [one for one in policies if not case.policies or one.name in case.policies]
    evaluation = evaluate(wanted, facts_of(case), case.now)
    return Verdict(name=case.name, differences=tuple(_differences(case, evaluation)))


def _named(case: Case) -> list[str]:
    expected = {one.policy for one in case.findings}
    expected |= {one.policy for one in case.unknown}
    return sorted({*case.policies, *expected})


def _differences(case: Case, evaluation: Evaluation) -> Iterator[str]:
    found = {(one.policy, one.subject.id): one for one in evaluation.findings}
    expected = {(one.policy, one.subject): one for one in case.findings}
    unknown = {(one.policy, one.subject.id): one for one in evaluation.unknown}
    for key, wanted in expected.items():
        if key in found:
            yield from _compared(wanted, found[key])
        elif key in unknown:
            yield f"{_at(key)}: unknown: {unknown[key].missing}"
        else:
            yield f"{_at(key)}: no finding"
    for key, finding in found.items():
        if key not in expected:
            yield f"{_at(key)}: not expected: {finding.explanation[0]}"
    for wanted_unknown in case.unknown:
        key = (wanted_unknown.policy, wanted_unknown.subject)
        if key not in unknown:
            yield f"{_at(key)}: is known"


def _at(key: tuple[str, str]) -> str:
    return f"{key[0]} on {key[1]}"


def _compared(wanted: ExpectedFinding, finding: Finding) -> Iterator[str]:
    at = _at((wanted.policy, wanted.subject))
    actions = tuple(one.do for one in finding.actions)
    if wanted.severity is not None and wanted.severity != finding.severity.value:
        yield f"{at}: severity {finding.severity.value}, expected {wanted.severity}"
    if wanted.actions is not None and wanted.actions != actions:
        shown, hoped = ", ".join(actions), ", ".join(wanted.actions)
        yield f"{at}: actions [{shown}], expected [{hoped}]"
    said = " ".join(finding.explanation)
    if wanted.says is not None and wanted.says not in said:
        yield f"{at}: says {said!r}, expected {wanted.says!r} in it"


def facts_of(case: Case) -> Facts:
    """Return a case's facts as policies look at them."""
    jobs = [_job(one, case) for one in case.jobs]
    named = {one.job for one in jobs}
    bare = {one.job for one in case.instances if one.job} - named
    return Facts(
        currency=USD,
        instances=tuple(_instance(one, case.now) for one in case.instances),
        jobs=(
            *jobs,
            *(_job(JobCase.model_validate({"job": job}), case) for job in sorted(bare)),
        ),
        team_months=tuple(_month(one, case.now) for one in case.teams),
        today=day_of(case.now),
    )


def _instance(one: InstanceCase, now: datetime) -> InstanceFacts:
    started = None if one.running_for is None else now - one.running_for
    gpus = gpu_count(one.type)
    return InstanceFacts(
        instance=Instance(
            resource_id=one.id,
            account=one.account,
            region=one.region,
            zone=f"{one.region}a",
            instance_type=one.type,
            lifecycle=Lifecycle(one.lifecycle),
            state=InstanceState.RUNNING,
            launched_at=started or now,
            tags=dict(one.tags),
        ),
        job=(one.job or "").lower(),
        team=(one.team or "").lower(),
        owner=one.owner or "",
        environment=(one.env or "").lower(),
        gpus=gpus,
        rate=_rate(one.rate),
        running_since=started,
        series=tuple(_series(one, gpus, now)),
    )


def _series(
    one: InstanceCase, gpus: int | None, now: datetime
) -> Iterable[MetricSeries]:
    steps = SIGNAL_SPAN // SAMPLE_EVERY
    times = [now - SAMPLE_EVERY * back for back in reversed(range(steps))]
    for signal, values in sorted(one.signals.items()):
        parts = [""]
        if signal in GPU_SIGNALS:
            parts = [str(index) for index in range(max(gpus or 0, len(values)))]
        # One measure stands for every GPU; a shorter list leaves the rest unknown.
        stated = values * len(parts) if len(values) == 1 else values
        for part, value in zip(parts, stated, strict=False):
            yield MetricSeries(
                resource_id=one.id,
                signal=signal,
                part=part,
                points=tuple((at, value) for at in times),
                period_s=int(SAMPLE_EVERY.total_seconds()),
            )


def _job(one: JobCase, case: Case) -> JobFacts:
    job = one.job.lower()
    members = [some for some in case.instances if (some.job or "").lower() == job]
    gpus = one.gpus
    if gpus is None and members:
        counts = [gpu_count(some.type) for some in members]
        gpus = None if None in counts else sum(count or 0 for count in counts)
    return JobFacts(
        job=job,
        team=(one.team or next((m.team for m in members if m.team), "") or "").lower(),
        owner=one.owner or next((m.owner for m in members if m.owner), "") or "",
        environment=(
            one.env or next((m.env for m in members if m.env), "") or ""
        ).lower(),
        spent=one.spent,
        rate=_rate(one.rate),
        predicted=one.predicted,
        instance_types=tuple(sorted({some.type for some in members})),
        instances=len(members) or one.instances,
        gpus=gpus,
        since=None,
        ended_at=None if one.ended is None else case.now - one.ended,
        has_grant=one.approved is not None,
        approved_ceiling=one.approved,
    )


def _month(one: TeamCase, now: datetime) -> TeamMonth:
    return TeamMonth(
        team=one.team.lower(),
        since=month_start(day_of(now)),
        spent=one.spent,
        forecast=one.forecast,
        budget=one.budget,
    )


def _rate(amount: Money | None) -> Rate | None:
    return None if amount is None else Rate(amount.nanos, amount.currency)
