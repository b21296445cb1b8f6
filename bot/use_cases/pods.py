"""Take in which pods held GPUs, and end those that are gone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from billing.core.periods import Period
from billing.core.placements import Placement, PlacementSource
from billing.ports import BillLedger
from bot.ports import Store
from bot.views.answers import IngestOutcome
from bot.views.words import plural

_INSTANT = timedelta(microseconds=1)
_NAMED = 3


def record_pods(
    store: Store,
    placements: Sequence[Placement],
    *,
    unplaced: Sequence[str],
    since: datetime,
    now: datetime,
) -> IngestOutcome:
    """Store what Prometheus saw since an instant.

    A pod that ran before and is not in the answer ended before that instant. An answer
    without any pod says nothing: it may be that nobody collects.
    """
    with store.write() as unit:
        seen = {one.external_id for one in placements}
        gone = _gone(unit.ledger, seen, since, now) if placements else []
        unit.ledger.record_placements([*placements, *gone], now)
    notes = [f"kubernetes: {plural(len(placements), 'pod')} with GPUs"]
    if unplaced:
        more = len(unplaced) - _NAMED
        names = ", ".join(unplaced[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        notes.append(f"kubernetes: no instance is known for {names}")
    return IngestOutcome(notes=tuple(notes))


def _gone(
    ledger: BillLedger, seen: Collection[str], since: datetime, now: datetime
) -> list[Placement]:
    return [
        replace(one, ended_at=max(one.started_at, since))
        for one in ledger.placements(Period(now, now + _INSTANT))
        if one.source is PlacementSource.KUBERNETES
        and one.ended_at is None
        and one.external_id not in seen
    ]
