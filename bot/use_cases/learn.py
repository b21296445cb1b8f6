"""Teach the fleet's side of the ledger what events say; unknown instances are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from billing.core.fleet import FleetObservation, ScopeFailure
from billing.core.fleet_events import FleetEvent, TagEvent
from bot.ports import Store

Describe = Callable[
    [Mapping[tuple[str, str], Sequence[str]], datetime], FleetObservation
]


def learn(
    store: Store,
    describe: Describe,
    facts: Sequence[FleetEvent | TagEvent],
    *,
    now: datetime,
) -> Sequence[ScopeFailure]:
    """Learn facts in any order; the same facts again change nothing.

    Instances that no poll has seen are described at once: EC2 forgets an ended one after
    about an hour. What could not be looked at is returned; its events are kept until a
    poll or another event brings a description.
    """
    events = [one for one in facts if isinstance(one, FleetEvent)]
    tags = [one for one in facts if isinstance(one, TagEvent)]
    with store.write() as unit:
        unknown = unit.ledger.apply_events(events)
        unit.ledger.apply_tag_events(tags)
    wanted: dict[tuple[str, str], set[str]] = {}
    for event in events:
        if event.resource_id in unknown:
            scope = (event.account, event.region)
            wanted.setdefault(scope, set()).add(event.resource_id)
    if not wanted:
        return ()
    seen = describe({scope: sorted(ids) for scope, ids in wanted.items()}, now)
    if seen.instances:
        with store.write() as unit:
            unit.ledger.apply_observation(
                FleetObservation(
                    observed_at=seen.observed_at,
                    instances=seen.instances,
                    volumes=(),
                    scanned=(),
                    failures=(),
                )
            )
            unit.ledger.apply_tag_events(tags)
    return seen.failures
