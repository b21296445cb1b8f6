"""Windows of time as people type them, as half-open spans of UTC billing days.

AWS bills by UTC days. ``yesterday`` and ``last week`` mean the calendar dates of the
asker's time zone, taken as UTC billing days; what has not ended as one reaches up to
now. ``7d`` is seven closed days, today not included. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from difflib import get_close_matches

from billing.core.periods import DAY, month_start, next_month, previous_month

DAYS_MAX = 800
_WEEKDAYS = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
)
#: Windows that stand for themselves; what is near one may have been meant.
_PHRASES = (
    *("today", "yesterday", "this week", "last week", "this month", "last month"),
)
_SPAN = re.compile(r"(\d{1,3})(d|w)")
_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_WEEK = re.compile(r"(\d{4})-?[wW](\d{1,2})")
_RANGE = re.compile(r"(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})")
_LAST = re.compile(r"last (\d{1,3}) (day|week)s?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A half-open span of billing days.

    Attributes:
        until: First day left out; None means up to now.
    """

    since: date
    until: date | None


def read_window(
    words: Sequence[str], now: datetime, zone: tzinfo = UTC
) -> Window | None:
    """Read a window from words; None when they are none.

    `zone` is the asker's: what is relative to now is relative to their calendar.
    """
    text = _spelled(words)
    asked = _Asked(here=now.astimezone(zone).date(), billing=now.astimezone(UTC).date())
    try:
        return _named(text, asked) or _dated(text, asked)
    except (ValueError, OverflowError):  # 2026-13, week 54, year 0
        return None


def is_relative(words: Sequence[str]) -> bool:
    """Tell whether words mean other days tomorrow, and elsewhere in the world.

    >>> is_relative(["last", "week"]), is_relative(["2026-11"])
    (True, False)
    """
    text = _spelled(words)
    return bool(text) and re.search(r"\d{4}", text) is None


def suggested_window(words: Sequence[str]) -> str:
    """Return the window that was probably meant; "" when nothing is near.

    >>> suggested_window(["lst", "week"]), suggested_window(["since", "mnday"])
    ('last week', 'since monday')
    """
    text = _spelled(words)
    known = (*_PHRASES, *(f"since {day}" for day in (*_WEEKDAYS, "yesterday")))
    near = get_close_matches(text, known, n=1, cutoff=0.7)
    return near[0] if near else ""


def _spelled(words: Sequence[str]) -> str:
    text = " ".join(" ".join(words).split()).lower()
    return text.removeprefix("in the ").removeprefix("the ").removeprefix("in ")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The day of the asker's calendar, and the billing day that runs."""

    here: date
    billing: date

    def spans(self, since: date, until: date | None) -> Window:
        """Return a window that has begun; an end still to come means up to now."""
        first = min(since, self.billing)
        if until is not None and until > self.billing:
            until = None
        return Window(since=first, until=until)


def _named(text: str, asked: _Asked) -> Window | None:
    today = asked.here
    monday = today - timedelta(days=today.weekday())
    month = month_start(today)
    spans: dict[str, tuple[date, date | None]] = {
        "today": (today, None),
        "yesterday": (today - DAY, today),
        "this week": (monday, monday + 7 * DAY),
        "last week": (monday - timedelta(days=7), monday),
        "this month": (month, next_month(month)),
        "month": (month, next_month(month)),
        "last month": (previous_month(today), month),
    }
    return asked.spans(*spans[text]) if text in spans else None


def _dated(text: str, asked: _Asked) -> Window | None:
    if text.startswith("since "):
        since = _since(text.removeprefix("since "), asked)
        return asked.spans(since, None) if since else None
    if found := _SPAN.fullmatch(text) or _LAST.fullmatch(text):
        days = int(found[1]) * (7 if found[2].startswith("w") else 1)
        if not 0 < days <= DAYS_MAX:
            return None
        return asked.spans(asked.here - timedelta(days=days), asked.here)
    return _absolute(text, asked.billing)


def _absolute(text: str, today: date) -> Window | None:
    """Read days that are the same for everybody."""
    if found := _MONTH.fullmatch(text):
        month = date(int(found[1]), int(found[2]), 1)
        return Window(since=month, until=_not_after(next_month(month), today))
    if found := _WEEK.fullmatch(text):
        monday = date.fromisocalendar(int(found[1]), int(found[2]), 1)
        return Window(since=monday, until=_not_after(monday + 7 * DAY, today))
    if found := _RANGE.fullmatch(text):
        first, last = date.fromisoformat(found[1]), date.fromisoformat(found[2])
        return Window(since=first, until=last + DAY) if first <= last else None
    day = date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) else None
    return Window(since=day, until=_not_after(day + DAY, today)) if day else None


def _not_after(end: date, today: date) -> date | None:
    """An end that has not come yet means up to now."""
    return end if end <= today else None


def _since(text: str, asked: _Asked) -> date | None:
    if text == "yesterday":
        return asked.here - DAY
    named = [index for index, one in enumerate(_WEEKDAYS) if text in {one, one[:3]}]
    if named:
        return asked.here - timedelta(days=(asked.here.weekday() - named[0]) % 7)
    if _MONTH.fullmatch(text):
        text = f"{text}-01"
    since = date.fromisoformat(text)
    return since if since <= asked.billing else None
