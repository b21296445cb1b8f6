"""The window of a question, and what runs now whatever the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.core.fleet import InstanceState
from billing.core.money import Rate
from tests.builders import (
    at,
    usd,
)
from tests.builders_use_cases import (
    Company,
    costs,
    figures,
    runs,
    tagged,
    totals,
)

if TYPE_CHECKING:
    pass


# --------------------------------------------------------------- what runs now


def test_burn_counts_what_runs_now_whatever_the_window(company: Company) -> None:
    company.bills(costs("2026-10-05", "5"), through="2026-11-01")
    company.is_watched(runs("i-1"), runs("i-2"))

    answer = company.ask("job-123", since="2026-10-01", until="2026-11-01")

    assert answer.total == usd("5")
    assert answer.burn == Rate.of("20")
    assert answer.forecast_24h == usd("480")
    assert [(line.count, line.gpus) for line in answer.running] == [(2, 16)]


def test_burn_is_that_of_a_job_billed_through_this_very_moment(
    company: Company,
) -> None:
    company.now = at("2026-11-30T00:00Z")
    company.bills(costs("2026-11-29", "240"), through="2026-11-30")
    company.is_watched(runs(since="2026-11-29"))

    answer = company.ask("job-123")

    assert figures(answer) == ("240.00", "240.00", "0.00")
    assert answer.burn == Rate.of("10")


def test_a_retagged_instance_costs_each_job_its_own_time(company: Company) -> None:
    company.is_watched(runs(job="job-a"), at_="2026-11-30T00:00Z")
    company.is_watched(runs(job="job-b"), at_="2026-11-30T06:00Z")
    company.is_watched(runs(job="job-b"))

    first, second = company.ask("job-a"), company.ask("job-b")

    assert (first.total, second.total) == (usd("60"), usd("30"))
    assert company.ask().total == usd("90")


def test_a_retagged_instance_burns_for_the_job_it_works_for_now(
    company: Company,
) -> None:
    company.is_watched(runs(job="job-a"), at_="2026-11-30T00:00Z")
    company.is_watched(runs(job="job-b"), at_="2026-11-30T06:00Z")

    first, second = company.ask("job-a"), company.ask("job-b")

    assert (first.burn, first.running) == (Rate.of("0"), ())
    assert second.burn == Rate.of("10")


def test_an_ended_job_burns_nothing(company: Company) -> None:
    company.is_watched(runs(), at_="2026-11-30T00:00Z")
    company.is_watched(
        runs(state=InstanceState.TERMINATED, ended="2026-11-30T02:00Z"),
    )

    answer = company.ask("job-123")

    assert answer.total == usd("20")
    assert (answer.burn, answer.forecast_24h) == (Rate.of("0"), usd("0"))
    assert answer.running == ()


# --------------------------------------------------------------------- windows


def test_without_dates_the_window_is_this_month_up_to_now(company: Company) -> None:
    company.bills(
        costs("2026-10-31", "100"), costs("2026-11-01", "7"), through="2026-11-02"
    )

    answer = company.ask("job-123")

    assert (answer.since, answer.until) == (at("2026-11-01"), company.now)
    assert answer.total == usd("7")


def test_on_the_first_of_the_month_the_answer_is_the_hours_so_far(
    company: Company,
) -> None:
    # C004
    company.now = at("2026-10-01T09:00Z")
    company.bills(costs("2026-09-30", "100"), through="2026-10-01")
    company.is_watched(runs(since="2026-09-30"), at_="2026-09-30")
    company.is_watched(runs(since="2026-09-30"))

    assert figures(company.ask("job-123")) == ("90.00", "0.00", "90.00")


def test_at_midnight_on_the_first_the_month_is_empty(company: Company) -> None:
    company.now = at("2026-11-01T00:00Z")
    company.bills(costs("2026-10-31", "100"), through="2026-11-01")

    answer = company.ask("job-123")

    assert answer.since == answer.until == company.now
    assert answer.total == usd("0")
    assert answer.by_day == ()


def test_until_is_exclusive_and_a_leap_february_is_whole(company: Company) -> None:
    # C005
    company.now = at("2028-03-10T00:00Z")
    days = [f"2028-02-{number:02d}" for number in range(1, 30)]
    company.bills(
        *(costs(one, "10") for one in (*days, "2028-01-31", "2028-03-01")),
        through="2028-03-02",
    )

    answer = company.ask("job-123", since="2028-02-01", until="2028-03-01")

    assert answer.total == usd("290")
    assert len(answer.by_day) == 29


def test_until_in_the_future_ends_now(company: Company) -> None:
    company.is_watched(runs())

    answer = company.ask("job-123", until="2027-01-01")

    assert answer.until == company.now
    assert answer.total == usd("90")


def test_a_window_in_the_future_is_empty(company: Company) -> None:
    company.is_watched(runs())

    answer = company.ask("job-123", since="2027-01-01", until="2027-02-01")

    assert answer.total == usd("0")


def test_an_empty_ledger_costs_nothing_and_knows_no_billing_day(
    company: Company,
) -> None:
    answer = company.ask(by="job")

    assert figures(answer) == ("0.00", "0.00", "0.00")
    assert (answer.groups, answer.billed_through) == ((), {})


def test_a_team_named_untagged_does_not_collide_with_untagged_cost(
    company: Company,
) -> None:
    # C026
    company.is_watched(runs("i-1", tags={"team": "(untagged)"}), runs("i-2", job=""))

    answer = company.ask(by="team")

    assert totals(answer.groups) == {
        "(untagged)": "90.00",
        "bucket:untagged": "90.00",
    }


def test_tags_are_read_as_people_write_them(company: Company) -> None:
    # C028
    company.is_watched(
        runs("i-1", job="", tags={"JobId": "Job-7 "}),
        runs("i-2", job="", tags={"job_id": "job-7"}),
    )

    assert company.ask(by="job").groups[0].key == "job-7"
    assert company.ask("job-7").total == usd("180")
    assert tagged("x") == {"job-id": "x"}
