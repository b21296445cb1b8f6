"""Events about instances and their tags in SQL, made use of with what polls taught.

What events mean is `billing.core.event_runs`; a fact is kept, since others come late.
Knows no queue.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, update
from sqlmodel import Session

from billing.core.event_runs import Refined, refine
from billing.core.fleet import Instance
from billing.core.fleet_events import FleetEvent, FleetState, TagEvent
from billing.core.tag_events import tags_told
from billing.core.usage import TagSpan, UsageInterval
from billing.ledger.columns import table_of
from billing.ledger.database import execute, insert_or_nothing, serialise
from billing.ledger.tables import ResourceTagRow, UsageIntervalRow
from billing.ledger.tables_resources import FleetEventRow
from billing.ledger.usage_rows import (
    chunks,
    interval_of,
    interval_values,
    intervals_query,
    span_of,
    tag_values,
    tags_query,
)

_EVENT = table_of(FleetEventRow)
_INTERVAL = table_of(UsageIntervalRow)
_TAG = table_of(ResourceTagRow)
#: Later than this no event can matter: its days are billed.
KEPT = timedelta(days=35)
#: Name under which polls and events take turns.
TURN = "fleet_observed_at"
_STATES = {one.value: one for one in FleetState}


class SqlFleetEvents:
    """Facts about the fleet within one session."""

    _session: Session

    def apply_events(self, events: Sequence[FleetEvent]) -> frozenset[str]:
        """Learn from events in any order; the same ones again teach nothing new.

        Returns:
            Instances that no poll has described: their events are kept until one does.
        """
        if not events:
            return frozenset()
        serialise(self._session, TURN)
        self._session.connection().execute(
            insert_or_nothing(self._session, FleetEventRow),
            [_values(event) for event in events],
        )
        newest = max(event.at for event in events)
        execute(self._session, delete(_EVENT).where(_EVENT.c.at < newest - KEPT))
        ids = {event.resource_id for event in events}
        known = self._refine(ids, {}, None)
        return frozenset(ids - known)

    def apply_tag_events(self, events: Sequence[TagEvent]) -> None:
        """Move the tags of known resources to when AWS says they changed."""
        if not events:
            return
        serialise(self._session, TURN)
        ids = sorted({event.resource_id for event in events})
        known = {one.resource_id for one in self._of(ids)}
        for event in sorted(events, key=lambda one: (one.at, one.resource_id)):
            if event.resource_id in known:
                self._tell_tags(event)

    def use_events(
        self, seen: Iterable[Instance], but: Collection[str], seen_at: datetime
    ) -> set[str]:
        """Make use of what events said of instances in sight (``but`` some).

        Returns:
            Those of which events were kept and that have run.
        """
        described = {one.resource_id: one for one in seen if one.resource_id not in but}
        if not described:
            return set()
        return self._refine(described.keys(), described, seen_at)

    def _refine(
        self,
        ids: Collection[str],
        described: Mapping[str, Instance],
        seen_at: datetime | None,
    ) -> set[str]:
        """Bring intervals to what events say; return those with events and intervals."""
        events = self._events(ids)
        known: dict[str, list[UsageInterval]] = {}
        for interval in self._of(sorted(events)):
            known.setdefault(interval.resource_id, []).append(interval)
        for resource_id, told in events.items():
            found = refine(
                known.get(resource_id, ()),
                told,
                seen=described.get(resource_id),
                seen_at=seen_at,
            )
            self._store_refined(found)
            if found.stored:
                known.setdefault(resource_id, [])
        return set(known)

    def _events(self, ids: Collection[str]) -> dict[str, list[FleetEvent]]:
        events: dict[str, list[FleetEvent]] = {}
        for some in chunks(sorted(ids)):
            rows = self._session.connection().execute(
                select(_EVENT).where(_EVENT.c.resource_id.in_(some))
            )
            for row in rows:
                events.setdefault(row.resource_id, []).append(_event(row))
        return events

    def _of(self, ids: Sequence[str]) -> list[UsageInterval]:
        found: list[UsageInterval] = []
        for some in chunks(ids):
            rows = self._session.connection().execute(
                intervals_query()
                .where(_INTERVAL.c.resource_id.in_(some))
                .order_by(_INTERVAL.c.resource_id, _INTERVAL.c.started_at)
            )
            found += [interval_of(row) for row in rows]
        return found

    def _store_refined(self, found: Refined) -> None:
        """Replace intervals whole, old ones first: one of a resource is open at most."""
        for gone in (*found.removed, *found.stored):
            execute(
                self._session,
                delete(_INTERVAL).where(
                    _INTERVAL.c.resource_id == gone.resource_id,
                    _INTERVAL.c.started_at == gone.started_at,
                ),
            )
        if found.stored:
            self._session.connection().execute(
                _INTERVAL.insert(), [interval_values(one) for one in found.stored]
            )

    def _tell_tags(self, event: TagEvent) -> None:
        rows = self._session.connection().execute(
            tags_query().where(_TAG.c.resource_id == event.resource_id)
        )
        told = tags_told([span_of(row) for row in rows], event)
        for span in told.removed:
            execute(self._session, delete(_TAG).where(*_is(span)))
        for span, valid_to in told.closed:
            execute(
                self._session, update(_TAG).where(*_is(span)).values(valid_to=valid_to)
            )
        if told.opened:
            self._session.connection().execute(
                _TAG.insert(), [tag_values(span) for span in told.opened]
            )


def _is(span: TagSpan) -> tuple[Any, ...]:
    return (
        _TAG.c.resource_id == span.resource_id,
        _TAG.c.key == span.key,
        _TAG.c.valid_from == span.valid_from,
    )


def _values(event: FleetEvent) -> dict[str, Any]:
    return {
        "resource_id": event.resource_id,
        "at": event.at,
        "state": event.state.value,
        "account": event.account,
        "region": event.region,
    }


def _event(row: Any) -> FleetEvent:  # noqa: ANN401 - a row of the table
    return FleetEvent(
        resource_id=row.resource_id,
        account=row.account,
        region=row.region,
        state=_STATES[row.state],
        at=row.at,
    )
