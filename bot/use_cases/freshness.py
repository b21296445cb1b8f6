"""Which sources are too old to be believed without saying so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from billing.ports import Freshness
from bot.views.terminal import duration_text

#: A source is stale after this many of its own periods (and at least an hour).
PERIODS = 3
LEAST = timedelta(hours=1)


def stale_sources(
    known: Sequence[Freshness], schedules: Mapping[str, timedelta], now: datetime
) -> tuple[Freshness, ...]:
    """Return sources that failed last or were not read for too long, with why."""
    stale = []
    for one in known:
        period = schedules.get(one.source.value)
        if one.reason or one.as_of is None:
            stale.append(replace(one, reason=one.reason or "never read"))
            continue
        age = now - one.as_of
        if period is not None and age > max(PERIODS * period, LEAST):
            stale.append(replace(one, reason=f"not read for {duration_text(age)}"))
    return tuple(stale)
