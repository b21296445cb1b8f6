"""What follows the reading of sources: fees, shares really paid, warnings of ends."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from billing.core.charges import Source
from bot.ports import Store
from bot.settings import Settings
from bot.use_cases.settle import measure_shares, settle_fees, tell_ending
from bot.views.answers import IngestOutcome

_BILLS = frozenset({Source.COST_EXPLORER, Source.EXPORTS})


def settled(
    settings: Settings, store: Store, read: Collection[Source], now: datetime
) -> IngestOutcome:
    """Settle what the sources just read allow to be settled."""
    is_billed = not _BILLS.isdisjoint(read)
    is_seen = Source.INVENTORY in read
    if not (is_billed or is_seen):
        return IngestOutcome()
    fees = settings.config.prices.capacity_blocks
    notes = settle_fees(store, fees, now=now)
    if is_billed:
        measure_shares(store)
    if is_seen and settings.has_slack:
        tell_ending(store, channel=settings.config.slack.alerts, now=now)
    return IngestOutcome(notes=notes)
