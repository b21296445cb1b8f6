"""What something has cost: billed and provisional, never both for one time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from billing.core.charges import Metric
from billing.core.fleet import Lifecycle
from billing.core.money import Rate
from billing.ports import NeedsExportError
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.pricing import OwnPrice
from tests.builders import (
    ACCOUNT,
    REGION,
    at,
    make_key,
    make_price,
    make_spot_price,
    make_volume,
    usd,
)
from tests.builders_use_cases import (
    BOTH,
    OTHER_ACCOUNT,
    UNPRICED,
    Company,
    costs,
    figures,
    runs,
    totals,
)

if TYPE_CHECKING:
    pass


# ---------------------------------------------------- billed and provisional


def test_billed_days_count_up_to_billed_through_and_running_time_after_it(
    company: Company,
) -> None:
    company.bills(
        costs("2026-11-28", "240"),
        costs("2026-11-29", "3"),
        through="2026-11-29",
    )
    company.is_watched(runs(since="2026-11-28"), at_="2026-11-28")
    company.is_watched(runs(since="2026-11-28"))

    answer = company.ask("job-123")

    # 28 Nov as billed, 29 Nov and nine hours of 30 Nov at $10.
    assert figures(answer) == ("570.00", "240.00", "330.00")
    assert answer.billed_through == {ACCOUNT: at("2026-11-29")}


def test_a_day_that_billing_completes_replaces_its_running_time(
    company: Company,
) -> None:
    company.bills(costs("2026-11-28", "240"), through="2026-11-29")
    company.is_watched(runs(since="2026-11-29"), at_="2026-11-29")
    company.is_watched(runs(since="2026-11-29"))
    before = company.ask("job-123")

    company.bills(costs("2026-11-29", "236.50"), through="2026-11-30")

    after = company.ask("job-123")
    assert figures(before) == ("570.00", "240.00", "330.00")
    assert figures(after) == ("566.50", "476.50", "90.00")


def test_a_restated_day_counts_once(company: Company) -> None:
    # C010
    company.bills(costs("2026-11-05", "80", is_estimated=True), through="2026-11-06")
    company.bills(costs("2026-11-05", "112.40"), mark="final")

    answer = company.ask("job-123")

    assert answer.total == usd("112.40")


def test_accounts_are_complete_through_different_days(company: Company) -> None:
    company.bills(costs("2026-11-29", "240"), through="2026-11-30")
    company.bills(
        costs("2026-11-29", "1", account=OTHER_ACCOUNT),
        account=OTHER_ACCOUNT,
        through="2026-11-29",
    )
    fleet = [
        runs("i-1", since="2026-11-29"),
        runs("i-2", since="2026-11-29", account=OTHER_ACCOUNT),
    ]
    company.is_watched(*fleet, at_="2026-11-29", scanned=BOTH)
    company.is_watched(*fleet, scanned=BOTH)

    answer = company.ask("job-123", by="account")

    # The first account's 29 Nov is billed, the second's is not: 33 hours run.
    assert totals(answer.groups) == {ACCOUNT: "330.00", OTHER_ACCOUNT: "330.00"}
    assert figures(answer) == ("660.00", "240.00", "420.00")
    assert answer.billed_through == {
        ACCOUNT: at("2026-11-30"),
        OTHER_ACCOUNT: at("2026-11-29"),
    }


def test_the_bill_so_far_stands_in_for_open_days_nobody_watched(
    company: Company,
) -> None:
    company.bills(costs("2026-11-28", "240"), costs("2026-11-29", "100"))

    answer = company.ask("job-123")

    assert figures(answer) == ("340.00", "0.00", "340.00")
    assert all(is_open for _, _, is_open in answer.by_day)


def test_of_an_unwatched_open_day_the_side_that_saw_more_hours_counts_alone(
    company: Company,
) -> None:
    # The inventory began on 30 Nov and saw instances that ran since 28 Nov; the bill
    # holds all of 28 Nov (another job, ended since), but little of 29 Nov yet.
    company.bills(
        costs("2026-11-28", "480", job="job-9", quantity="48"),
        costs("2026-11-29", "20", job="job-9", quantity="2"),
    )
    company.is_watched(runs(since="2026-11-28"))

    answer = company.ask(by="job")

    assert totals(answer.groups) == {"job-9": "480.00", "job-123": "330.00"}
    assert answer.provisional == answer.total == usd("810")


def test_the_day_on_which_the_inventory_began_may_be_the_bills(
    company: Company,
) -> None:
    # Two instances ended before the first poll at noon, and are billed by now.
    company.bills(
        costs("2026-11-28", "400", job="job-9", quantity="40"),
        costs("2026-11-28", "30", quantity="3"),
    )
    company.is_watched(runs(since="2026-11-28T12:00Z"), at_="2026-11-28T12:00Z")
    company.is_watched(runs(since="2026-11-28T12:00Z"))

    answer = company.ask(by="job", until="2026-11-29")

    assert totals(answer.groups) == {"job-9": "400.00", "job-123": "30.00"}


def test_days_that_the_inventory_watched_do_not_fall_back_to_the_bill(
    company: Company,
) -> None:
    company.is_watched(at_="2026-11-20")
    company.is_watched()
    company.bills(costs("2026-11-28", "240"))

    answer = company.ask("job-123")

    assert answer.total == usd("0")


def test_running_time_before_the_window_does_not_count(company: Company) -> None:
    company.is_watched(runs(since="2026-11-20"), at_="2026-11-20")
    company.is_watched(runs(since="2026-11-20"))

    answer = company.ask("job-123", since="2026-11-29", until="2026-11-30")

    assert answer.total == usd("240")


def test_a_volume_belongs_to_the_job_of_its_instance(company: Company) -> None:
    company.is_priced(make_price("0.0001", key=make_key("ebs:gp3")))
    company.is_watched(
        runs(), volumes=[make_volume(size_gib=1000, attached_to="i-1")],
        at_="2026-11-30T00:00Z",
    )  # fmt: skip
    company.is_watched(runs(), volumes=[make_volume(size_gib=1000, attached_to="i-1")])

    answer = company.ask("job-123")

    assert totals(answer.by_category) == {"compute": "90.00", "storage": "0.90"}


# ------------------------------------------------------------- what is unknown


def test_running_time_without_a_price_is_named_and_is_not_zero(
    company: Company,
) -> None:
    company.is_watched(runs("i-1"), runs("i-2", instance_type=UNPRICED))

    answer = company.ask("job-123")

    assert answer.total == usd("90")
    assert len(answer.provisional_unknown) == 1
    assert answer.provisional_unknown[0].startswith(f"{UNPRICED} on-demand in {REGION}")
    assert answer.burn is None
    assert answer.forecast_24h is None
    assert {line.instance_type: line.rate for line in answer.running} == {
        "p5.48xlarge": Rate.of("10"),
        UNPRICED: None,
    }


def test_a_breakdown_marks_the_group_whose_running_time_has_no_price(
    company: Company,
) -> None:
    company.is_watched(runs("i-1"), runs("i-2", job="job-9", instance_type=UNPRICED))

    answer = company.ask(by="job")

    assert {group.key: group.provisional for group in answer.groups} == {
        "job-123": usd("90"),
        "job-9": None,
    }
    assert answer.total == usd("90")


def test_an_unpriced_day_that_the_bill_stands_in_for_is_not_called_unknown(
    company: Company,
) -> None:
    company.now = at("2026-11-29T00:00Z")
    company.bills(
        costs("2026-11-28", "500", usage_type=f"BoxUsage:{UNPRICED}", quantity="24")
    )
    company.is_watched(runs(since="2026-11-28", instance_type=UNPRICED))

    answer = company.ask("job-123", until="2026-11-29")

    assert answer.total == usd("500")
    assert answer.provisional_unknown == ()


def test_spot_running_time_follows_its_price_history(company: Company) -> None:
    company.is_priced(
        make_spot_price("2", since="2026-11-29T00:00Z"),
        make_spot_price("4", since="2026-11-30T06:00Z"),
    )
    company.is_watched(runs(lifecycle=Lifecycle.SPOT))

    answer = company.ask("job-123")

    assert answer.total == usd("24")
    assert answer.burn == Rate.of("4")


def test_the_organisations_own_price_counts_for_running_time(company: Company) -> None:
    company.own = (OwnPrice(instance_type="p5.48xlarge", rate=Rate.of("7.5")),)
    company.is_watched(runs())

    answer = company.ask("job-123")

    assert answer.total == usd("67.50")
    assert answer.burn == Rate.of("7.5")


def test_an_unknown_job_is_refused_with_the_nearest_names(company: Company) -> None:
    company.bills(costs("2026-11-01", "1"), costs("2026-11-01", "1", job="other"))

    with pytest.raises(UnknownJobError, match="no job 'job-132' is known") as caught:
        company.ask("job-132")

    assert caught.value.suggestions == ("job-123",)


def test_a_job_is_found_whatever_its_case_and_spaces(company: Company) -> None:
    company.bills(costs("2026-11-01", "5"), through="2026-11-02")

    assert company.ask("  JOB-123 ").total == usd("5")


def test_list_cost_needs_an_export(company: Company) -> None:
    company.bills(costs("2026-11-01", "5"), through="2026-11-02")

    with pytest.raises(NeedsExportError, match="list cost") as caught:
        company.ask("job-123", metric=Metric.LIST)

    assert "effective or billed" in caught.value.hint


def test_list_cost_of_days_not_billed_yet_is_not_claimed(company: Company) -> None:
    company.bills(costs("2026-11-01", "5", list_cost="9"), through="2026-11-02")
    billed_only = company.ask("job-123", metric=Metric.LIST, until="2026-11-02")
    company.is_watched(runs())

    assert billed_only.total == usd("9")
    with pytest.raises(NeedsExportError):
        company.ask("job-123", metric=Metric.LIST)


def test_billed_and_effective_cost_are_twofigures(company: Company) -> None:
    company.bills(costs("2026-11-01", "5", effective="8"), through="2026-11-02")

    assert company.ask("job-123").total == usd("8")
    assert company.ask("job-123", metric=Metric.BILLED).total == usd("5")
