"""Digests that people subscribed channels to: when each is due, and told once.

Whether a channel may have figures is asked of Slack each time, by whoever calls.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from bot.ports import Store
from bot.use_cases.cards import post
from bot.use_cases.due import Calendar
from bot.views.slack_values import Subscription
from bot.views.subscriptions import digest_stopped


def calendar_of(one: Subscription) -> Calendar:
    """Return when a subscription is due, by the clock of who asked for it."""
    return Calendar(
        every=one.every, at=one.at, zone=ZoneInfo(one.zone), weekday=one.weekday
    )


def subscribe(store: Store, wanted: Subscription) -> tuple[Subscription, bool]:
    """Store a subscription; the second part says that it was there before."""
    with store.write() as unit:
        known = {one.number for one in unit.subscriptions.all()}
        kept = unit.subscriptions.add(wanted)
        if kept.number not in known:
            unit.audit.append(
                "digest subscribed", actor=wanted.by, subject=kept.schedule,
                data={"channel": kept.channel, "every": kept.every, "team": kept.team},
                now=wanted.created_at,
            )  # fmt: skip
    return kept, kept.number in known


def unsubscribe(store: Store, one: Subscription, *, by: str, now: datetime) -> bool:
    """End a subscription; False when somebody else just did."""
    with store.write() as unit:
        if not unit.subscriptions.end(one.number, now):
            return False
        unit.audit.append(
            "digest unsubscribed", actor=by, subject=one.schedule,
            data={"channel": one.channel}, now=now,
        )  # fmt: skip
    return True


def note_trouble(store: Store, one: Subscription, why: str, now: datetime) -> None:
    """Keep why a digest is not sent, and tell who asked for it once for each reason."""
    if one.problem == why:
        return
    with store.write() as unit:
        unit.subscriptions.trouble(one.number, why)
        person = unit.people.lookup(one.by) or {}
        if why and person.get("slack_id"):
            key = f"{one.schedule}:trouble:{now.isoformat()}"
            message = digest_stopped(one, why)
            unit.outbox.put(post(key, person["slack_id"], message), now)
