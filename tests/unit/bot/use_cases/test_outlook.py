"""The end of the month and the days that stand out, out of a company's ledger."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from billing.core.charges import Bucket, ChargeCategory
from bot.use_cases.anomalies import AnomalyQuestion, ask_anomalies
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.forecast import ask_forecast, ask_job_forecast
from bot.use_cases.pricing import price_book
from bot.views.anomalies import anomalies_text
from bot.views.forecast import forecast_text
from tests.builders import NOW, at, day, usd
from tests.builders_use_cases import Company, costs, rate, runs

if TYPE_CHECKING:
    from billing.core.charges import Charge
    from bot.unit_of_work import SqlStore
    from bot.views.outlook_answers import AnomalyAnswer, ForecastAnswer

#: 30 November, 09:00 UTC; the bill is complete up to its first instant.
THROUGH = "2026-11-30T00:00:00Z"
DAYS = [(day("2026-11-30") - timedelta(days=n)).isoformat() for n in range(60, 0, -1)]


def bill(
    store: SqlStore, *more: Charge, daily: str = "100", job: str = "llm-1"
) -> Company:
    """Bill one job of team research for sixty days, and what else there is."""
    company = Company(store)
    company.bills(
        *(costs(one, daily, job=job) for one in DAYS), *more, days=DAYS, through=THROUGH
    )
    return company


def is_owned(company: Company, job: str = "llm-1", team: str = "research") -> None:
    """Let the inventory once see a resource that says whose the job is."""
    seen = at("2026-09-01T00:05Z")
    company.is_watched(
        runs("i-9", job=job, since="2026-09-01T00:00Z", tags={"team": team}), at_=seen
    )
    company.is_watched(at_=seen + timedelta(minutes=5))


def forecast(company: Company, team: str = "", **budgets: str) -> ForecastAnswer:
    with company.store.read() as unit:
        return ask_forecast(
            unit.ledger,
            {name: usd(amount) for name, amount in budgets.items()},
            team=team,
            prices=price_book(unit.ledger, ()),
            keys=company.keys,
            now=company.now,
        )


def anomalies(company: Company, **question: object) -> AnomalyAnswer:
    with company.store.read() as unit:
        return ask_anomalies(
            unit.ledger,
            AnomalyQuestion(**question),  # type: ignore[arg-type]
            prices=price_book(unit.ledger, ()),
            keys=company.keys,
            now=company.now,
        )


def test_the_month_goes_on_as_it_went(store: SqlStore) -> None:
    company = bill(store)
    company.now = at(THROUGH)

    found = forecast(company).scope

    assert found is not None
    assert found.forecast.so_far == usd("2900")
    assert found.forecast.expected == usd("3000")
    assert "100 %, 80 % is meant" in found.forecast.backtest.text


def test_only_the_bill_speaks_up_to_its_last_complete_day(store: SqlStore) -> None:
    found = forecast(bill(store)).scope

    assert found is not None
    assert found.forecast.known_until == at(THROUGH)
    assert found.forecast.expected == usd("3000")


def test_a_team_stands_to_its_budget(store: SqlStore) -> None:
    company = bill(store)
    is_owned(company)

    by_team = {one.team: one for one in forecast(company, research="2950").teams}
    told = by_team["research"].budget

    assert told is not None
    assert told.amount == usd("2950")
    assert told.used < 1 < (told.expected or 0)
    assert told.exceeded_on == day("2026-11-30")


def test_a_budget_without_spend_is_listed_too(store: SqlStore) -> None:
    by_team = {one.team: one for one in forecast(bill(store), vision="500").teams}

    assert by_team["vision"].forecast.so_far == usd("0")
    assert by_team["vision"].budget is not None


def test_a_team_asked_for_stands_alone(store: SqlStore) -> None:
    company = bill(store, *(costs(one, "7", job="other") for one in DAYS))
    is_owned(company)

    found = forecast(company, team="Research", research="5000")

    assert found.teams == ()
    assert found.scope is not None
    assert found.scope.team == "research"
    assert "budget $5,000.00" in forecast_text(found)


def job_forecast(company: Company, job: str) -> ForecastAnswer:
    with company.store.read() as unit:
        return ask_job_forecast(
            unit.ledger,
            job,
            prices=price_book(unit.ledger, ()),
            keys=company.keys,
            now=company.now,
        )


def test_a_running_job_is_expected_to_run_on(store: SqlStore) -> None:
    company = Company(store)
    company.is_priced(rate("10"))
    company.is_watched(runs(since="2026-11-30T00:00Z"))

    found = job_forecast(company, "job-123").job

    assert found is not None
    assert found.so_far == found.low == usd("90")
    assert found.expected == found.high == usd("240")


def test_a_job_that_does_not_run_stays_where_it_is(store: SqlStore) -> None:
    company = bill(store)

    answer = job_forecast(company, "llm-1")

    assert answer.job is not None
    assert answer.job.expected == answer.job.so_far
    assert "nothing runs" in forecast_text(answer)


def test_an_unknown_job_is_named_with_near_ones(store: SqlStore) -> None:
    with pytest.raises(UnknownJobError) as caught:
        job_forecast(bill(store), "llm-2")

    assert caught.value.suggestions == ("llm-1",)


def test_a_day_that_stands_out_is_told_once_with_the_job_that_did_it(
    store: SqlStore,
) -> None:
    company = bill(store, costs("2026-11-27", "4000", job="llm-9"))
    is_owned(company)

    (found,) = anomalies(company).anomalies

    assert found.day == day("2026-11-27")
    assert [cause.key for cause in found.causes] == ["llm-9"]
    assert "llm-9 new, +$4,000.00" in anomalies_text(anomalies(company))


def test_a_capacity_block_paid_on_one_day_is_explained(store: SqlStore) -> None:
    fee = costs(
        "2026-11-27", "9000", job="llm-1", usage_type="CapacityBlock:p5.48xlarge"
    )

    found = anomalies(bill(store, fee))

    assert found.anomalies == ()
    assert {one.paid for one in found.explained} == {usd("9000")}
    assert "paid at once" in anomalies_text(found)


def test_a_reservation_fee_at_the_start_of_a_month_is_no_anomaly(
    store: SqlStore,
) -> None:
    fee = costs(
        "2026-11-01", "7000", job="", bucket=Bucket.COMMITMENT_UNUSED,
        category=ChargeCategory.PURCHASE, record_type="RIFee",
    )  # fmt: skip

    found = anomalies(bill(store, fee), since=day("2026-11-01"))

    assert found.judged > 0
    assert found.anomalies == ()


def test_tax_at_the_start_of_a_month_is_no_anomaly(store: SqlStore) -> None:
    tax = costs(
        "2026-11-01", "7000", job="", bucket=Bucket.OVERHEAD,
        category=ChargeCategory.TAX, record_type="Tax",
    )  # fmt: skip

    assert anomalies(bill(store, tax), since=day("2026-11-01")).anomalies == ()


def test_untagged_spend_that_jumps_is_told(store: SqlStore) -> None:
    found = anomalies(bill(store, costs("2026-11-27", "900", job="")))

    assert "without a job tag" in {one.series for one in found.anomalies}


def test_an_empty_ledger_is_not_said_to_be_in_order(store: SqlStore) -> None:
    found = anomalies(Company(store))

    assert found.judged == 0
    assert "nothing can be judged" in anomalies_text(found)


def test_days_that_are_not_over_are_not_judged(store: SqlStore) -> None:
    found = anomalies(bill(store), until=day("2026-12-24"))

    assert found.until == NOW.date()
