"""Past facts are those of the ledger at each hour."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from billing.core.attribution import TagKeys
from billing.core.money import Money
from billing.ports.progress import HourOfUse
from bot.use_cases.backtest import Past, Spending, moments, read_past, whole_hours
from bot.use_cases.pricing import price_book
from policies.core.backtest import replay
from tests.builders import at, day
from tests.builders_policies import policy
from tests.builders_use_cases import Company, costs, runs

if TYPE_CHECKING:
    from policies.core.facts import Facts

HOUR = timedelta(hours=1)


def past(company: Company, since: str = "2026-11-29") -> Past:
    with company.store.read() as unit:
        return read_past(
            unit.ledger,
            whole_hours(day(since), company.now),
            prices=price_book(unit.ledger, ()),
            keys=TagKeys(),
            budgets={"nlp": Money.of("1000")},
            now=company.now,
        )


def facts_at(company: Company, instant: str) -> Facts:
    return dict(moments(past(company)))[at(instant)]


def test_what_ran_at_an_hour_is_there_with_its_tags_of_then(company: Company) -> None:
    company.is_watched(runs(since="2026-11-29T10:00Z"), at_="2026-11-29T10:05Z")
    company.is_watched(
        runs(job="job-9", since="2026-11-29T10:00Z"), at_="2026-11-29T15:05Z"
    )

    before = facts_at(company, "2026-11-29T10:00Z")
    first = facts_at(company, "2026-11-29T12:00Z")
    then = facts_at(company, "2026-11-29T16:00Z")

    assert [one.job for one in first.instances] == ["job-123"]
    assert [one.job for one in then.instances] == ["job-9"]
    assert len(before.instances) == 1


def test_what_has_ended_is_gone(company: Company) -> None:
    company.is_watched(runs(since="2026-11-29T10:00Z"), at_="2026-11-29T10:05Z")
    company.is_watched(at_="2026-11-29T15:05Z")

    assert facts_at(company, "2026-11-29T20:00Z").instances == ()


def test_a_job_had_cost_its_days_and_a_share_of_its_own(company: Company) -> None:
    company.bills(
        costs("2026-11-28", "100"), costs("2026-11-29", "240"),
        through="2026-11-30T00:00Z",
    )  # fmt: skip
    company.is_watched(runs(since="2026-11-28T00:00Z"), at_="2026-11-28T00:05Z")

    (job,) = facts_at(company, "2026-11-29T06:00Z").jobs

    assert str(job.spent) == "$160.00"


def test_hours_of_use_stand_for_every_gpu(company: Company) -> None:
    company.is_watched(runs(since="2026-11-29T00:00Z"), at_="2026-11-29T00:05Z")
    with company.store.write() as unit:
        unit.ledger.record_use(
            [
                HourOfUse(
                    resource_id="i-1", hour=at(f"2026-11-29T{hour:02}:00Z"),
                    gpu_pct=90.0 if hour < 5 else 0.0, covered_s=3600,
                )
                for hour in range(24)
            ]
        )  # fmt: skip
    idle = policy("name: idle\nkind: idle")

    (found,) = replay([idle], moments(past(company)), HOUR)

    assert [one.opened_at for one in found.fires] == [at("2026-11-29T06:00Z")]


def test_an_hour_that_was_not_measured_is_unknown(company: Company) -> None:
    company.is_watched(runs(since="2026-11-29T00:00Z"), at_="2026-11-29T00:05Z")
    idle = policy("name: idle\nkind: idle")

    (found,) = replay([idle], moments(past(company)), HOUR)

    assert found.fires == ()
    assert found.unknown > 0


@pytest.mark.parametrize(
    ("hour", "since", "spent"),
    [
        (0, None, 100),
        (12, None, 220),
        (12, date(2026, 11, 2), 120),
    ],
)
def test_spending_is_whole_days_and_a_share(
    hour: int, since: date | None, spent: int
) -> None:
    known = Spending({date(2026, 11, 1): 100, date(2026, 11, 2): 240})

    assert known.up_to(datetime(2026, 11, 2, hour, tzinfo=UTC), since) == spent
