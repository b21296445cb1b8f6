"""How observations become running intervals and tag history.

One poll after another is compared with what is known; what it teaches is returned as
values for a ledger to keep. LaunchTime resets at each start, pending time is free, and
only a completely read scope can end anything by absence. Pure; knows no store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from billing.core.fleet import (
    FleetObservation,
    Instance,
    InstanceState,
    Volume,
)
from billing.core.resources import SERVICE_OF, OtherResources, Resource
from billing.core.seen import (
    instance_interval,
    resource_interval,
    shape_of,
    volume_interval,
)
from billing.core.usage import EndBasis, TagSpan, UsageInterval

_Seen = TypeVar("_Seen", Instance, Volume, Resource)

#: A tag that comes this soon after a launch counts from the launch: programs launch
#: first and tag afterwards.
TAG_GRACE = timedelta(hours=1)

_GONE_VOLUMES = frozenset({"deleting", "deleted", "error"})
#: Later states of one start win when an observation names an instance twice.
_STATE_ORDER = tuple(InstanceState)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What one observation taught; intervals are keyed by resource and start.

    Attributes:
        opened: Intervals not known before; some have ended already.
        extended: Known intervals seen running again (or again after a gap in sight).
        ended: Known intervals with their end, or with a better known end.
        tags_opened: Tag spans that begin; their ``valid_to`` is None.
        tags_closed: Known open spans with their ``valid_to``.
    """

    opened: tuple[UsageInterval, ...] = ()
    extended: tuple[UsageInterval, ...] = ()
    ended: tuple[UsageInterval, ...] = ()
    tags_opened: tuple[TagSpan, ...] = ()
    tags_closed: tuple[TagSpan, ...] = ()


def advance(
    known: Iterable[UsageInterval],
    open_tags: Iterable[TagSpan],
    observation: FleetObservation,
    *,
    applied_at: datetime | None = None,
) -> Changes:
    """Learn from one poll; the same poll again, in any order, teaches nothing new.

    Args:
        known: Every open interval, and the last ended one of each observed resource
            (without those an end may be stated again, under the same key).
        open_tags: Every tag span that still holds.
        observation: What the poll saw.
        applied_at: Time of the newest poll learned from; an older one is ignored.
    """
    if applied_at is not None and observation.observed_at < applied_at:
        return Changes()
    learning = _Learning(_last_of_each(known), observation)
    for instance in _one_each(observation.instances):
        learning.instance(instance)
    for volume in _one_each(observation.volumes):
        learning.volume(volume)
    if observation.others is not None:
        for resource in _one_each(observation.others.resources):
            learning.resource(resource)
    learning.absent()
    learning.tags(open_tags)
    return learning.changes()


class _Learning:
    """The work of one `advance`: what was known, and what is found."""

    def __init__(
        self, last: dict[str, UsageInterval], observation: FleetObservation
    ) -> None:
        self._last = last
        self._now = observation.observed_at
        self._scanned = frozenset(observation.scanned)
        others = observation.others or OtherResources()
        self._scanned_services = frozenset(others.scanned)
        #: What is known of these is newer than this look at them.
        self._newer = {
            found.resource_id
            for found in last.values()
            if found.last_seen_at > self._now
        }
        self._opened: list[UsageInterval] = []
        self._extended: list[UsageInterval] = []
        self._ended: list[UsageInterval] = []
        self._tags_opened: list[TagSpan] = []
        self._tags_closed: list[TagSpan] = []
        #: Resource -> its start and its tags, for everything in sight.
        self._sighted: dict[str, tuple[datetime, Mapping[str, str]]] = {}

    def instance(self, instance: Instance) -> None:
        """Learn from one instance in whatever state."""
        if instance.resource_id in self._newer:
            return
        self._sighted[instance.resource_id] = (instance.launched_at, instance.tags)
        last = self._last.get(instance.resource_id)
        if last is not None and last.started_at < instance.launched_at:
            if last.ended_at is None:  # It restarted unseen, at the latest just then.
                self._ended.append(_bounded(last, instance.launched_at))
            last = None
        if instance.state is InstanceState.RUNNING:
            self._running(instance, last)
        elif instance.state is not InstanceState.PENDING:
            self._not_running(instance, last)

    def _running(self, instance: Instance, last: UsageInterval | None) -> None:
        fresh = instance_interval(instance, self._now)
        if last is None:
            self._opened.append(fresh)
        elif last.ended_at is None or last.end_basis is EndBasis.BOUNDED:
            self._continue(last, fresh)

    def _not_running(self, instance: Instance, last: UsageInterval | None) -> None:
        if last is None:
            unseen = instance_interval(instance, instance.launched_at)
            ended = _ended(unseen, instance, self._now)
            if ended.end_basis is EndBasis.EXACT or instance.is_reclaimed:
                self._opened.append(ended)
            return
        ended = _ended(last, instance, self._now)
        if last.end_basis is EndBasis.EXACT:  # An event told when; this may tell who.
            is_told = last.is_reclaimed is None and instance.is_reclaimed is not None
            if is_told:
                told = replace(last, is_reclaimed=instance.is_reclaimed)
                self._ended.append(told)
            return
        is_news = last.ended_at is None or (
            last.end_basis is EndBasis.BOUNDED and ended.end_basis is EndBasis.EXACT
        )
        if is_news:
            self._ended.append(ended)

    def volume(self, volume: Volume) -> None:
        """Learn from one volume."""
        if volume.state in _GONE_VOLUMES or volume.resource_id in self._newer:
            return
        self._sighted[volume.resource_id] = (volume.created_at, volume.tags)
        fresh = volume_interval(volume, self._now)
        last = self._last.get(volume.resource_id)
        if last is None:
            self._opened.append(fresh)
        elif last.ended_at is None or last.end_basis is EndBasis.BOUNDED:
            self._continue(last, fresh)

    def resource(self, resource: Resource) -> None:
        """Learn from one resource of another service."""
        if resource.resource_id in self._newer:
            return
        self._sighted[resource.resource_id] = (resource.started_at, resource.tags)
        fresh = resource_interval(resource, self._now)
        last = self._last.get(resource.resource_id)
        if last is None and resource.is_level:
            fresh = replace(fresh, started_at=max(self._now, fresh.started_at))
        if last is not None and last.started_at < resource.started_at:
            if last.ended_at is None:
                self._ended.append(_bounded(last, resource.started_at))
            last = None
        if not resource.is_running:
            self._resource_ended(last or fresh, resource, is_known=last is not None)
        elif last is None:
            self._opened.append(fresh)
        elif last.ended_at is None or last.end_basis is EndBasis.BOUNDED:
            self._continue(last, fresh)

    def _resource_ended(
        self, interval: UsageInterval, resource: Resource, *, is_known: bool
    ) -> None:
        """End an interval where AWS says; without that it must have been seen running."""
        exact = resource.ended_at
        if exact is None or exact < interval.started_at:
            if is_known and interval.ended_at is None:
                self._ended.append(_bounded(interval, self._now))
            return
        ended = replace(
            interval,
            ended_at=exact,
            end_basis=EndBasis.EXACT,
            ended_by=None,
            billed_s=resource.billed_s,
        )
        if not is_known:
            self._opened.append(ended)
        elif interval.end_basis is not EndBasis.EXACT or _differ(interval, ended):
            self._ended.append(ended)

    def _continue(self, last: UsageInterval, fresh: UsageInterval) -> None:
        """Extend an interval, or cut it where its shape changed."""
        if shape_of(last) == shape_of(fresh):
            if last.last_seen_at < self._now or last.ended_at is not None:
                self._extended.append(_reopened(last, self._now))
            return
        # The change came between two polls: the earlier bound ends the old shape and
        # starts the new one, so that no time is lost or counted twice.
        cut = last.last_seen_at if last.last_seen_at > last.started_at else self._now
        if cut > last.started_at:
            self._ended.append(_cut(last, cut, self._now))
            self._opened.append(replace(fresh, started_at=cut))

    def absent(self) -> None:
        """End what a completely read scope no longer shows."""
        for resource_id, last in self._last.items():
            is_gone = resource_id not in self._sighted and self._is_scanned(last)
            is_older = resource_id not in self._newer
            if is_gone and is_older and last.ended_at is None:
                self._ended.append(_bounded(last, self._now))

    def _is_scanned(self, interval: UsageInterval) -> bool:
        service = SERVICE_OF.get(interval.kind)
        if service is not None:
            scope = (interval.account, interval.region, service)
            return scope in self._scanned_services
        return (interval.account, interval.region) in self._scanned

    def tags(self, open_tags: Iterable[TagSpan]) -> None:
        """Compare the tags in sight with the spans that hold."""
        held: dict[str, dict[str, TagSpan]] = {}
        for span in open_tags:
            held.setdefault(span.resource_id, {})[span.key] = span
        for resource_id, (started_at, tags) in self._sighted.items():
            self._compare(resource_id, started_at, tags, held.get(resource_id, {}))
        for resource_id in held.keys() - self._sighted.keys() - self._newer:
            last = self._last.get(resource_id)
            if last is not None and self._is_scanned(last):
                self._close(held[resource_id].values())

    def _compare(
        self,
        resource_id: str,
        started_at: datetime,
        tags: Mapping[str, str],
        held: Mapping[str, TagSpan],
    ) -> None:
        is_new = not held and resource_id not in self._last
        is_early = is_new or self._now - started_at <= TAG_GRACE
        self._close(span for key, span in held.items() if tags.get(key) != span.value)
        for key, value in tags.items():
            before = held.get(key)
            if before is None or before.value != value:
                since = started_at if is_early and before is None else self._now
                self._tags_opened.append(
                    TagSpan(
                        resource_id=resource_id,
                        key=key,
                        value=value,
                        valid_from=min(since, self._now),
                        valid_to=None,
                    )
                )

    def _close(self, spans: Iterable[TagSpan]) -> None:
        self._tags_closed += [replace(span, valid_to=self._now) for span in spans]

    def changes(self) -> Changes:
        """Return what was learned, in a fixed order."""
        return Changes(
            opened=tuple(sorted(self._opened, key=_interval_order)),
            extended=tuple(sorted(self._extended, key=_interval_order)),
            ended=tuple(sorted(self._ended, key=_interval_order)),
            tags_opened=tuple(sorted(self._tags_opened, key=_tag_order)),
            tags_closed=tuple(sorted(self._tags_closed, key=_tag_order)),
        )


def _last_of_each(known: Iterable[UsageInterval]) -> dict[str, UsageInterval]:
    last: dict[str, UsageInterval] = {}
    for interval in known:
        before = last.get(interval.resource_id)
        if before is None or before.started_at < interval.started_at:
            last[interval.resource_id] = interval
    return last


def _one_each(seen: Iterable[_Seen]) -> Iterable[_Seen]:
    """Yield each resource once; a page that shifted can repeat one."""
    chosen: dict[str, _Seen] = {}
    for resource in seen:
        before = chosen.get(resource.resource_id)
        if before is None or _recency(before) < _recency(resource):
            chosen[resource.resource_id] = resource
    return chosen.values()


def _recency(resource: Instance | Volume | Resource) -> tuple[datetime, int, str]:
    if isinstance(resource, Instance):
        place = _STATE_ORDER.index(resource.state)
        return resource.launched_at, place, repr(resource)
    if isinstance(resource, Resource):
        return resource.started_at, int(not resource.is_running), repr(resource)
    return resource.created_at, 0, repr(resource)


def _differ(one: UsageInterval, other: UsageInterval) -> bool:
    return (one.ended_at, one.billed_s) != (other.ended_at, other.billed_s)


def _reopened(interval: UsageInterval, seen_at: datetime) -> UsageInterval:
    return replace(
        interval,
        last_seen_at=max(interval.last_seen_at, seen_at),
        ended_at=None,
        end_basis=EndBasis.OPEN,
        ended_by=None,
        is_reclaimed=None,
    )


def _ended(
    interval: UsageInterval, instance: Instance, seen_at: datetime
) -> UsageInterval:
    """End an interval at the time AWS names, else between the last two polls."""
    exact = instance.transitioned_at
    if exact is None or exact < interval.started_at:
        return replace(_bounded(interval, seen_at), is_reclaimed=instance.is_reclaimed)
    return replace(
        interval,
        ended_at=exact,
        end_basis=EndBasis.EXACT,
        ended_by=None,
        is_reclaimed=instance.is_reclaimed,
    )


def _bounded(interval: UsageInterval, ended_by: datetime) -> UsageInterval:
    return _cut(interval, max(interval.last_seen_at, interval.started_at), ended_by)


def _cut(
    interval: UsageInterval, ended_at: datetime, ended_by: datetime
) -> UsageInterval:
    return replace(
        interval,
        ended_at=ended_at,
        end_basis=EndBasis.BOUNDED,
        ended_by=max(ended_at, ended_by),
    )


def _interval_order(interval: UsageInterval) -> tuple[str, datetime]:
    return interval.resource_id, interval.started_at


def _tag_order(span: TagSpan) -> tuple[str, str]:
    return span.resource_id, span.key
