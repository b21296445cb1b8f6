"""A ledger of intervals and tags in two dictionaries, for tests of observations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.core.advance import Changes, advance
from billing.core.event_runs import refine
from billing.core.fleet import FleetObservation, Instance
from billing.core.fleet_events import FleetEvent
from billing.core.usage import TagSpan, UsageInterval

if TYPE_CHECKING:
    from datetime import datetime


class History:
    """A ledger of intervals and tags in two dictionaries."""

    def __init__(self) -> None:
        self.intervals: dict[tuple[str, datetime], UsageInterval] = {}
        self.tags: dict[tuple[str, str, datetime], TagSpan] = {}
        self.events: list[FleetEvent] = []

    def see(self, observation: FleetObservation) -> Changes:
        open_tags = [span for span in self.tags.values() if span.valid_to is None]
        changes = advance(self.intervals.values(), open_tags, observation)
        for interval in (*changes.opened, *changes.extended, *changes.ended):
            self.intervals[interval.resource_id, interval.started_at] = interval
        for span in (*changes.tags_closed, *changes.tags_opened):
            self.tags[span.resource_id, span.key, span.valid_from] = span
        for instance in observation.instances:
            self._refine(instance.resource_id, instance, observation.observed_at)
        return changes

    def hear(self, *events: FleetEvent) -> None:
        for event in events:
            self.events += [] if event in self.events else [event]
            self._refine(event.resource_id)

    def _refine(
        self,
        resource_id: str,
        seen: Instance | None = None,
        seen_at: datetime | None = None,
    ) -> None:
        told = [one for one in self.events if one.resource_id == resource_id]
        found = refine(self.of(resource_id), told, seen=seen, seen_at=seen_at)
        for gone in found.removed:
            del self.intervals[gone.resource_id, gone.started_at]
        for interval in found.stored:
            self.intervals[interval.resource_id, interval.started_at] = interval

    def of(self, resource_id: str) -> list[UsageInterval]:
        return [
            found
            for key, found in sorted(self.intervals.items())
            if key[0] == resource_id
        ]
