"""Whose an untagged resource probably is: signs, each with stated points; pure.

A sign that fits two jobs equally well decides nothing: then nobody is suggested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from billing.core.attribution import TagKeys, job_of
from billing.core.periods import Period
from billing.core.usage import ResourceKind, TagSpan, UsageInterval
from bot.views.untagged_values import Reason, Suggestion

#: What each sign counts; a suggestion needs ``LEAST`` in all, and is capped at 100.
POINTS = {
    "tagged": 70,
    "name": 60,
    "group": 50,
    "launch": 40,
    "prefix": 30,
    "only": 30,
    "owner": 25,
}
LEAST = 30
BEST = 100
#: Tags of what starts instances together.
GROUP_TAGS = (
    "aws:autoscaling:groupName",
    "aws:ec2:fleet-id",
    "parallelcluster:cluster-name",
    "skypilot-cluster-name",
    "ray-cluster-name",
    "eks:nodegroup-name",
    "karpenter.sh/nodepool",
    "sagemaker:cluster-name",
)
OWNER_TAGS = ("created-by", "createdby", "aws:createdby", "user")
_PREFIX_MIN = 4
_NUMBER = re.compile(r"[-_.\s]*\d+$")
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One resource and what it left behind.

    Attributes:
        jobs: Every job that any of its tags ever named.
        is_loose: True when none of them holds for the whole interval.
    """

    interval: UsageInterval
    tags: Mapping[str, str]
    jobs: frozenset[str]
    is_loose: bool


@dataclass(slots=True)
class Profile:
    """What the resources of one job have in common."""

    job: str
    groups: set[tuple[str, str]] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)
    prefixes: set[str] = field(default_factory=set)
    launches: set[tuple[str, str, str, datetime]] = field(default_factory=set)
    held: dict[tuple[str, str, str], list[UsageInterval]] = field(default_factory=dict)


def traces(
    intervals: Iterable[UsageInterval], tags: Iterable[TagSpan], keys: TagKeys
) -> list[Trace]:
    """Return every interval with its resource's tags, the newest value of each."""
    spans: dict[str, list[TagSpan]] = {}
    for span in tags:
        spans.setdefault(span.resource_id, []).append(span)
    found = []
    for one in intervals:
        mine = sorted(spans.get(one.resource_id, ()), key=lambda span: span.valid_from)
        named = [(span, job_of({span.key: span.value}, keys)) for span in mine]
        found.append(
            Trace(
                interval=one,
                tags={span.key: span.value for span in mine},
                jobs=frozenset(job for _, job in named if job),
                is_loose=not any(job and _lasts(span, one) for span, job in named),
            )
        )
    return found


def _lasts(span: TagSpan, one: UsageInterval) -> bool:
    if span.valid_to is None:
        return span.valid_from <= one.started_at
    ended = one.ended_at is not None and span.valid_to >= one.ended_at
    return ended and span.valid_from <= one.started_at


def profiles(known: Iterable[Trace], keys: TagKeys) -> dict[str, Profile]:
    """Return what the resources of each job have in common."""
    found: dict[str, Profile] = {}
    for one in known:
        for job in () if one.is_loose else one.jobs:
            profile = found.setdefault(job, Profile(job))
            profile.groups |= _groups(one)
            profile.owners |= _owners(one, keys)
            profile.prefixes |= _prefixes(one)
            profile.launches.add(_launch(one.interval))
            place = _place(one.interval)
            profile.held.setdefault(place, []).append(one.interval)
    return found


def suggested(
    trace: Trace, known: Mapping[str, Profile], keys: TagKeys, now: datetime
) -> tuple[Suggestion, ...]:
    """Return the jobs that a resource may belong to, likeliest first."""
    alone = _alone(trace.interval, known, now)
    found = []
    for job, profile in known.items():
        reasons = _reasons(trace, profile, keys)
        if alone == job:
            shape, region = trace.interval.shape, trace.interval.region
            text = f"the only job that ran {shape} in {region} then"
            reasons.append(Reason(text=text, points=POINTS["only"]))
        score = min(BEST, sum(one.points for one in reasons))
        if score >= LEAST:
            found.append(Suggestion(job=job, score=score, reasons=tuple(reasons)))
    return tuple(sorted(found, key=lambda one: (-one.score, one.job)))


def best(found: Sequence[Suggestion]) -> Suggestion | None:
    """Return the likeliest one; None when there is none, or two are as likely."""
    if not found or (len(found) > 1 and found[0].score == found[1].score):
        return None
    return found[0]


def _reasons(trace: Trace, profile: Profile, keys: TagKeys) -> list[Reason]:
    found = []
    if profile.job in trace.jobs:
        found.append(("tagged", "it carried this job's tag at another time"))
    name = trace.tags.get("Name", "").lower()
    if re.search(rf"(?<![\w-]){re.escape(profile.job)}(?![a-z0-9])", name):
        found.append(("name", f"its name {trace.tags['Name']!r} holds the job's"))
    for key, value in sorted(_groups(trace) & profile.groups):
        found.append(("group", f"same {key} {value!r} as its instances"))
        break
    if _launch(trace.interval) in profile.launches:
        at = trace.interval.started_at
        found.append(("launch", f"launched in the same minute ({at:%d %b %H:%M} UTC)"))
    prefixes = sorted(_prefixes(trace) & profile.prefixes)
    if prefixes:
        found.append(("prefix", f"named {prefixes[0]!r} like its instances"))
    owners = sorted(_owners(trace, keys) & profile.owners)
    if owners:
        found.append(("owner", f"same owner {owners[0]!r}"))
    return [Reason(text=text, points=POINTS[sign]) for sign, text in found]


def _groups(trace: Trace) -> set[tuple[str, str]]:
    return {(key, trace.tags[key]) for key in GROUP_TAGS if trace.tags.get(key)}


def _owners(trace: Trace, keys: TagKeys) -> set[str]:
    wanted = {key.lower() for key in keys.owner} | set(OWNER_TAGS)
    return {
        value.strip().lower()
        for key, value in trace.tags.items()
        if key.lower() in wanted and value.strip()
    }


def _prefixes(trace: Trace) -> set[str]:
    name = _NUMBER.sub("", trace.tags.get("Name", "").strip().lower())
    return {name} if len(name) >= _PREFIX_MIN else set()


def _launch(one: UsageInterval) -> tuple[str, str, str, datetime]:
    minute = one.started_at.replace(second=0, microsecond=0)
    return (one.account, one.region, one.shape, minute)


def _place(one: UsageInterval) -> tuple[str, str, str]:
    return (one.account, one.region, one.shape)


def _alone(one: UsageInterval, known: Mapping[str, Profile], now: datetime) -> str:
    """Return the only job that ran the same kind in the same place at the time."""
    if one.kind is not ResourceKind.INSTANCE:
        return ""
    mine = Period(one.started_at, max(one.started_at, one.ended_at or now))
    there = [
        job
        for job, profile in known.items()
        if any(
            mine.overlap(
                Period(other.started_at, max(other.started_at, other.ended_at or now))
            )
            for other in profile.held.get(_place(one), ())
        )
    ]
    return there[0] if len(there) == 1 else ""
