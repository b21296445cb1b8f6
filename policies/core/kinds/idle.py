"""The kind `idle`: GPUs that are paid for and do nothing.

A whole job is judged at once, since silent ranks belong to a running job. Every named
signal must be known for every GPU and every sample within its limit for the whole
time, or there is no finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field, field_validator

from policies.core.acting import planned, targets_of
from policies.core.activity import Activity, Cache, Watch, quiet_since
from policies.core.document import WARN, AfterStep, AfterSteps, Part, PolicyBase
from policies.core.fields import (
    Account,
    ByteRateLimit,
    Duration,
    DurationOrZero,
    InstanceCondition,
    PercentLimit,
    words,
)
from policies.core.finding import Evidence, Finding, PlannedAction, Severity
from policies.core.judging import (
    Judgement,
    Judging,
    message_of,
    number_text,
    plural,
)
from policies.core.quantities import Limit, QuantityError, duration_text, parse_limit
from policies.core.scoping import judged_groups
from policies.core.view import Group, View

#: Mean CPU utilisation from which an idle GPU means waiting, not doing nothing.
CPU_BUSY_PCT = 50.0
DAY = timedelta(days=1)
EXEMPT, JUDGE = "exempt", "judge"
#: The tag by which whoever starts something says that it serves requests.
WORKLOAD_TAG = "gpucost-workload"
SERVICES = frozenset({"service", "inference", "endpoint"})


class Signals(Part):
    """Signals that must all be quiet; a signal left out is not looked at."""

    gpu_utilization: PercentLimit | None = Field(None, description="of every GPU")
    gpu_memory_used: PercentLimit | None = Field(None, description="of every GPU")
    cpu_utilization: PercentLimit | None = Field(None, description="of the instance")
    network: ByteRateLimit | None = Field(None, description="in and out together")
    disk: ByteRateLimit | None = Field(None, description="read and written together")

    @property
    def limits(self) -> Mapping[str, Limit]:
        """Return the named signals with their limits."""
        named = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {name: limit for name, limit in named if limit is not None}


def _default_signals() -> Signals:
    return Signals(
        gpu_utilization=parse_limit("< 5%", unit="%"),
        network=parse_limit("< 1 MB/s", unit="B/s"),
    )


class IdlePolicy(PolicyBase):
    """GPUs that are paid for and do nothing."""

    kind: Literal["idle"] = "idle"
    where: InstanceCondition | None = Field(None, description="condition in CEL")
    accounts: tuple[Account, ...] = Field((), description="account ids; empty: all")
    signals: Signals = Field(
        default_factory=_default_signals, description="what must be quiet"
    )
    for_: Annotated[
        Duration, Field(alias="for", description="how long every signal must be quiet")
    ] = timedelta(minutes=30)
    grace: DurationOrZero = Field(
        timedelta(minutes=10), description="time after a start that does not count"
    )
    services: Annotated[str, *words(EXEMPT, JUDGE)] = Field(
        EXEMPT,
        description="what serves models waits for requests: exempt, or judge it too",
    )
    after_job_end: Duration | None = Field(
        timedelta(minutes=10), description="instead of `for` once the job has ended"
    )
    steps: AfterSteps = Field((AfterStep(do=WARN),), description="what to do, in order")

    @property
    def signals_window(self) -> timedelta:
        """Return how far back signals are looked at."""
        return self.for_

    @field_validator("signals")
    @classmethod
    def _some_signal(cls, signals: Signals) -> Signals:
        if not signals.limits:
            raise QuantityError("none", "at least one signal")
        for name, limit in signals.limits.items():
            if limit.op not in {"<", "<="}:
                raise QuantityError(f"{name}: {limit}", "signals below a limit (<)")
        return signals

    @field_validator("steps")
    @classmethod
    def _warn_first(cls, steps: tuple[AfterStep, ...]) -> tuple[AfterStep, ...]:
        warned = False
        for step in steps:
            if step.do == WARN:
                warned = True
            elif not warned or not step.after:
                expected = "a warn step first, and a delay before the one that acts"
                raise QuantityError(step.do, expected, f"add after: 15m to {step.do}")
        return steps


def judge(policy: IdlePolicy, view: View, now: datetime) -> Judgement:
    """Return jobs and untagged instances that are idle, and those not judged."""
    judging = Judging(policy)
    limits = policy.signals.limits
    watch = Watch(limits, now - policy.for_, now, view.cache)
    wait = min(policy.after_job_end or policy.for_, policy.for_)
    after_end = Watch(limits, now - wait, now, view.cache)
    for group in judged_groups(judging, policy, view, only_gpus=True):
        if policy.services == EXEMPT and _serves(group):
            continue
        chosen = after_end if _has_ended(policy, group, now) else watch
        _judge_group(judging, policy, group, chosen, view.cache)
    return judging.result()


def _serves(group: Group) -> bool:
    """Tell whether anything of a group says that it serves requests."""
    return any(
        key.lower() == WORKLOAD_TAG and value.strip().lower() in SERVICES
        for one in group.instances
        for key, value in one.instance.tags.items()
    )


def _has_ended(policy: IdlePolicy, group: Group, now: datetime) -> bool:
    """Tell whether the job ended long enough ago for less quiet time to do."""
    ended = group.facts.ended_at if group.facts else None
    wait = policy.after_job_end
    return ended is not None and wait is not None and now - ended >= wait


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One group held against the policy over one window."""

    policy: IdlePolicy
    group: Group
    watch: Watch
    cache: Cache
    activities: tuple[Activity, ...]

    @property
    def limits(self) -> Mapping[str, Limit]:
        return self.watch.limits

    @property
    def now(self) -> datetime:
        return self.watch.now

    @property
    def start(self) -> datetime:
        return self.watch.start

    @property
    def window(self) -> timedelta:
        return self.now - self.start


def _judge_group(
    judging: Judging, policy: IdlePolicy, group: Group, watch: Watch, cache: Cache
) -> None:
    activities = tuple(watch.activity(one) for one in group.instances)
    case = _Case(
        policy=policy, group=group, watch=watch, cache=cache, activities=activities
    )
    if any(activity.busy for activity in activities):
        advice = _advice(case)
        judging.findings += [advice] if advice else []
        return
    # What an instance did for the job before this one says nothing of this one.
    starts = [
        one.running_since and max(one.running_since, one.job_since or one.running_since)
        for one in group.instances
    ]
    warm = case.window + policy.grace
    if any(start is not None and case.now - start < warm for start in starts):
        return  # warming up: neither idle nor unknown
    missing = _missing(case)
    if missing:
        judging.miss(group, missing)
    else:
        judging.findings.append(_idle(judging, case))


def _missing(case: _Case) -> str:
    """Say what is missing to call the group idle, in one line; "" when nothing."""
    lacks: dict[str, int] = {}
    instances = case.group.instances
    for one, activity in zip(instances, case.activities, strict=True):
        reasons = list(activity.missing)
        if one.running_since is None:
            reasons.append("start of running")
        if not one.series_complete and not reasons:
            reasons.append("metrics: the source failed for its scope")
        for reason in reasons:
            lacks[reason] = lacks.get(reason, 0) + 1
    if len(instances) == 1:
        return "; ".join(lacks)
    return "; ".join(
        f"{lack} on {number} of {len(instances)} instances"
        for lack, number in lacks.items()
    )


def _clause(case: _Case) -> str:
    text = ", ".join(f"{name} {limit}" for name, limit in case.limits.items())
    return f"{text} for {duration_text(case.policy.for_)}"


def _evidence(case: _Case) -> tuple[Evidence, ...]:
    """Return the highest sample of each signal beside its limit."""
    values = []
    for name, limit in case.limits.items():
        tops = [a.highest[name] for a in case.activities if name in a.highest]
        times = [a.last_at[name] for a in case.activities if name in a.last_at]
        values.append(
            Evidence(
                name=f"highest {name}",
                value=number_text(max(tops)) if tops else None,
                unit=limit.unit,
                threshold=str(limit),
                as_of=max(times, default=None),
            )
        )
    return tuple(values)


def _idle(judging: Judging, case: _Case) -> Finding:
    """Return the finding for a group whose every signal is quiet."""
    group, policy, now = case.group, case.policy, case.now
    waiting = _cpu_busy(case)
    steps = [
        PlannedAction(
            do=step.do,
            at=now + step.after,
            after=None if step.do == WARN else step.after,
        )
        for step in policy.steps
        if not waiting or step.do == WARN
    ]
    actions, remarks = planned(judging, group, steps)
    rate = group.rate
    gpus = sum(one.gpus or 0 for one in group.instances)
    what = "idle, CPU busy" if waiting else "idle"
    explanation = [
        f"{plural(gpus, 'GPU')} of {plural(len(group.instances), 'instance')} "
        f"stayed within every limit for {duration_text(case.window)}: "
        + ", ".join(_limit_sentence(item) for item in _evidence(case))
        + "."
    ]
    if waiting:
        explanation.append(
            f"The CPUs are busy ({number_text(waiting)}%): the GPUs may be waiting "
            "for data, so nothing but a warning is proposed."
        )
    if rate is None:
        explanation.append("The price per hour is unknown.")
    else:
        explanation.append(f"It costs {rate}, {rate.cost_of(DAY)} a day.")
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=group.subject,
        job=group.job,
        severity=Severity.WARNING,
        clause=f"{what}: {_clause(case)}",
        since=_since(case),
        cost_at_stake=rate.cost_of(DAY) if rate else None,
        evidence=_evidence(case),
        explanation=(*explanation, *remarks),
        actions=actions,
        targets=targets_of(group),
        owner=group.owner,
        team=group.team,
    )


def _limit_sentence(item: Evidence) -> str:
    unit = item.unit if item.unit == "%" else f" {item.unit}"
    value = "not measured" if item.value is None else f"{item.value}{unit}"
    return f"{item.name} {value} (limit {item.threshold})"


def _since(case: _Case) -> datetime:
    """Return since when the whole group has been quiet, at the latest the window."""
    known = [
        quiet_since(one, case.limits, case.now, cache=case.cache) or case.start
        for one in case.group.instances
    ]
    return min(max(known), case.start)


def _cpu_busy(case: _Case) -> float | None:
    """Return the mean CPU utilisation when it tells of waiting; None otherwise."""
    if "cpu_utilization" in case.limits:
        return None
    means = (case.watch.mean(one, "cpu_utilization") for one in case.group.instances)
    top = max((mean for mean in means if mean is not None), default=0.0)
    return top if top >= CPU_BUSY_PCT else None


def _advice(case: _Case) -> Finding | None:
    """Return a remark on GPUs nobody uses beside busy ones; never an action."""
    known = sum(activity.known_gpus for activity in case.activities)
    quiet = sum(activity.quiet_gpus for activity in case.activities)
    gpu_busy = any("gpu_utilization" in a.busy for a in case.activities)
    if not gpu_busy or not quiet:
        return None
    group = case.group
    share = f"{quiet} of {known}"
    limit = case.limits["gpu_utilization"]
    return Finding(
        policy=case.policy.name,
        kind=case.policy.kind,
        mode=str(case.policy.mode),
        subject=group.subject,
        job=group.job,
        severity=Severity.INFO,
        clause=f"unused GPUs: gpu_utilization {limit}",
        since=case.start,
        cost_at_stake=None,
        evidence=(Evidence(name="unused GPUs", value=share, threshold=str(limit)),),
        explanation=(
            f"{share} GPUs unused for {duration_text(case.window)}, others work.",
            "Fewer GPUs may do.",
        ),
        owner=group.owner,
        team=group.team,
    )


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    name = f"job {finding.job}" if finding.job else f"instance {finding.subject.id}"
    return message_of(finding, f"{name} looks idle ({finding.policy})")
