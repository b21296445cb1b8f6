"""Provisional cost of billed days is computed again and held against their bill."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.charges import Bucket
from billing.core.fleet import InstanceState
from billing.core.reconciliation import Reason
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.pricing import OwnPrice
from bot.use_cases.reconciliation import (
    Reconciliation,
    accuracy_notes,
    reconciliation,
)
from tests.builders import at, make_charge, make_price, usd
from tests.builders_use_cases import Company, costs, rate, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore


@pytest.fixture
def watched(company: Company) -> Company:
    """Watch one instance from 20 November, at $10 an hour, to the end of the 23rd."""
    company.is_watched(at_="2026-11-19T12:00Z")
    company.is_watched(runs(since="2026-11-20T00:00Z"), at_="2026-11-20T00:05Z")
    company.is_watched(
        runs(
            since="2026-11-20T00:00Z", state=InstanceState.TERMINATED,
            ended="2026-11-24T00:00Z",
        ),
        at_="2026-11-24T00:05Z",
    )  # fmt: skip
    return company


def bill(company: Company, *amounts: str, **fields: Any) -> None:
    """Bill some days from the 20th, 24 hours each, and call them complete."""
    days = [date(2026, 11, 20 + number) for number in range(len(amounts))]
    company.bills(
        *(
            make_charge(on=day.isoformat(), billed=text, quantity="24", **fields)
            for day, text in zip(days, amounts, strict=True)
        ),
        through=f"2026-11-{20 + len(amounts)}",
    )


def asked(company: Company, job: str = "", **fields: Any) -> Reconciliation:
    with company.store.read() as unit:
        return reconciliation(
            unit, since=None, until=None, job=job, own=company.own,
            keys=company.keys, now=company.now, **fields,
        )  # fmt: skip


def reasons(found: Reconciliation) -> dict[str, dict[Reason, str]]:
    return {
        one.day.isoformat(): {reason: part.text() for reason, part in one.reasons}
        for one in found.days
    }


def test_a_bill_like_the_running_time_has_no_error(watched: Company) -> None:
    bill(watched, "240", "240")

    found = asked(watched)

    assert [one.key for one in found.days] == ["job-123", "job-123"]
    assert found.judged.job_days == 2
    assert found.judged.worst == 0
    assert all(not one.reasons for one in found.days)


def test_a_discount_of_the_bill_is_named_until_it_is_configured(
    watched: Company,
) -> None:
    bill(watched, "216")

    before = asked(watched)
    watched.own = (OwnPrice(rate=make_price("9").rate),)
    after = asked(watched)

    assert reasons(before) == {"2026-11-20": {Reason.DISCOUNT: "-24.00"}}
    assert reasons(after) == {"2026-11-20": {}}


def test_a_share_that_earlier_bills_show_is_counted_as_answers_count_it(
    watched: Company,
) -> None:
    bill(watched, "192", "192", "192", "192")

    found = asked(watched)

    # The 20th and 21st had no complete bill before them yet.
    assert reasons(found) == {
        "2026-11-20": {Reason.DISCOUNT: "-48.00"},
        "2026-11-21": {Reason.DISCOUNT: "-48.00"},
        "2026-11-22": {},
        "2026-11-23": {},
    }
    assert found.judged.worst == Fraction(1, 4)
    assert found.judged_on_demand.overall == Fraction(1, 4)


def test_a_share_is_not_taken_off_a_price_that_is_stated(watched: Company) -> None:
    watched.own = (OwnPrice(rate=make_price("8").rate),)
    bill(watched, "192", "192", "192", "192")

    assert asked(watched).judged.worst == 0


def test_running_time_is_priced_as_it_was_then(watched: Company) -> None:
    watched.is_priced(rate("8", as_of="2026-11-22T00:00Z"))
    bill(watched, "240", "240", "192")

    assert asked(watched).judged.worst == 0


def test_days_before_the_inventory_are_shown_and_not_judged(
    watched: Company,
) -> None:
    watched.bills(costs("2026-11-18", "240", quantity="24"), through="2026-11-19")

    found = asked(watched)

    assert reasons(found) == {"2026-11-18": {Reason.UNSEEN: "240.00"}}
    assert found.judged.job_days == 0


def test_days_that_are_not_billed_are_left_out(watched: Company) -> None:
    bill(watched, "240")

    assert [one.day.day for one in asked(watched).days] == [20]


def test_one_job_is_shown_alone_and_an_unknown_one_is_refused(
    watched: Company,
) -> None:
    bill(watched, "240")

    assert [one.key for one in asked(watched, "Job-123").days] == ["job-123"]
    with pytest.raises(UnknownJobError):
        asked(watched, "job-124")


def test_what_never_accrues_is_summed_apart(watched: Company) -> None:
    watched.bills(
        costs("2026-11-20", "240", quantity="24"),
        make_charge(
            on="2026-11-20", job="", billed="20", usage_type="", bucket=Bucket.OVERHEAD
        ),
        through="2026-11-21",
    )

    found = asked(watched)

    assert [one.key for one in found.days] == ["job-123"]
    assert found.left_out == (("bucket:overhead", usd("20")),)


def test_digests_tell_the_error_only_where_a_day_was_judged(
    watched: Company, store: SqlStore
) -> None:
    def notes() -> tuple[str, ...]:
        with store.read() as unit:
            return accuracy_notes(unit, own=(), keys=watched.keys, now=at("2026-11-30"))

    before = notes()
    bill(watched, "240", "250")

    assert before == ()
    (said,) = notes()
    assert said == (
        "Provisional compute of the last 30 days: half of 2 days of jobs within 2 %, "
        "the worst 4 % off, together 2.04 % below the bill."
    )
