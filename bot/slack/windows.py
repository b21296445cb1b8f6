"""Windows of time as people type them, as half-open spans of UTC billing days.

``7d`` is seven closed days, today not included. AWS bills by UTC days, so the day and
month meant are those of UTC at the moment of asking. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from billing.core.periods import DAY, month_start, next_month, previous_month

DAYS_MAX = 800
_WEEKDAYS = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
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


def read_window(words: Sequence[str], now: datetime) -> Window | None:
    """Read a window from words; None when they are none."""
    text = " ".join(words).strip().lower()
    today = now.astimezone(UTC).date()
    try:
        return _named(text, today) or _dated(text, today)
    except (ValueError, OverflowError):  # 2026-13, week 54, year 0
        return None


def _named(text: str, today: date) -> Window | None:
    monday = today - timedelta(days=today.weekday())
    month = month_start(today)
    spans: dict[str, tuple[date, date | None]] = {
        "today": (today, None),
        "yesterday": (today - DAY, today),
        "this week": (monday, None),
        "last week": (monday - timedelta(days=7), monday),
        "this month": (month, None),
        "month": (month, None),
        "last month": (previous_month(today), month),
    }
    if text in spans:
        since, until = spans[text]
        return Window(since=since, until=until)
    return None


def _dated(text: str, today: date) -> Window | None:
    if text.startswith("since "):
        since = _since(text.removeprefix("since "), today)
        return Window(since=since, until=None) if since else None
    if found := _SPAN.fullmatch(text) or _LAST.fullmatch(text):
        days = int(found[1]) * (7 if found[2].startswith("w") else 1)
        if not 0 < days <= DAYS_MAX:
            return None
        return Window(since=today - timedelta(days=days), until=today)
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


def _since(text: str, today: date) -> date | None:
    if text == "yesterday":
        return today - DAY
    named = [index for index, one in enumerate(_WEEKDAYS) if text in {one, one[:3]}]
    if named:
        return today - timedelta(days=(today.weekday() - named[0]) % 7)
    if _MONTH.fullmatch(text):
        text = f"{text}-01"
    since = date.fromisoformat(text)
    return since if since <= today else None
