"""Work off the stored days whose attribution is due, after whatever was read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from billing.ingest.attribution import reattribute_due
from bot.ports import Store
from bot.views.answers import IngestOutcome
from bot.views.words import plural


def attribute_due(
    store: Store, now: datetime, *, progress: Callable[[str], None]
) -> IngestOutcome:
    """Compute due days anew; what is left for the next run is said."""
    done = reattribute_due(store, now, progress=progress)
    if done.is_done:
        return IngestOutcome()
    note = (
        f"attribution: {plural(done.days, 'day')} computed anew, more are due: they"
        " follow with the next reading"
    )
    return IngestOutcome(notes=(note,))
