"""Windows by the asker's calendar: their dates, taken as UTC billing days."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.slack.grammar import Question, read_question
from bot.slack.windows import Window, read_window, suggested_window

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
AUCKLAND = ZoneInfo("Pacific/Auckland")
#: Monday 18:00 in Los Angeles, Tuesday in UTC.
EVENING = datetime(2026, 12, 1, 2, tzinfo=UTC)
#: Tuesday 08:00 in Auckland, Monday in UTC.
MORNING = datetime(2026, 11, 30, 19, tzinfo=UTC)


def window(text: str, now: datetime, zone: ZoneInfo) -> Window | None:
    return read_window(text.split(), now, zone)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("today", date(2026, 11, 30), None),
        ("yesterday", date(2026, 11, 29), date(2026, 11, 30)),
        ("last week", date(2026, 11, 23), date(2026, 11, 30)),
        ("this month", date(2026, 11, 1), date(2026, 12, 1)),
        ("since mon", date(2026, 11, 30), None),
        ("7d", date(2026, 11, 23), date(2026, 11, 30)),
    ],
)
def test_west_of_utc_the_local_date_decides(
    text: str, since: date, until: date | None
) -> None:
    assert window(text, EVENING, LOS_ANGELES) == Window(since=since, until=until)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        # Its Tuesday has not begun as a billing day: the running one is shown.
        ("today", date(2026, 11, 30), None),
        # Its yesterday is the billing day that still runs: up to now.
        ("yesterday", date(2026, 11, 30), None),
        ("last week", date(2026, 11, 23), date(2026, 11, 30)),
        ("this month", date(2026, 11, 30), None),
        ("last month", date(2026, 11, 1), None),
        ("since tue", date(2026, 11, 30), None),
    ],
)
def test_east_of_utc_nothing_begins_in_the_future(
    text: str, since: date, until: date | None
) -> None:
    assert window(text, MORNING.replace(hour=19), AUCKLAND) == Window(
        since=since, until=until
    )


def test_days_with_a_date_are_the_same_for_everybody() -> None:
    for text in ("2026-11-03", "2026-11", "2026-11-03..2026-11-09", "2026-W46"):
        assert window(text, EVENING, LOS_ANGELES) == read_window([text], EVENING)


def test_words_that_depend_on_the_calendar_are_kept_to_be_said() -> None:
    asked = read_question("job-1 last week", EVENING, LOS_ANGELES)
    dated = read_question("job-1 2026-11", EVENING, LOS_ANGELES)

    assert isinstance(asked, Question)
    assert isinstance(dated, Question)
    assert (asked.said, dated.said) == ("last week", "")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("lst week", "last week"),
        ("yesturday", "yesterday"),
        ("since mondy", "since monday"),
        ("banana", ""),
    ],
)
def test_a_misspelt_window_is_suggested(typed: str, meant: str) -> None:
    assert suggested_window(typed.split()) == meant
