"""Subscriptions as Slack asks for them, and the task that sends what is due."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Protocol
from zoneinfo import ZoneInfo

import structlog

from billing.core.errors import GpucostError
from bot.clock import system_now
from bot.ports import Directory, Message, SlackFailedError
from bot.slack.handlers import Answer, Ask
from bot.use_cases.digest import last_whole, queue_digest
from bot.use_cases.due import Every
from bot.use_cases.runner import Task, run_due
from bot.use_cases.shown import shown_names
from bot.use_cases.subscriptions import (
    calendar_of,
    note_trouble,
    subscribe,
    unsubscribe,
)
from bot.views.digest import digest
from bot.views.errors import note
from bot.views.slack_values import Subscription
from bot.views.subscriptions import (
    not_subscribed,
    subscribed,
    subscriptions_message,
    unsubscribed,
)
from bot.wiring.application import Application
from bot.wiring.owners import Owners
from bot.wiring.slack_places import Places
from policies.core.approvals import Person

log = structlog.get_logger()

LOOK_EVERY = timedelta(minutes=1)
RETRY_S = 600
OWNER = "subscriptions"
NO_CHANNEL = "there is no such channel that I can see. Invite me to it first"


class ChannelPlaces(Protocol):
    """Where figures may be posted."""

    def id_of(self, channel: str) -> str:
        """Return a channel's id."""

    def why_not(self, channel_id: str) -> str:
        """Return why figures may not be posted there; "" when they may."""


@dataclass(frozen=True)
class SubscriptionAnswers:
    """Answers by verb, over one application; called from several threads."""

    application: Application
    directory: Directory
    places: ChannelPlaces

    def answers(self) -> Mapping[str, Answer]:
        """Return the answers by verb of the grammar."""
        return {
            "subscribe": self.subscribe,
            "unsubscribe": self.unsubscribe,
            "subscriptions": self.list,
        }

    def subscribe(self, ask: Ask) -> tuple[Message, ...]:
        """Send digests to a channel, by the asker's clock."""
        wish = ask.question.wish
        assert wish is not None  # the grammar gives this verb a wish
        try:
            channel = self.places.id_of(ask.question.target or ask.asker.channel_id)
        except SlackFailedError as error:
            if error.code != "channel_not_found":
                raise
            return (not_subscribed(NO_CHANNEL),)
        why = self.places.why_not(channel)
        if why:
            return (not_subscribed(why),)
        wanted = Subscription(
            channel=channel, every=wish.every, weekday=wish.weekday, at=wish.at,
            zone=self._zone(ask.asker.user_id), team=wish.team,
            by=self._person(ask).person_id, created_at=ask.now,
        )  # fmt: skip
        kept, again = subscribe(self.application.store, wanted)
        return (subscribed(kept, again=again),)

    def unsubscribe(self, ask: Ask) -> tuple[Message, ...]:
        """End a subscription: who asked for it, and admins."""
        number = int(ask.question.target)
        found = {one.number: one for one in self._all()}.get(number)
        if found is None:
            return (note(f"There is no subscription {number}: see `subscriptions`."),)
        by = self._person(ask).person_id
        owners = Owners(settings=self.application.settings, directory=self.directory)
        if by != found.by and not owners.is_admin(ask.asker.user_id):
            return (note("Who subscribed a channel ends it, or an admin."),)
        unsubscribe(self.application.store, found, by=by, now=ask.now)
        return (unsubscribed(found),)

    def list(self, ask: Ask) -> tuple[Message, ...]:
        """List every subscription."""
        del ask
        some = self._all()
        with self.application.store.read() as unit:
            people = shown_names(unit, [one.by for one in some])
        configured = len(self.application.settings.config.digests)
        return (subscriptions_message(some, people, configured=configured),)

    def _all(self) -> tuple[Subscription, ...]:
        with self.application.store.read() as unit:
            return tuple(unit.subscriptions.all())

    def _person(self, ask: Ask) -> Person:
        person = self.directory.person(ask.asker.user_id)
        if person is None:
            raise SlackFailedError("user_not_found", is_final=True)
        return person

    def _zone(self, slack_id: str) -> str:
        zone = getattr(self.directory, "zone", None)
        found = zone(slack_id) if zone is not None else None
        return found.key if isinstance(found, ZoneInfo) else "UTC"


@dataclass(frozen=True)
class Sender:
    """Queues the digests that are due, each slot once, whoever comes first."""

    application: Application
    places: Callable[[], ChannelPlaces]
    people: Callable[[set[str]], Mapping[str, str]]

    @cached_property
    def _places(self) -> ChannelPlaces:
        return self.places()

    def send_due(self, slot: datetime) -> None:
        """Look at every subscription; one that fails keeps no other waiting."""
        del slot
        with self.application.store.read() as unit:
            some = tuple(unit.subscriptions.all())
        for one in some:
            calendar, now = calendar_of(one), self.application.now()
            task = Task(
                name=one.schedule, schedule=calendar, retry_s=RETRY_S,
                run=partial(self._send, one),
                catches_up_first=calendar.slot_at(now) > one.created_at,
            )  # fmt: skip
            try:
                run_due(
                    task, self.application.store, now=now, system_now=system_now(), owner=OWNER,
                )  # fmt: skip
            except (GpucostError, SlackFailedError) as error:
                log.warning("digest_not_queued", number=one.number, error=error.code)

    def _send(self, one: Subscription, slot: datetime) -> None:
        now = self.application.now()
        why = self._places.why_not(one.channel)
        note_trouble(self.application.store, one, why, now)
        if why:
            return
        scope = last_whole(one.every, slot, team=one.team)
        answer = self.application.digest_of(scope)
        people = self.people({line.owner for line in answer.top_jobs})
        queued = queue_digest(
            self.application.store, channel=one.channel, scope=scope,
            messages=digest(answer, people=people, now=now), now=now,
        )  # fmt: skip
        log.info("digest_queued", channel=one.channel, week=scope.label, new=queued)


def subscription_task(
    application: Application, people: Callable[[set[str]], Mapping[str, str]]
) -> Task:
    """Return the task that looks at subscriptions every minute."""
    sender = Sender(
        application, places=lambda: Places(application.settings), people=people
    )
    return Task(name=OWNER, schedule=Every(LOOK_EVERY), run=sender.send_due)
