"""What an event about tags does to the history of one resource's tags. Pure.

A poll learns of a change minutes later; the event names the instant, so the span that a
poll began is moved back to it. What a later look has contradicted stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from billing.core.fleet_events import TagEvent
from billing.core.usage import TagSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTags:
    """Changes in a resource's tag history.

    Attributes:
        removed: Spans that begin elsewhere, or not at all.
        closed: Spans with the instant at which they end.
        opened: Spans to add, whole.
    """

    removed: tuple[TagSpan, ...] = ()
    closed: tuple[tuple[TagSpan, datetime], ...] = ()
    opened: tuple[TagSpan, ...] = ()


def tags_told(history: Iterable[TagSpan], event: TagEvent) -> ToldTags:
    """Return what an event changes in the history of its resource's tags."""
    spans = [one for one in history if one.resource_id == event.resource_id]
    removed: list[TagSpan] = []
    closed: list[tuple[TagSpan, datetime]] = []
    opened: list[TagSpan] = []
    for key in sorted(event.changed or event.tags.keys()):
        mine = sorted(
            (one for one in spans if one.key == key), key=lambda one: one.valid_from
        )
        told = _told(mine, key, event)
        removed += told.removed
        closed += told.closed
        opened += told.opened
    return ToldTags(removed=tuple(removed), closed=tuple(closed), opened=tuple(opened))


def _told(spans: Sequence[TagSpan], key: str, event: TagEvent) -> ToldTags:
    value = event.tags.get(key)
    held = next((one for one in spans if _holds(one, event.at)), None)
    later = next((one for one in spans if one.valid_from > event.at), None)
    if held is not None and held.value == value:
        return ToldTags()
    closed: tuple[tuple[TagSpan, datetime], ...] = ()
    if held is not None:
        if held.valid_from == event.at:
            return ToldTags()  # Another event of that instant was first.
        closed = ((held, event.at),)
    if value is None:
        return ToldTags(closed=closed)
    if later is not None and later.value == value:
        moved = replace(later, valid_from=event.at)
        return ToldTags(removed=(later,), closed=closed, opened=(moved,))
    fresh = TagSpan(
        resource_id=event.resource_id,
        key=key,
        value=value,
        valid_from=event.at,
        valid_to=_until(held, later),
    )
    return ToldTags(closed=closed, opened=(fresh,))


def _holds(span: TagSpan, instant: datetime) -> bool:
    is_over = span.valid_to is not None and span.valid_to <= instant
    return span.valid_from <= instant and not is_over


def _until(held: TagSpan | None, later: TagSpan | None) -> datetime | None:
    """Return when the told value ended again, as far as anybody saw."""
    if held is not None and held.valid_to is not None:
        return held.valid_to
    return None if later is None else later.valid_from
