"""A ledger of intervals and tags in two dictionaries, for tests of observations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.core.advance import Changes, advance
from billing.core.fleet import FleetObservation
from billing.core.usage import TagSpan, UsageInterval

if TYPE_CHECKING:
    from datetime import datetime


class History:
    """A ledger of intervals and tags in two dictionaries."""

    def __init__(self) -> None:
        self.intervals: dict[tuple[str, datetime], UsageInterval] = {}
        self.tags: dict[tuple[str, str, datetime], TagSpan] = {}

    def see(self, observation: FleetObservation) -> Changes:
        open_tags = [span for span in self.tags.values() if span.valid_to is None]
        changes = advance(self.intervals.values(), open_tags, observation)
        for interval in (*changes.opened, *changes.extended, *changes.ended):
            self.intervals[interval.resource_id, interval.started_at] = interval
        for span in (*changes.tags_closed, *changes.tags_opened):
            self.tags[span.resource_id, span.key, span.valid_from] = span
        return changes

    def of(self, resource_id: str) -> list[UsageInterval]:
        return [
            found
            for key, found in sorted(self.intervals.items())
            if key[0] == resource_id
        ]
