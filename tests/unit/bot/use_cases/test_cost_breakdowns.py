"""What a cost is made of: credits apart, and every breakdown the same sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from billing.core.charges import Bucket, ChargeCategory, CostCategory
from billing.ports import NeedsExportError
from tests.builders import (
    ACCOUNT,
    REGION,
    usd,
)
from tests.builders_use_cases import (
    BOTH,
    OTHER_ACCOUNT,
    Company,
    costs,
    figures,
    runs,
    totals,
)

if TYPE_CHECKING:
    from billing.core.charges import Charge


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
    assert totals(net.groups) == {"job-123": "500.00", "bucket:credits": "-120.50"}


def test_a_job_with_only_credits_costs_nothing_and_shows_them(company: Company) -> None:
    company.bills(
        costs("2026-11-01", "-12.50", category=ChargeCategory.CREDIT),
        through="2026-11-02",
    )

    answer = company.ask("job-123")

    assert figures(answer) == ("0.00", "0.00", "0.00")
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

    assert totals(answer.groups) == {"2026-11-03": "8.25", "2026-11-04": "9.75"}
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
    assert totals(answer.groups) == {"job-123": "750.00", "bucket:untagged": "250.00"}


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

    assert totals(by_region.groups) == {REGION: "90.00", "us-west-2": "7.00"}
    assert totals(by_purchase.groups) == {"standard": "97.00"}
    assert totals(by_region.by_category) == {"compute": "97.00"}


def test_services_of_running_time_need_an_export(company: Company) -> None:
    company.bills(costs("2026-11-29", "7"), through="2026-11-30")
    billed = company.ask("job-123", by="service", until="2026-11-30")
    company.is_watched(runs())

    assert totals(billed.groups) == {"Amazon Elastic Compute Cloud - Compute": "7.00"}
    with pytest.raises(NeedsExportError, match="service"):
        company.ask("job-123", by="service")


def test_a_team_holds_the_jobs_its_tags_name(company: Company) -> None:
    company.is_watched(
        runs("i-1", tags={"team": "nlp"}), runs("i-2", job="job-9", tags={"team": "cv"})
    )

    answer = company.ask(team="nlp", by="job")

    assert totals(answer.groups) == {"job-123": "90.00"}
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

    assert totals(answer.by_category) == {"compute": "900.00", "storage": "61.30"}
    assert answer.total == usd("961.30")
