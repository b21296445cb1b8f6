"""Subscriptions to digests as words: where, how often, when, of which team; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import time

from bot.slack.questions import BadQuestion, Moment, Question, Wish
from bot.slack.words import Words, unknown_options

_EVERY = {
    **dict.fromkeys(("day", "daily"), "day"),
    **dict.fromkeys(("week", "weekly"), "week"),
    **dict.fromkeys(("month", "monthly"), "month"),
}
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(
    r"(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
)
_TIME = re.compile(r"(\d{1,2})(?::(\d{2}))?\s?(am|pm)?")
_CHANNEL = re.compile(r"<#([CG][A-Z0-9]{2,30})>|#(\S{1,80})|([CG][A-Z0-9]{6,30})")
NOON = 12
EXAMPLE = "subscribe #ml-infra weekly mon 9:00 team=nlp"


def read_subscribe(
    rest: Sequence[str], words: Words, _now: Moment
) -> Question | BadQuestion:
    """Read ``subscribe``; alone it lists what there is."""
    problems = list(unknown_options(words, {"team"}))
    found: dict[str, str] = {}
    for word in rest:
        kind, value = _kind(word)
        if not kind:
            problems.append(f"do not know what {word!r} means here, try `{EXAMPLE}`")
        elif kind in found:
            problems.append(f"{kind} was given twice: {found[kind]!r} and {value!r}")
        else:
            found[kind] = value
    if "team" in words.options:
        found["team"] = words.options["team"].strip().lower()
    if found.get("weekday") and found.get("every", "week") != "week":
        problems.append(f"a weekday is for weekly digests, not every {found['every']}")
    if problems:
        return BadQuestion(problems=tuple(problems))
    if not rest and not words.options:
        return Question(verb="subscriptions")
    wish = Wish(
        every=found.get("every", "week"),
        weekday=_WEEKDAYS.index(found.get("weekday", "mon")),
        at=time.fromisoformat(found.get("time", "09:00")),
        team=found.get("team", ""),
    )
    return Question(verb="subscribe", target=found.get("channel", ""), wish=wish)


def read_unsubscribe(
    rest: Sequence[str], words: Words, _now: Moment
) -> Question | BadQuestion:
    """Read ``unsubscribe`` and the number of a subscription."""
    problems = list(unknown_options(words, set()))
    number = rest[0].removeprefix("#") if len(rest) == 1 else ""
    if not (number.isascii() and number.isdigit()):
        problems.append("say which number of `subscriptions`, such as unsubscribe 3")
    if problems:
        return BadQuestion(problems=tuple(problems))
    return Question(verb="unsubscribe", target=number)


def _kind(word: str) -> tuple[str, str]:
    """Tell what a word of a subscription is, and its value; ("", "") when unknown."""
    lower = word.lower()
    if lower in _EVERY:
        return "every", _EVERY[lower]
    if lower.startswith("team=") and lower != "team=":
        return "team", lower.removeprefix("team=")
    if _WEEKDAY.fullmatch(lower):
        return "weekday", lower[:3]
    channel = _CHANNEL.fullmatch(word)
    if channel is not None:
        return "channel", channel[1] or channel[3] or f"#{channel[2]}"
    at = _time(lower)
    return ("time", at) if at else ("", "")


def _time(word: str) -> str:
    """Return ``HH:MM``; "" when it is no time of day.

    >>> _time("9:00"), _time("5pm"), _time("12am"), _time("25:00"), _time("9")
    ('09:00', '17:00', '00:00', '', '')
    """
    found = _TIME.fullmatch(word)
    if found is None or not (found[2] or found[3]):
        return ""
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= NOON:
            return ""
        hour = hour % NOON + (NOON if found[3] == "pm" else 0)
    try:
        return time(hour, minute).isoformat("minutes")
    except ValueError:
        return ""
