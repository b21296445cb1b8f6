from __future__ import annotations

from datetime import date

import pytest

from bot.use_cases.digest import DigestScope, last_whole
from tests.builders import at


@pytest.mark.parametrize(
    ("every", "now", "label", "since", "until"),
    [
        (
            "week",
            "2026-11-30T09:00Z",
            "2026-W48",
            date(2026, 11, 23),
            date(2026, 11, 30),
        ),
        ("week", "2027-01-04T09:00Z", "2026-W53", date(2026, 12, 28), date(2027, 1, 4)),
        ("month", "2026-12-01T09:00Z", "2026-11", date(2026, 11, 1), date(2026, 12, 1)),
        ("month", "2028-03-01T00:00Z", "2028-02", date(2028, 2, 1), date(2028, 3, 1)),
        (
            "day",
            "2026-12-01T09:00Z",
            "2026-11-30",
            date(2026, 11, 30),
            date(2026, 12, 1),
        ),
    ],
)
def test_a_digest_is_about_the_last_whole_span(
    every: str, now: str, label: str, since: date, until: date
) -> None:
    scope = last_whole(every, at(now))

    assert (scope.label, scope.since, scope.until) == (label, since, until)


@pytest.mark.parametrize("every", ["day", "week", "month"])
def test_the_span_before_ends_where_this_one_begins(every: str) -> None:
    scope = last_whole(every, at("2026-12-01T09:00Z"))

    before = DigestScope(since=scope.before, every=every)

    assert before.until == scope.since
