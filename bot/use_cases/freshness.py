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


def old_sources(
    known: Sequence[Freshness], schedules: Mapping[str, timedelta], now: datetime
) -> tuple[Freshness, ...]:
    """Return sources that were not read for too long; one failed read is no news."""
    return tuple(
        one
        for one in stale_sources(known, schedules, now)
        if one.as_of is None or _is_old(one, schedules, now)
    )


def _is_old(one: Freshness, schedules: Mapping[str, timedelta], now: datetime) -> bool:
    period = schedules.get(one.source.value)
    if period is None or one.as_of is None:
        return False
    return now - one.as_of > max(PERIODS * period, LEAST)


def stale_sources(
    known: Sequence[Freshness], schedules: Mapping[str, timedelta], now: datetime
) -> tuple[Freshness, ...]:
    """Return sources that failed last or were not read for too long, with why."""
    stale = []
    for one in known:
        if one.reason or one.as_of is None:
            stale.append(replace(one, reason=one.reason or "never read"))
        elif _is_old(one, schedules, now):
            age = duration_text(now - one.as_of)
            stale.append(replace(one, reason=f"not read for {age}"))
    return tuple(stale)
