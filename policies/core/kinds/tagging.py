"""The kind `tagging`: what must be said on everything that costs money.

``job``, ``team``, ``owner`` and ``environment`` mean the configured tag keys, whatever
their alias; any other word is a tag key of its own. A value that is not allowed counts
as missing, and the nearest allowed one is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field, field_validator

from billing.core.attribution import nearest
from billing.core.periods import DAY
from policies.core.document import PolicyBase
from policies.core.facts import InstanceFacts
from policies.core.fields import (
    Account,
    DurationOrZero,
    InstanceCondition,
    TagKey,
    Text,
)
from policies.core.finding import Evidence, Finding, PlannedAction, Severity
from policies.core.judging import Judgement, Judging, message_of, plural
from policies.core.quantities import QuantityError
from policies.core.scoping import judged_groups
from policies.core.view import Group, View

ROLES = ("job", "team", "owner", "environment")


class TaggingPolicy(PolicyBase):
    """What must be said on everything that costs money."""

    kind: Literal["tagging"] = "tagging"
    where: InstanceCondition | None = Field(None, description="condition in CEL")
    accounts: tuple[Account, ...] = Field((), description="account ids; empty: all")
    require: tuple[TagKey, ...] = Field(
        ("job", "team", "owner"),
        description="job, team, owner, environment or other tag keys",
    )
    allowed: Mapping[TagKey, tuple[Text, ...]] = Field(
        default_factory=dict, description="the only values a required key may hold"
    )
    grace: DurationOrZero = Field(
        timedelta(minutes=15), description="time after a start to set them"
    )

    @field_validator("require")
    @classmethod
    def _something(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        if not keys:
            raise QuantityError("nothing", "at least one key")
        return keys


def judge(policy: TaggingPolicy, view: View, now: datetime) -> Judgement:
    """Return jobs and untagged instances that lack a required tag."""
    judging = Judging(policy)
    for group in judged_groups(judging, policy, view):
        old = [one for one in group.instances if _is_old(one, policy.grace, now)]
        wrong = {
            key: problems
            for key in _keys(policy)
            if (problems := _problems(policy, key, old))
        }
        if wrong:
            judging.findings.append(_finding(policy, group, wrong, now))
    return judging.result()


def _keys(policy: TaggingPolicy) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*policy.require, *policy.allowed)))


def _is_old(one: InstanceFacts, grace: timedelta, now: datetime) -> bool:
    """Tell whether there was time to tag; an unknown start is long ago."""
    return one.running_since is None or now - one.running_since >= grace


def _problems(
    policy: TaggingPolicy, key: str, instances: Iterable[InstanceFacts]
) -> dict[str, list[str]]:
    """Return what is wrong with a key -> ids of the instances it is wrong on."""
    found: dict[str, list[str]] = {}
    allowed = policy.allowed.get(key, ())
    for one in instances:
        value = _value(one, key)
        if not value:
            if key in policy.require:
                found.setdefault("missing", []).append(one.instance.resource_id)
        elif allowed and value.lower() not in {text.lower() for text in allowed}:
            close = nearest(value, allowed, 1)
            hint = f" (perhaps {close[0]!r})" if close else ""
            problem = f"{value!r} is not allowed{hint}"
            found.setdefault(problem, []).append(one.instance.resource_id)
    return found


def _value(one: InstanceFacts, key: str) -> str:
    roles = {
        "job": one.job,
        "team": one.team,
        "owner": one.owner,
        "environment": one.environment,
    }
    if key in roles:
        return roles[key].strip()
    wanted = key.lower()
    return next(
        (
            value.strip()
            for name, value in sorted(one.instance.tags.items())
            if name.lower() == wanted and value.strip()
        ),
        "",
    )


def _finding(
    policy: TaggingPolicy,
    group: Group,
    wrong: Mapping[str, Mapping[str, list[str]]],
    now: datetime,
) -> Finding:
    starts = [one.running_since for one in group.instances if one.running_since]
    rate = group.rate
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=group.subject,
        job=group.job,
        severity=Severity.WARNING,
        clause=f"requires {', '.join(_keys(policy))}",
        since=min(starts) + policy.grace if starts else now,
        cost_at_stake=rate.cost_of(DAY) if rate else None,
        evidence=tuple(
            Evidence(
                name=f"tag {key}",
                value="; ".join(sorted(problems)),
                threshold=", ".join(policy.allowed.get(key, ())) or "any value",
            )
            for key, problems in wrong.items()
        ),
        explanation=(
            *(_sentence(key, problems) for key, problems in wrong.items()),
            f"It costs {rate}, which nobody is named for."
            if rate
            else "The price per hour is unknown.",
        ),
        actions=(PlannedAction(do="warn", at=now),),
        owner=group.owner,
        team=group.team,
    )


def _sentence(key: str, problems: Mapping[str, list[str]]) -> str:
    said = [
        f"{problem} on {plural(len(ids), 'instance')} ({_some(ids)})"
        for problem, ids in sorted(problems.items())
    ]
    return f"Tag {key}: {'; '.join(said)}."


def _some(ids: list[str]) -> str:
    shown = sorted(ids)[:3]
    more = len(ids) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    name = f"job {finding.job}" if finding.job else f"instance {finding.subject.id}"
    return message_of(finding, f"{name} lacks tags ({finding.policy})")
