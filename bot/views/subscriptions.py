"""Subscriptions to digests as people read them in Slack. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.answers import Message
from bot.views.blocks import bullets, header, section
from bot.views.errors import note
from bot.views.limits import fit_one
from bot.views.people import People, who
from bot.views.slack_values import Subscription
from bot.views.text import channel as channel_mention
from bot.views.text import escape, name
from bot.views.words import plural

_SHOWN_MAX = 30
_DAYS = (
    *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
)


def when(one: Subscription) -> str:
    """Return when a digest comes: its days, its time and whose time that is."""
    days = {
        "day": "every day",
        "week": f"every {_DAYS[one.weekday]}",
        "month": "on the first of every month",
    }[one.every]
    return f"{days} at {one.at:%H:%M} ({one.zone})"


def _what(one: Subscription) -> str:
    return f"the {_ADJECTIVE[one.every]} digest{_team(one)}"


def _team(one: Subscription) -> str:
    return f" of team {name(one.team)}" if one.team else ""


_ADJECTIVE = {"day": "daily", "week": "weekly", "month": "monthly"}


def place(channel: str) -> str:
    """Return a channel for mrkdwn."""
    return channel_mention(channel) or escape(channel)


def subscribed(one: Subscription, *, again: bool) -> Message:
    """Confirm a subscription to who asked."""
    said = "gets it already:" if again else "will get"
    return note(
        f"{place(one.channel)} {said} {_what(one)} {escape(when(one))}. It is number"
        f" {one.number}; `unsubscribe {one.number}` ends it."
    )


def unsubscribed(one: Subscription) -> Message:
    """Confirm the end of a subscription."""
    return note(f"{place(one.channel)} no longer gets {_what(one)}.")


def not_subscribed(why: str) -> Message:
    """Say why a channel gets no digest; `why` is a text of ours."""
    return note(f"Nothing was subscribed: {why}.")


def subscriptions_message(
    some: Sequence[Subscription], people: People, *, configured: int
) -> Message:
    """Render every subscription, and how many the configuration adds."""
    more = (
        f" {plural(configured, 'more digest')} in the configuration file."
        if configured
        else ""
    )
    if not some:
        text = (
            "Nobody subscribed a channel yet. Try `subscribe #ml-infra weekly mon 9:00"
            f" team=nlp`.{more}"
        )
        return Message(text=text, blocks=(section(text),))
    lines = [
        f"{one.number}. {place(one.channel)}: {_what(one)} {escape(when(one))}, asked by"
        f" {who(one.by, people)}{_problem(one)}"
        for one in some[:_SHOWN_MAX]
    ]
    left = len(some) - len(lines)
    lines += [f"and {left:,} more"] if left > 0 else []
    title = plural(len(some), "subscription")
    blocks = [header(title), section(bullets(lines))]
    blocks += [section(more.strip())] if more else []
    return fit_one(Message(text=title, blocks=tuple(blocks)))


def _problem(one: Subscription) -> str:
    if not one.problem:
        return ""
    return f"\n:warning: not sent: {escape(one.problem, most=200)}"


def digest_stopped(one: Subscription, why: str) -> Message:
    """Tell who asked that a digest cannot be sent; once for each reason."""
    return note(
        f"{_what(one).capitalize()} was not sent to {place(one.channel)}: {why}. Number"
        f" {one.number} is tried again at its next time."
    )
