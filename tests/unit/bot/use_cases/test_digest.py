"""Digests: what a week cost, against the week before, queued once per channel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from billing.core.money import Rate
from bot.use_cases.digest import (
    BadWeekError,
    DigestScope,
    digest_answer,
    last_week,
    last_whole,
    queue_digest,
    week_of,
)
from bot.use_cases.pricing import price_book
from bot.views.answers import Message
from bot.views.digest import digest
from tests.builders import NOW, at, day, usd
from tests.builders_use_cases import UNPRICED, Company, costs, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from bot.views.answers import DigestAnswer

WEEK = day("2026-11-23")
SCOPE = DigestScope(since=WEEK)


def _digest(company: Company, scope: DigestScope = SCOPE) -> DigestAnswer:
    with company.store.read() as unit:
        return digest_answer(
            unit,
            scope,
            prices=price_book(unit.ledger, ()),
            keys=company.keys,
            stale=(),
            now=company.now,
        )


def _queue(store: SqlStore, *messages: Message, **values: Any) -> bool:
    given: dict[str, Any] = {"channel": "C1", "scope": SCOPE} | values
    return queue_digest(
        store, messages=messages or (Message(text="week"),), now=NOW, **given
    )


# ------------------------------------------------------------------ the answer


def test_a_week_is_summed_from_monday_to_sunday_and_compared(company: Company) -> None:
    company.bills(
        costs("2026-11-15", "1000"),
        costs("2026-11-16", "40"),
        costs("2026-11-22", "60"),
        costs("2026-11-23", "80"),
        costs("2026-11-29", "45"),
        costs("2026-11-30", "1000"),
        through="2026-12-01",
    )

    answer = _digest(company)

    assert answer.label == "2026-W48"
    assert (answer.total, answer.previous) == (usd("125"), usd("100"))
    assert [(one.key, one.total, one.previous) for one in answer.top_jobs] == [
        ("job-123", usd("125"), usd("100"))
    ]


def test_a_week_after_nothing_is_new_and_a_flat_one_still_renders(
    company: Company,
) -> None:
    # C018
    company.bills(
        *(costs(f"2026-11-{number}", "61.50") for number in range(23, 30)),
        days=["2026-11-16"],
        through="2026-11-30",
    )

    answer = _digest(company)
    first, *_ = digest(answer, people={}, now=NOW)

    assert answer.total == usd("430.50")
    assert answer.previous is None
    assert answer.top_jobs[0].previous is None
    assert "no earlier figure" in first.text
    assert "inf" not in first.text


def test_a_week_after_a_week_of_zero_is_new(company: Company) -> None:
    # C018
    company.bills(
        costs("2026-11-18", "0"), costs("2026-11-25", "430"), through="2026-11-30"
    )

    answer = _digest(company)
    first, *_ = digest(answer, people={}, now=NOW)

    assert answer.previous == usd("0")
    assert "new (was $0)" in first.text


def test_a_quiet_week_is_said_and_short(company: Company) -> None:
    messages = digest(_digest(company), people={}, now=NOW)

    assert len(messages) == 1
    assert "$0.00" in messages[0].text


def test_open_days_are_named_and_running_time_without_price_too(
    company: Company,
) -> None:
    company.bills(costs("2026-11-27", "10"), through="2026-11-28")
    company.is_watched(runs(since="2026-11-28"), at_="2026-11-28")
    company.is_watched(runs(since="2026-11-28"), runs("i-2", instance_type=UNPRICED))

    answer = _digest(company)

    assert answer.estimated_days == (day("2026-11-28"), day("2026-11-29"))
    assert (answer.billed, answer.provisional) == (usd("10"), usd("480"))
    assert answer.burn is None


def test_a_teams_digest_holds_its_jobs_alone(company: Company) -> None:
    company.now = at("2026-11-29T12:00Z")
    company.is_watched(
        runs("i-1", since="2026-11-29", tags={"team": "nlp"}),
        runs("i-2", job="job-9", since="2026-11-29", tags={"team": "cv"}),
        runs("i-3", job="", since="2026-11-29"),
        at_="2026-11-29",
    )
    company.is_watched(
        runs("i-1", since="2026-11-29", tags={"team": "nlp"}),
        runs("i-2", job="job-9", since="2026-11-29", tags={"team": "cv"}),
        runs("i-3", job="", since="2026-11-29"),
    )

    nlp = _digest(company, DigestScope(since=WEEK, team="nlp"))
    every = _digest(company)

    assert nlp.total == usd("120")
    assert [one.key for one in nlp.top_jobs] == ["job-123"]
    assert (nlp.untagged, nlp.burn, nlp.top_teams) == (None, None, ())
    assert every.total == usd("360")
    assert every.untagged == usd("120")
    assert every.burn == Rate.of("30")
    assert {one.key: one.total for one in every.top_teams} == {
        "nlp": usd("120"),
        "cv": usd("120"),
    }


# -------------------------------------------------------------------- the week


@pytest.mark.parametrize(
    ("text_", "monday"),
    [
        ("2026-W48", "2026-11-23"),
        ("2026-W53", "2026-12-28"),
        ("2027-W01", "2027-01-04"),
        ("2026-W01", "2025-12-29"),
        (" 2020-W53 ", "2020-12-28"),
    ],
)
def test_iso_weeks_are_read_and_named_back(text_: str, monday: str) -> None:
    since = week_of(text_)

    assert since == day(monday)
    assert DigestScope(since=since).label == text_.strip()


@pytest.mark.parametrize(
    "text_",
    [
        "2027-W53",
        "2026-W00",
        "2026-W54",
        "2026-48",
        "w48",
        "",
        "0000-W01",
        "\uff12026-W01",
    ],
)
def test_weeks_that_do_not_exist_are_refused(text_: str) -> None:
    with pytest.raises(BadWeekError, match="such as 2026-W48"):
        week_of(text_)


@pytest.mark.parametrize(
    ("now", "label"),
    [
        ("2026-11-30T00:00Z", "2026-W48"),
        ("2026-11-29T23:59Z", "2026-W47"),
        ("2027-01-03T12:00Z", "2026-W52"),
        ("2027-01-04T00:00Z", "2026-W53"),
        ("2027-01-11T00:00Z", "2027-W01"),
    ],
)
def test_the_last_whole_week_is_the_one_before(now: str, label: str) -> None:
    assert DigestScope(since=last_week(at(now))).label == label


def test_days_and_months_have_digests_too() -> None:
    now = at("2027-01-01T09:00Z")

    yesterday, month = last_whole("day", now), last_whole("month", now)

    assert (yesterday.label, yesterday.until) == ("2026-12-31", day("2027-01-01"))
    assert (month.label, month.until) == ("2026-12", day("2027-01-01"))
    assert month.before == day("2026-11-01")


# ---------------------------------------------------------------------- queued


def test_a_digest_is_queued_once_per_channel_week_and_team(store: SqlStore) -> None:
    first = _queue(store)

    again = _queue(store, Message(text="changed"))
    elsewhere = _queue(store, channel="C2")
    team = _queue(store, scope=DigestScope(since=WEEK, team="nlp"))
    next_week = _queue(store, scope=DigestScope(since=day("2026-11-30")))

    assert (first, again) == (True, False)
    assert (elsewhere, team, next_week) == (True, True, True)


def test_a_long_digest_goes_on_in_the_thread_of_its_first_message(
    store: SqlStore,
) -> None:
    _queue(store, Message(text="one"), Message(text="two"), Message(text="three"))
    _queue(store, Message(text="one"), Message(text="two"), Message(text="three"))

    with store.database.read() as session:
        rows = session.execute(
            text("SELECT key, thread_of FROM outbox ORDER BY row_id")
        ).all()
    first = rows[0].key
    assert [row.thread_of for row in rows] == ["", first, first]
