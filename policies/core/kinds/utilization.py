"""The kind `utilization`: GPUs that work, but far below what they could.

The mean over every GPU of a job and the whole window is held against a target; one GPU
without samples makes it unknown. It never acts: a slow job is its owner's to mend.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from statistics import fmean
from typing import Annotated, Literal

from pydantic import Field

from billing.core.periods import DAY
from policies.core.activity import Watch
from policies.core.document import PolicyBase
from policies.core.fields import (
    Account,
    Duration,
    DurationOrZero,
    InstanceCondition,
    Percent,
)
from policies.core.finding import Evidence, Finding, PlannedAction, Severity
from policies.core.judging import Judgement, Judging, message_of, number_text, plural
from policies.core.quantities import duration_text, parse_limit
from policies.core.scoping import judged_groups
from policies.core.view import Group, View

SIGNAL = "gpu_utilization"
#: A mean below this is idleness, which the kind `idle` is about.
IDLE_BELOW_PCT = 5.0


class UtilizationPolicy(PolicyBase):
    """GPUs that work, but far below what they could."""

    kind: Literal["utilization"] = "utilization"
    where: InstanceCondition | None = Field(None, description="condition in CEL")
    accounts: tuple[Account, ...] = Field((), description="account ids; empty: all")
    below: Percent = Field(
        Fraction(7, 10), description="mean GPU utilisation that is too low"
    )
    for_: Annotated[
        Duration, Field(alias="for", description="how long the mean is taken over")
    ] = timedelta(minutes=10)
    grace: DurationOrZero = Field(
        timedelta(minutes=30), description="time after a start that does not count"
    )

    @property
    def signals_window(self) -> timedelta:
        """Return how far back signals are looked at."""
        return self.for_


def judge(policy: UtilizationPolicy, view: View, now: datetime) -> Judgement:
    """Return jobs and untagged instances whose GPUs are used too little."""
    judging = Judging(policy)
    limits = {SIGNAL: parse_limit("< 5%", unit="%")}
    watch = Watch(limits, now - policy.for_, now, view.cache)
    for group in judged_groups(judging, policy, view, only_gpus=True):
        starts = [one.running_since for one in group.instances]
        warm = policy.for_ + policy.grace
        if any(start is not None and now - start < warm for start in starts):
            continue  # warming up: boot and data loading are not low use
        means = [watch.means(one, SIGNAL) for one in group.instances]
        missing = sorted({lack for _, lack in means if lack})
        if missing:
            judging.miss(group, "; ".join(missing))
            continue
        values = [value for found, _ in means for value in found]
        if values and IDLE_BELOW_PCT <= fmean(values) < float(policy.below * 100):
            judging.findings.append(_finding(policy, group, values, now))
    return judging.result()


def _finding(
    policy: UtilizationPolicy, group: Group, values: Sequence[float], now: datetime
) -> Finding:
    mean = fmean(values)
    target = float(policy.below * 100)
    shortfall = 1 - Fraction(mean) / Fraction(target)
    rate = group.rate
    stake = rate.cost_of(DAY).scaled(shortfall) if rate else None
    shown = number_text(mean)
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=group.subject,
        job=group.job,
        severity=Severity.WARNING,
        clause=f"below {target:g}% for {duration_text(policy.for_)}",
        since=now - policy.for_,
        cost_at_stake=stake,
        evidence=(
            Evidence(
                name="mean GPU utilisation",
                value=shown,
                unit="%",
                threshold=f">= {target:g}%",
                as_of=now,
            ),
            Evidence(name="lowest GPU", value=number_text(min(values)), unit="%"),
            Evidence(name="highest GPU", value=number_text(max(values)), unit="%"),
        ),
        explanation=(
            f"The mean of {plural(len(values), 'GPU')} was {shown}%.",
            f"That is the last {duration_text(policy.for_)}; the target is {target:g}%.",
            f"At the target the same work would cost {stake} a day less."
            if stake
            else "The price per hour is unknown.",
        ),
        actions=(PlannedAction(do="warn", at=now),),
        owner=group.owner,
        team=group.team,
    )


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    name = f"job {finding.job}" if finding.job else f"instance {finding.subject.id}"
    return message_of(finding, f"{name} uses its GPUs little ({finding.policy})")
