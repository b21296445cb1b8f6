"""Publish the head of the audit chain, hold the chain against it, write it out.

The chain alone cannot show that its newest events were cut off, or that somebody with
the key wrote it anew: a head that was posted elsewhere can.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from billing.core.errors import GpucostError
from billing.core.periods import rfc3339
from bot.ports import Store, UnitOfWork
from bot.use_cases.cards import post
from bot.views.audit import head_posted

#: Days whose posted heads are looked for.
LOOK_BACK = timedelta(days=60)
PAGE = 1000
_HEAD = re.compile(r"audit head: ([0-9]+) events?, ([0-9a-f]{64})")


class BadHeadError(GpucostError, ValueError):
    """A head cannot be read."""

    code = "bad_head"
    exit_code = 2


@dataclass(frozen=True, slots=True)
class Head:
    """A head of the chain as it was once: how many events, and the hash of the last."""

    events: int
    hash: str


def read_head(events: int, text: str) -> Head:
    """Return a head as somebody copied it from Slack.

    Raises:
        BadHeadError: It is none.
    """
    if events < 1 or not re.fullmatch(r"[0-9a-f]{64}", text.strip().lower()):
        message = (
            "expected the number of events and the 64 hexadecimal digits of a posted"
            f" head, got {events} and {text!r}"
        )
        raise BadHeadError(message)
    return Head(events, text.strip().lower())


def post_head(store: Store, channel: str, *, day: datetime, now: datetime) -> bool:
    """Queue the head of a day, once; False when there is nothing to post or it was."""
    with store.write() as unit:
        count, last = unit.audit.head()
        if not channel or not count:
            return False
        told = head_posted(count, last, at=now)
        return unit.outbox.put(post(_key(day), channel, told), now)


def _key(day: datetime) -> str:
    return f"audit-head:{day:%Y-%m-%d}"


def posted_heads(unit: UnitOfWork, now: datetime) -> Sequence[Head]:
    """Return the heads that were posted lately, the newest first, as sent to Slack."""
    heads = []
    for back in range(LOOK_BACK.days):
        row = unit.outbox.find(_key(now - timedelta(days=back)))
        found = _HEAD.search(str(row.message.payload.get("text", ""))) if row else None
        if found:
            heads.append(Head(int(found[1]), found[2]))
    return heads


def against(unit: UnitOfWork, heads: Sequence[Head]) -> Sequence[str]:
    """Return how the chain differs from heads it once had; empty when it continues them."""
    count, _ = unit.audit.head()
    problems = []
    for head in heads:
        if head.events > count:
            problems.append(
                f"the end was cut off: a head of {head.events} events was posted, there"
                f" are {count}"
            )
        elif unit.audit.hash_at(head.events) != head.hash:
            problems.append(
                f"event {head.events} is not the one whose hash was posted: the chain was"
                " written anew"
            )
    return problems


def exported(store: Store, *, after: int = 0) -> Iterator[str]:
    """Yield events as JSON lines, oldest first: pseudonyms, no names."""
    while True:
        with store.read() as unit:
            page = unit.audit.events(after, limit=PAGE)
        if not page:
            return
        for event in page:
            yield json.dumps(_plain(event), ensure_ascii=False, sort_keys=True)
        after = int(page[-1]["seq"])


def _plain(event: Mapping[str, Any]) -> dict[str, Any]:
    return {**event, "at": rfc3339(event["at"]), "data": json.loads(event["data"])}


def exported_names(store: Store) -> Iterator[str]:
    """Yield who the pseudonyms of the chain are, as JSON lines: to be kept apart."""
    seen: set[str] = set()
    after = 0
    while True:
        with store.read() as unit:
            page = unit.audit.events(after, limit=PAGE)
            new = sorted({str(one["actor"]) for one in page} - seen)
            known = {one: unit.people.lookup(one) for one in new}
        for person, names in known.items():
            if names is not None:
                yield json.dumps({"person": person, **names}, ensure_ascii=False)
        if not page:
            return
        seen |= set(new)
        after = int(page[-1]["seq"])
