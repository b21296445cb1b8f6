"""Windows of time as people ask for them in Slack, answered out of UTC billing days."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from deploy.sandbox.aws.builders import cost, days
from tests.contract.sources.bills import JOB, TAG

if TYPE_CHECKING:
    from deploy.sandbox.aws.world import CostSeed
    from tests.cases.place import Place


def on_each_day(since: str, until: str, amount: str) -> list[CostSeed]:
    return [cost(day, amount, tags=JOB) for day in days(since, until)]


@pytest.mark.parametrize(
    ("now", "text", "total", "window"),
    [
        # C143: one in the morning in Tokyo is still June where AWS bills
        ("2026-07-01T01:00+09:00", "job-123 month", "$300.00", "1 Jun to 30 Jun"),
        # C144: seven closed days, across the start of the month
        ("2026-06-05T10:00+00:00", "job-123 7d", "$70.00", "29 May to 4 Jun"),
        # C005, C145: the whole of a leap February
        ("2028-02-29T09:00+00:00", "job-123 last month", "$310.00", "1 to 31 Jan"),
        ("2028-03-02T09:00+00:00", "job-123 2028-02", "$290.00", "1 to 29 Feb"),
        # C004: the first of a month has no closed day, and is no error
        ("2026-10-01T09:00+00:00", "job-123 month", "$0.00", "1 Oct"),
    ],
)
def test_a_window_is_the_one_that_was_asked_for_and_says_utc(
    place: Place, now: str, text: str, total: str, window: str
) -> None:
    place.aws.serve(
        tags=TAG,
        costs=[
            *on_each_day("2026-05-20", "2026-10-01", "10"),
            *on_each_day("2028-01-01", "2028-03-01", "10"),
        ],
    )
    place.at(datetime.fromisoformat(now).astimezone(UTC))
    place.ingest("cost-explorer")

    shown = place.slack(text)

    assert total in shown
    assert window in shown
    assert "UTC" in shown
