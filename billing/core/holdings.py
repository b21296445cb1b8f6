"""Holdings: who held a resource when, and with what share.

One function for the bill and for running cost, so that both say the same. Asked in this
order, at each instant: placements of a scheduler, split by accelerators held; the
resource's own job tag; idle, where a scheduler manages the resource; the parent's
holders, then what its tags and name say of a parent; what a person confirmed; mapping
rules. Where none answers, nobody is known. Pure; knows no store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from functools import lru_cache

from billing.core.assignments import Assignment, MappingRule, fits_usage
from billing.core.attribution import choose, is_job_key, normalise_job
from billing.core.claims import (
    ALL,
    IDLE_KEY,
    NOBODY,
    Claims,
    Holder,
    Segment,
    Subject,
    subject_of,
)
from billing.core.gpus import gpu_count
from billing.core.parents import parent_of_name, parent_of_tags
from billing.core.periods import Period
from billing.core.placements import Placement
from billing.core.priced import bucket_of
from billing.core.transfers import Rule
from billing.core.usage import TagSpan, UsageInterval

#: A holder's part of an amount: from one share of it to another.
Between = tuple[Fraction, Fraction]
WHOLE: Between = (Fraction(0), Fraction(1))
#: snapshot -> volume -> instance, and one more for what may come.
PARENTS_MAX = 4


def segments(
    subject: Subject, period: Period, claims: Claims, *, depth: int = 0
) -> list[Segment]:
    """Split a period of one resource by its holders, in time order and without gaps."""
    own = _Own(subject, period, claims)
    parent: list[Segment] = []
    if subject.parent_id and depth < PARENTS_MAX:
        above = claims.subjects.get(subject.parent_id) or Subject(
            resource_id=subject.parent_id,
            account=subject.account,
            region=subject.region,
        )
        parent = segments(above, period, claims, depth=depth + 1)
    cuts = own.cuts | {one.period.start for one in parent}
    instants = sorted(cut for cut in cuts if period.start < cut < period.end)
    bounds = [period.start, *instants, period.end]
    found: list[Segment] = []
    active = _sweep(own.placements, bounds[:-1])
    above_at = _follow(parent, bounds[:-1])
    for number, start in enumerate(bounds[:-1]):
        tagged = own.tagged(start)
        rest = own.rest(start, tagged, next(above_at))
        holders = _placed(subject.shape, next(active), rest)
        _append(found, Period(start, bounds[number + 1]), tagged, holders)
    return found


def shares_of(
    interval: UsageInterval, period: Period, claims: Claims
) -> list[tuple[str, Period, Between]]:
    """Return who held an interval when, as parts of each span that sum to all of it.

    A key is a job, a ``bucket:*``, or "" for nobody.
    """
    bucket = bucket_of(interval.kind)
    if bucket:
        return [(bucket, period, WHOLE)]
    found = []
    for segment in segments(subject_of(interval), period, claims):
        low = Fraction(0)
        for holder in segment.holders:
            high = low + holder.share
            held = WHOLE if holder.share == 1 else (low, high)
            found.append((holder.key, segment.period, held))
            low = high
    return found


def between(whole: int, held: Between) -> int:
    """Return a part of a whole number; the parts of all holders sum to it.

    >>> [between(10, (Fraction(a, 3), Fraction(a + 1, 3))) for a in range(3)]
    [3, 4, 3]
    """
    low, high = held
    return round(whole * high) - round(whole * low)


def _append(
    found: list[Segment], period: Period, tagged: str, holders: tuple[Holder, ...]
) -> None:
    """Add a segment, growing the last one where nothing changed."""
    if found and (found[-1].tagged, found[-1].holders) == (tagged, holders):
        period = Period(found.pop().period.start, period.end)
    found.append(Segment(period, tagged, holders))


def _sweep(
    placements: Sequence[Placement], starts: Sequence[datetime]
) -> Iterator[list[Placement]]:
    """Yield the placements that hold at each of ascending instants."""
    waiting, active = 0, []
    for start in starts:
        while waiting < len(placements) and placements[waiting].started_at <= start:
            active.append(placements[waiting])
            waiting += 1
        active = [one for one in active if one.ended_at is None or one.ended_at > start]
        yield active


def _follow(
    parent: Sequence[Segment], starts: Sequence[datetime]
) -> Iterator[Segment | None]:
    """Yield the parent's segment at each of ascending instants."""
    place = 0
    for start in starts:
        while place < len(parent) and parent[place].period.end <= start:
            place += 1
        yield parent[place] if place < len(parent) else None


def _placed(
    shape: str, active: Sequence[Placement], rest: tuple[Holder, ...]
) -> tuple[Holder, ...]:
    """Return the holders of an instant: placements first, the rest for what is left."""
    if not active:
        return rest
    capacity = gpu_count(shape)
    claims = [_claim(one, capacity) for one in active]
    claimed = sum(claims, Fraction(0))
    # More claimed than there is: everybody gets less, in proportion.
    is_over = capacity is None or claimed > capacity
    whole = claimed if is_over else Fraction(capacity or 0)
    of = f" of {capacity}" if capacity is not None else ""
    holders = [
        Holder(one.job, claim / whole, Rule.PLACEMENT, _evidence(one, of))
        for one, claim in zip(active, claims, strict=True)
        if claim
    ]
    if claimed < whole:
        left = 1 - claimed / whole
        holders += [
            Holder(one.key, one.share * left, one.rule, one.evidence) for one in rest
        ]
    return _merged(holders)


def _claim(placement: Placement, capacity: int | None) -> Fraction:
    """Return the accelerators that a placement holds.

    On a resource without any (or of an unknown type) every placement counts alike.
    """
    if not capacity:
        return ALL
    return Fraction(capacity if placement.gpus is None else placement.gpus)


def _evidence(placement: Placement, of: str) -> str:
    if placement.gpus is None:
        return f"{placement.source.value} {placement.external_id}"
    gpus = f"{placement.gpus.normalize():f}"
    return f"{placement.source.value} {placement.external_id}: {gpus}{of} GPUs"


def _merged(holders: Iterable[Holder]) -> tuple[Holder, ...]:
    """Return one holder for each key and rule, in the order of their first."""
    merged: dict[tuple[str, Rule | None], Holder] = {}
    for one in holders:
        before = merged.get((one.key, one.rule))
        if before is not None:
            one = Holder(  # noqa: PLW2901 - it grows
                one.key, before.share + one.share, one.rule, before.evidence
            )
        merged[one.key, one.rule] = one
    return tuple(merged.values())


class _Own:
    """What is known of one subject itself, over one period."""

    def __init__(self, subject: Subject, period: Period, claims: Claims) -> None:
        self._subject = subject
        self._claims = claims
        self._rules = claims.rules
        spans = [
            one
            for one in claims.tags.get(subject.resource_id, ())
            if one.valid_from < period.end
            and (one.valid_to is None or one.valid_to > period.start)
        ]
        self._spans = self._with_late(spans)
        self.placements = sorted(
            (
                one
                for one in claims.placements.get(subject.resource_id, ())
                if one.started_at < period.end
                and (one.ended_at is None or one.ended_at > period.start)
            ),
            key=lambda one: (one.started_at, one.source, one.external_id, one.attempt),
        )
        self._assignments = [
            one for one in claims.assignments if self._is_mine(one)
        ]  # Later ones overrule earlier ones: the newest word of a person counts.
        self._is_managed = subject.resource_id in claims.managed
        self._name = parent_of_name(subject.resource_id, self._rules.parents)
        self.cuts = set(self._cuts())

    def _with_late(self, spans: Sequence[TagSpan]) -> list[TagSpan]:
        """Let the first job tag of a start count from the start, if it came soon."""
        start = self._subject.started_at
        jobs = [one for one in spans if is_job_key(one.key, self._rules.keys)]
        if start is None or not jobs:
            return list(spans)
        if any(one.valid_from <= start for one in jobs):
            return list(spans)
        first = min(one.valid_from for one in jobs)
        if first - start > self._rules.late_tags:
            return list(spans)
        return [
            TagSpan(
                resource_id=one.resource_id,
                key=one.key,
                value=one.value,
                valid_from=start if one in jobs and one.valid_from == first else one.valid_from,
                valid_to=one.valid_to,
            )
            for one in spans
        ]  # fmt: skip

    def _is_mine(self, one: Assignment) -> bool:
        subject = self._subject
        if one.account != subject.account:
            return False
        if one.resource_id:
            return one.resource_id == subject.resource_id
        return one.region in {"", subject.region} and bool(
            subject.usage_type and fits_usage(one.usage_type, subject.usage_type)
        )

    def _cuts(self) -> Iterator[datetime]:
        for placement in self.placements:
            yield placement.started_at
            if placement.ended_at is not None:
                yield placement.ended_at
        for span in self._spans:
            yield span.valid_from
            if span.valid_to is not None:
                yield span.valid_to
        for one in self._assignments:
            yield one.since
            if one.until is not None:
                yield one.until

    def tagged(self, instant: datetime) -> str:
        """Return the job of the own tag at an instant; "" when there is none."""
        tags = self._tags(instant)
        return normalise_job(choose(tags, self._rules.keys.job).value) if tags else ""

    def rest(
        self, instant: datetime, tagged: str, above: Segment | None
    ) -> tuple[Holder, ...]:
        """Return who holds what no placement claims."""
        if tagged:
            return (_tag_holder(tagged),)
        if self._is_managed:
            return (_IDLE,)
        if above is None:
            return self._said(instant)
        known = [
            Holder(one.key, one.share, Rule.PARENT, f"its parent: {one.evidence}")
            for one in above.holders
            if one.key
        ]
        open_share = 1 - sum((one.share for one in known), Fraction(0))
        if not open_share:
            return _merged(known)
        said = self._said(instant)
        return _merged([
            *known,
            *(Holder(one.key, one.share * open_share, one.rule, one.evidence) for one in said),
        ])  # fmt: skip

    def _said(self, instant: datetime) -> tuple[Holder, ...]:
        """Return what parents' tags, people and mapping rules say at an instant."""
        tags = self._tags(instant)
        parent = self._name or parent_of_tags(tags, self._rules.parents)
        if parent:
            return (Holder(parent, ALL, Rule.PARENT, "its tags or name"),)
        found = assigned(self._assignments, instant)
        if found is not None:
            return (found,)
        return (mapped(self._rules.mapping, self._subject, tags),)

    def _tags(self, instant: datetime) -> dict[str, str]:
        held: dict[str, TagSpan] = {}
        for span in self._spans:
            if span.valid_from <= instant and (
                span.valid_to is None or span.valid_to > instant
            ):
                before = held.get(span.key)
                if before is None or before.valid_from <= span.valid_from:
                    held[span.key] = span
        return {key: span.value for key, span in held.items()}


def assigned(assignments: Sequence[Assignment], instant: datetime) -> Holder | None:
    """Return the newest assignment that holds at an instant; None when none does."""
    held = [
        one
        for one in assignments
        if one.since <= instant and (one.until is None or instant < one.until)
    ]
    if not held:
        return None
    newest = max(held, key=lambda one: (one.at, one.assignment_id or 0))
    number = newest.assignment_id
    return Holder(
        newest.job, ALL, Rule.ASSIGNMENT, f"assignment {number}: {newest.reason}"
    )


def mapped(
    rules: Sequence[MappingRule], subject: Subject, tags: Mapping[str, str]
) -> Holder:
    """Return the holder that the first fitting rule names; nobody when none fits."""
    for rule in rules:
        if _fits(rule, subject, tags):
            return Holder(rule.to_key, ALL, Rule.MAPPING, f"rule {rule.name}")
    return NOBODY


def _fits(rule: MappingRule, subject: Subject, tags: Mapping[str, str]) -> bool:
    if rule.account not in {"", subject.account}:
        return False
    if rule.region not in {"", subject.region}:
        return False
    if rule.service and rule.service.lower() not in subject.service.lower():
        return False
    if rule.usage_type and not (
        subject.usage_type and fits_usage(rule.usage_type, subject.usage_type)
    ):
        return False
    if not rule.tag_key:
        return True
    value = choose(tags, (rule.tag_key,)).value
    return bool(value) and rule.tag_value.strip().lower() in {"", value.lower()}


@lru_cache(maxsize=4096)
def _tag_holder(job: str) -> Holder:
    return Holder(job, ALL, Rule.TAG, "its job tag")


_IDLE = Holder(IDLE_KEY, ALL, Rule.IDLE, "no job held it")
