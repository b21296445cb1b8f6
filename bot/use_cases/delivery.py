"""Tell the admins what Slack will never take, once a day for each channel and reason."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from billing.core.periods import day_of
from bot.ports import OutboxRow, Store
from bot.use_cases.cards import post
from bot.views.service import undeliverable

#: Keys of these words of ours begin so: what they say of is never told in turn.
PREFIX = "undeliverable:"


def tell_undeliverable(
    store: Store, row: OutboxRow, why: str, *, places: Sequence[str], now: datetime
) -> None:
    """Queue a word about a post that failed for good, to people or channels."""
    message = row.message
    if message.kind != "post" or message.key.startswith(PREFIX):
        return
    told = undeliverable(message.channel, str(message.payload.get("text", "")), why)
    day = day_of(now).isoformat()
    with store.write() as unit:
        for place in places:
            if place != message.channel:
                key = f"{PREFIX}{message.channel}:{why}:{day}:{place}"
                unit.outbox.put(post(key, place, told), now)
