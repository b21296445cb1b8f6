"""What something has cost: billed and provisional, never both for one time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from billing.core.charges import Bucket, ChargeCategory, CostCategory, Metric
from billing.core.fleet import InstanceState, Lifecycle
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
    OTHER_ACCOUNT,
    UNPRICED,
    Company,
    costs,
    rate,
    runs,
    tagged,
)

if TYPE_CHECKING:
    from billing.core.charges import Charge
    from bot.unit_of_work import SqlStore
    from bot.views.answers import CostAnswer, CostGroup

BOTH = ((ACCOUNT, REGION), (OTHER_ACCOUNT, REGION))


@pytest.fixture
def company(store: SqlStore) -> Company:
    made = Company(store)
    made.is_priced(rate("10"))
    return made


def _figures(answer: CostAnswer) -> tuple[str, str, str]:
    return answer.total.text(), answer.billed.text(), answer.provisional.text()


def _totals(groups: tuple[CostGroup, ...]) -> dict[str, str]:
    return {group.key: group.total.text() for group in groups}


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
    assert _figures(answer) == ("570.00", "240.00", "330.00")
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
    assert _figures(before) == ("570.00", "240.00", "330.00")
    assert _figures(after) == ("566.50", "476.50", "90.00")


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
    assert _totals(answer.groups) == {ACCOUNT: "330.00", OTHER_ACCOUNT: "330.00"}
    assert _figures(answer) == ("660.00", "240.00", "420.00")
    assert answer.billed_through == {
        ACCOUNT: at("2026-11-30"),
        OTHER_ACCOUNT: at("2026-11-29"),
    }


def test_the_bill_so_far_stands_in_for_open_days_nobody_watched(
    company: Company,
) -> None:
    company.bills(costs("2026-11-28", "240"), costs("2026-11-29", "100"))

    answer = company.ask("job-123")

    assert _figures(answer) == ("340.00", "0.00", "340.00")
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

    assert _totals(answer.groups) == {"job-9": "480.00", "job-123": "330.00"}
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

    assert _totals(answer.groups) == {"job-9": "400.00", "job-123": "30.00"}


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

    assert _totals(answer.by_category) == {"compute": "90.00", "storage": "0.90"}


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


def test_billed_and_effective_cost_are_two_figures(company: Company) -> None:
    company.bills(costs("2026-11-01", "5", effective="8"), through="2026-11-02")

    assert company.ask("job-123").total == usd("8")
    assert company.ask("job-123", metric=Metric.BILLED).total == usd("5")


# --------------------------------------------------------------- credits apart


def _credit(
    on: str, amount: str, kind: ChargeCategory = ChargeCategory.CREDIT
) -> Charge:
    return costs(
        on, amount, job="", bucket=Bucket.CREDITS, category=kind,
        record_type=kind.value.title(),
    )  # fmt: skip


def test_credits_stand_apart_and_do_not_hide_the_burn(company: Company) -> None:
    # C012
    company.bills(
        costs("2026-11-01", "340"), _credit("2026-11-01", "-340"), through="2026-11-02"
    )

    gross, net = company.ask(), company.ask(is_net=True)

    assert (gross.total, gross.credits) == (usd("340"), usd("-340"))
    assert (net.total, net.credits) == (usd("0"), usd("-340"))


def test_refunds_keep_their_sign(company: Company) -> None:
    # C013
    company.bills(
        costs("2026-11-01", "500"),
        _credit("2026-11-01", "-120.50", ChargeCategory.REFUND),
        through="2026-11-02",
    )

    net = company.ask(by="job", is_net=True)

    assert net.total == usd("379.50")
    assert str(net.credits) == "-$120.50"
    assert _totals(net.groups) == {"job-123": "500.00", "bucket:credits": "-120.50"}


def test_a_job_with_only_credits_costs_nothing_and_shows_them(company: Company) -> None:
    company.bills(
        costs("2026-11-01", "-12.50", category=ChargeCategory.CREDIT),
        through="2026-11-02",
    )

    answer = company.ask("job-123")

    assert _figures(answer) == ("0.00", "0.00", "0.00")
    assert answer.credits == usd("-12.50")
    assert answer.by_category == ()


def test_dust_adds_up_exactly_and_shows_no_minus_zero(company: Company) -> None:
    # C015
    company.bills(
        costs("2026-11-01", "0.00000012"),
        costs("2026-11-01", "-0.0000003", usage_type="other"),
        through="2026-11-02",
    )

    answer = company.ask("job-123")

    assert answer.total.text() == "-0.00000018"
    assert str(answer.total) == "$0.00"


def test_a_known_day_without_cost_is_zero_and_shifts_no_other(company: Company) -> None:
    # C016, C017
    company.bills(
        costs("2026-11-03", "8.25"), costs("2026-11-04", "9.75"),
        days=[f"2026-11-0{number}" for number in range(1, 8)], through="2026-11-08",
    )  # fmt: skip

    answer = company.ask("job-123", by="day", until="2026-11-08")

    assert _totals(answer.groups) == {"2026-11-03": "8.25", "2026-11-04": "9.75"}
    assert answer.total == usd("18")


# ------------------------------------------------------------ what it is made of


def test_untagged_cost_is_part_of_the_total_and_said(company: Company) -> None:
    company.bills(
        costs("2026-11-01", "250", job=""),
        costs("2026-11-01", "750"),
        through="2026-11-02",
    )

    answer = company.ask(by="job")

    assert answer.total == usd("1000")
    assert answer.unattributed == usd("250")
    assert _totals(answer.groups) == {"job-123": "750.00", "bucket:untagged": "250.00"}


def test_groups_come_dearest_first_and_days_in_time(company: Company) -> None:
    company.bills(
        costs("2026-11-01", "1", job="b"),
        costs("2026-11-01", "1", job="a"),
        costs("2026-11-02", "5", job="c"),
        through="2026-11-03",
    )

    assert [group.key for group in company.ask(by="job").groups] == ["c", "a", "b"]
    assert [group.key for group in company.ask(by="day").groups] == [
        "2026-11-01",
        "2026-11-02",
    ]


def test_regions_and_purchases_are_told_for_billed_and_running_time(
    company: Company,
) -> None:
    company.bills(costs("2026-11-29", "7", region="us-west-2"), through="2026-11-30")
    company.is_watched(runs())

    by_region = company.ask("job-123", by="region")
    by_purchase = company.ask("job-123", by="purchase")

    assert _totals(by_region.groups) == {REGION: "90.00", "us-west-2": "7.00"}
    assert _totals(by_purchase.groups) == {"standard": "97.00"}
    assert _totals(by_region.by_category) == {"compute": "97.00"}


def test_services_of_running_time_need_an_export(company: Company) -> None:
    company.bills(costs("2026-11-29", "7"), through="2026-11-30")
    billed = company.ask("job-123", by="service", until="2026-11-30")
    company.is_watched(runs())

    assert _totals(billed.groups) == {"Amazon Elastic Compute Cloud - Compute": "7.00"}
    with pytest.raises(NeedsExportError, match="service"):
        company.ask("job-123", by="service")


def test_a_team_holds_the_jobs_its_tags_name(company: Company) -> None:
    company.is_watched(
        runs("i-1", tags={"team": "nlp"}), runs("i-2", job="job-9", tags={"team": "cv"})
    )

    answer = company.ask(team="nlp", by="job")

    assert _totals(answer.groups) == {"job-123": "90.00"}
    assert answer.unattributed is None


def test_an_account_filter_keeps_others_out(company: Company) -> None:
    company.bills(costs("2026-11-01", "5"), through="2026-11-02")
    company.is_watched(runs("i-2", account=OTHER_ACCOUNT), scanned=BOTH)

    assert company.ask(account=ACCOUNT).total == usd("5")
    other = company.ask(account=OTHER_ACCOUNT)
    assert other.total == usd("90")
    assert other.billed_through == {}


def test_categories_of_a_job_add_up_to_its_total(company: Company) -> None:
    company.bills(
        costs("2026-11-01", "900"),
        costs("2026-11-01", "61.30", cost_category=CostCategory.STORAGE),
        through="2026-11-02",
    )

    # C021: compute alone is never the whole.
    answer = company.ask("job-123")

    assert _totals(answer.by_category) == {"compute": "900.00", "storage": "61.30"}
    assert answer.total == usd("961.30")


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

    assert _figures(answer) == ("240.00", "240.00", "0.00")
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

    assert _figures(company.ask("job-123")) == ("90.00", "0.00", "90.00")


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

    assert _figures(answer) == ("0.00", "0.00", "0.00")
    assert (answer.groups, answer.billed_through) == ((), {})


def test_a_team_named_untagged_does_not_collide_with_untagged_cost(
    company: Company,
) -> None:
    # C026
    company.is_watched(runs("i-1", tags={"team": "(untagged)"}), runs("i-2", job=""))

    answer = company.ask(by="team")

    assert _totals(answer.groups) == {
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
