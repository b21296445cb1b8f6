"""How old figures are, in words: small print for the fresh, warnings for the stale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from billing.core.charges import Source
from billing.ports import Freshness
from bot.views.text import escape
from bot.views.words import ago, instant

SOURCES = {
    Source.COST_EXPLORER: "bill",
    Source.EXPORTS: "bill export",
    Source.INVENTORY: "fleet",
    Source.RESOURCES: "list of other services",
    Source.METRICS: "metrics",
    Source.PRICES: "prices",
    Source.COMMITMENTS: "commitments",
    Source.EVENTS: "event queue",
}
_STALE_MAX = 5


def freshness_line(freshness: Sequence[Freshness], now: datetime) -> str:
    """Say when each kind of source was last read, by its oldest account."""
    oldest: dict[Source, datetime] = {}
    for one in freshness:
        if one.as_of is not None:
            oldest[one.source] = min(one.as_of, oldest.get(one.source, one.as_of))
    if not oldest:
        return f"As of {instant(now)}."
    parts = [
        f"{SOURCES[source]} {ago(oldest[source], now)}"
        for source in Source
        if source in oldest
    ]
    return f"Last read: {', '.join(parts)}."


def stale_lines(stale: Sequence[Freshness], now: datetime) -> Iterator[str]:
    """Yield one warning per stale source, each naming its account and reason."""
    for one in stale[:_STALE_MAX]:
        account = f" of account {escape(one.account)}" if one.account else ""
        read = f"last read {ago(one.as_of, now)}" if one.as_of else "never read"
        reason = f": {escape(one.reason, most=200)}" if one.reason else ""
        yield f"The {SOURCES[one.source]}{account} was {read}{reason}"
    left = len(stale) - _STALE_MAX
    if left > 0:
        yield f"{left:,} more sources are stale"
