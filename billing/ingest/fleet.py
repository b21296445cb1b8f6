"""Observe what exists and advance the ledger by it; the observer stays outside SQL."""

from __future__ import annotations

from datetime import datetime

from billing.core.fleet import FleetObservation
from billing.ports import FleetSource, LedgerStore


def observe_fleet(
    source: FleetSource, store: LedgerStore, now: datetime
) -> FleetObservation:
    """Poll every scope, store what was seen in one transaction, and return it.

    Scopes that failed are in the answer; what is known of them stays as it was.
    """
    observation = source.observe(now)
    with store.write() as unit:
        unit.ledger.apply_observation(observation)
    return observation
