"""The kind `ttl`: how long a job, or an instance without a job, may run.

The end comes from a live grant, else from the tag ``gpucost-ttl`` up to the policy's
maximum, else from its default. Something that still works is asked about, not ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from billing.core.periods import rfc3339
from policies.core.acting import planned, targets_of
from policies.core.activity import Watch
from policies.core.document import WARN, BeforeStep, BeforeSteps, PolicyBase
from policies.core.expiry import TTL_TAG, ExpiryError, parse_expiry
from policies.core.fields import Account, Duration, Flag, InstanceCondition, Zone
from policies.core.finding import Evidence, Finding, PlannedAction, Severity
from policies.core.judging import Judgement, Judging, message_of
from policies.core.quantities import QuantityError, duration_text, parse_limit
from policies.core.scoping import judged_groups
from policies.core.view import Group, View

#: How far back signs of work are looked for before something would be ended.
ACTIVITY_WINDOW = timedelta(minutes=30)
_QUIET = {"gpu_utilization": parse_limit("< 5%", unit="%")}
DAY = timedelta(days=1)
ASK = "ask"


class TtlPolicy(PolicyBase):
    """How long a job, or an instance without a job, may run."""

    kind: Literal["ttl"] = "ttl"
    where: InstanceCondition | None = Field(None, description="condition in CEL")
    accounts: tuple[Account, ...] = Field((), description="account ids; empty: all")
    default: Duration = Field(
        timedelta(hours=24), description="how long it may run when nothing else says"
    )
    max: Duration = Field(
        timedelta(days=7), description="the longest a gpucost-ttl tag may ask for"
    )
    timezone: Zone = Field(
        ZoneInfo("UTC"), description="zone of dates in tags that name none"
    )
    ignore_activity: Flag = Field(
        False,  # noqa: FBT003 (a default)
        description="end it even while it works; otherwise its owner is asked",
    )
    steps: BeforeSteps = Field(
        (BeforeStep(do=WARN, before=timedelta(hours=2)),),
        description="what to do, in order",
    )

    @property
    def signals_window(self) -> timedelta:
        """Return how far back signals are looked at."""
        return ACTIVITY_WINDOW

    @model_validator(mode="after")
    def _default_within_max(self) -> Self:
        if self.default > self.max:
            raise QuantityError(
                duration_text(self.default),
                f"a default of at most max ({duration_text(self.max)})",
            )
        return self

    @field_validator("steps")
    @classmethod
    def _warn_first(cls, steps: tuple[BeforeStep, ...]) -> tuple[BeforeStep, ...]:
        warned: timedelta | None = None
        for step in steps:
            if step.do == WARN:
                warned = step.before if warned is None else max(warned, step.before)
            elif warned is None or step.before >= warned:
                expected = "a warn step before the one that acts"
                hint = "add {before: 2h, do: warn} first"
                raise QuantityError(step.do, expected, hint)
        return steps


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """When something ends, and what says so."""

    at: datetime
    basis: str


def judge(policy: TtlPolicy, view: View, now: datetime) -> Judgement:
    """Return jobs and untagged instances near or past their end."""
    judging = Judging(policy)
    for group in judged_groups(judging, policy, view):
        _judge_group(judging, policy, group, view, now)
    return judging.result()


def _judge_group(
    judging: Judging, policy: TtlPolicy, group: Group, view: View, now: datetime
) -> None:
    starts = [one.running_since for one in group.instances]
    known = [start for start in starts if start is not None]
    if len(known) < len(starts):
        judging.miss(group, "start of running")
        return
    end = _end(policy, group, min(known))
    if isinstance(end, str):
        judging.miss(group, end)
        return
    first = end.at - max((step.before for step in policy.steps), default=timedelta())
    if now >= first:
        judging.findings.append(_finding(judging, policy, group, end, view, now))


def _end(policy: TtlPolicy, group: Group, started_at: datetime) -> _End | str:
    """Return when the group ends, or what is missing to say so."""
    facts = group.facts
    if facts is not None and facts.has_grant:
        if facts.grant_ends_at is None:
            return "end of its grant"
        return _End(at=facts.grant_ends_at, basis="its approval")
    tags = sorted(
        {
            one.instance.tags[TTL_TAG]
            for one in group.instances
            if one.instance.tags.get(TTL_TAG, "").strip()
        }
    )
    if not tags:
        text = f"the default of {duration_text(policy.default)}"
        return _End(at=started_at + policy.default, basis=text)
    try:
        ends = [(parse_expiry(tag, started_at, policy.timezone), tag) for tag in tags]
    except ExpiryError as error:
        return f"tag {TTL_TAG}: {error}"
    at, tag = max(ends)
    latest = started_at + policy.max
    if at > latest:
        limit = duration_text(policy.max)
        return _End(at=latest, basis=f"tag {TTL_TAG}={tag}, cut to the max of {limit}")
    return _End(at=at, basis=f"tag {TTL_TAG}={tag}")


def _finding(
    judging: Judging,
    policy: TtlPolicy,
    group: Group,
    end: _End,
    view: View,
    now: datetime,
) -> Finding:
    steps = [
        PlannedAction(do=step.do, at=end.at - step.before) for step in policy.steps
    ]
    works = "" if policy.ignore_activity else _works(group, view, now)
    acting = [step.do for step in steps if step.do != WARN]
    remarks: tuple[str, ...] = ()
    if works and acting:
        actions = tuple(_asking(steps))
        remarks = (f"It {works}, so its owner is asked before anything is ended.",)
    else:
        actions, remarks = planned(judging, group, steps)
    is_over = now >= end.at
    rate = group.rate
    when = "ended" if is_over else "ends"
    cost = f"It costs {rate}, {rate.cost_of(DAY)} a day." if rate else ""
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=group.subject,
        job=group.job,
        severity=Severity.CRITICAL if is_over else Severity.WARNING,
        clause=f"runs at most {duration_text(policy.default)} "
        f"(max {duration_text(policy.max)})",
        since=min((step.at for step in steps), default=end.at),
        cost_at_stake=rate.cost_of(DAY) if rate else None,
        evidence=(Evidence(name="end", value=rfc3339(end.at), threshold=end.basis),),
        explanation=(
            f"Its time {when} at {rfc3339(end.at)} by {end.basis}.",
            cost or "The price per hour is unknown.",
            *remarks,
        ),
        actions=actions,
        targets=targets_of(group),
        owner=group.owner,
        team=group.team,
    )


def _works(group: Group, view: View, now: datetime) -> str:
    """Say whether it works or nobody knows; "" when it is known to be quiet."""
    watch = Watch(_QUIET, now - ACTIVITY_WINDOW, now, view.cache)
    seen = [watch.activity(one) for one in group.instances]
    if any(activity.busy for activity in seen):
        return "still uses its GPUs"
    if any(activity.missing for activity in seen):
        return "cannot be seen to be idle (no GPU metrics)"
    return ""


def _asking(steps: Iterable[PlannedAction]) -> Iterable[PlannedAction]:
    """Replace what would end it by a question."""
    for step in steps:
        yield step if step.do == WARN else replace(step, do=ASK)


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    name = f"job {finding.job}" if finding.job else f"instance {finding.subject.id}"
    over = finding.severity is Severity.CRITICAL
    what = "has run longer than allowed" if over else "ends soon"
    return message_of(finding, f"{name} {what} ({finding.policy})")
