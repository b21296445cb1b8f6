"""Cost and usage reports, legacy and 2.0: what each record type costs, and whose it is."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from billing.core.attribution import TagKeys
from billing.core.charges import Bucket, ChargeCategory
from billing.core.money import Money, total
from billing.exports.errors import IncompleteExportError
from tests.builders_exports import DATA, charges_in, cur_row, write_csv, write_parquet

if TYPE_CHECKING:
    from pathlib import Path

    from billing.core.charges import Charge

SP = "savingsPlan/"


def _sums(charges: list[Charge]) -> tuple[str, str]:
    return (
        total(one.billed for one in charges).text(),
        total(one.effective for one in charges).text(),
    )


def test_a_savings_plan_counts_what_was_used_and_what_was_not(tmp_path: Path) -> None:
    # C045
    covered = cur_row("SavingsPlanCoveredUsage") | {
        "lineItem/UnblendedCost": "3.00", f"{SP}SavingsPlanEffectiveCost": "2.10",
    }  # fmt: skip
    negation = cur_row("SavingsPlanNegation") | {"lineItem/UnblendedCost": "-3.00"}
    fee = cur_row("SavingsPlanRecurringFee") | {
        "lineItem/UnblendedCost": "2.25", "lineItem/UsageType": "ComputeSP:1yrNoUpfront",
        f"{SP}TotalCommitmentToDate": "2.25", f"{SP}UsedCommitment": "2.10",
    }  # fmt: skip
    file = write_csv(tmp_path / "a.csv", [covered, negation, fee])

    charges = charges_in(file)

    unused = [one for one in charges if one.bucket is Bucket.COMMITMENT_UNUSED]
    assert _sums(charges) == ("2.25", "2.25")
    assert total(one.effective for one in unused).text() == "0.15"
    assert sum(one.quantity or 0 for one in charges) == 1
    assert {one.job for one in charges} == {"job-1", ""}


def test_what_a_plan_left_unused_gets_the_discount_of_its_fee(tmp_path: Path) -> None:
    fee = cur_row("SavingsPlanRecurringFee") | {
        "lineItem/UnblendedCost": "2.00", "lineItem/NetUnblendedCost": "1.50",
        f"{SP}TotalCommitmentToDate": "2.00", f"{SP}UsedCommitment": "1.20",
    }  # fmt: skip
    file = write_csv(tmp_path / "a.csv", [fee])

    assert _sums(charges_in(file)) == ("1.50", "0.60")


@pytest.mark.parametrize("kind", ["json", "map", "struct"])
def test_the_service_is_named_by_the_product(tmp_path: Path, kind: str) -> None:
    row = cur_row() | {"product": '{"product_name": "Amazon FSx", "region": "x"}'}
    casts = {
        "map": "CAST(CAST(product AS JSON) AS MAP(VARCHAR, VARCHAR))",
        "struct": "{'product_name': 'Amazon FSx', 'region': 'x'}",
    }
    if kind == "json":
        file = write_csv(tmp_path / "a.csv", [row])
    else:
        file = write_parquet(tmp_path / "a.parquet", [row], {"product": casts[kind]})

    assert charges_in(file)[0].service == "Amazon FSx"


def test_rows_without_a_type_are_refused(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", [cur_row("")])

    with pytest.raises(IncompleteExportError, match="rows without a type"):
        charges_in(file)


def test_fees_paid_up_front_are_cash_not_cost(tmp_path: Path) -> None:
    # C046
    hours = [
        cur_row("SavingsPlanCoveredUsage", lineItem__UsageStartDate=start) | {
            "lineItem/UnblendedCost": "0", f"{SP}SavingsPlanEffectiveCost": "1.00",
        }
        for start in (f"2026-09-01T{hour:02}:00:00Z" for hour in range(24))
    ]  # fmt: skip
    fee = cur_row("SavingsPlanUpfrontFee") | {"lineItem/UnblendedCost": "8760.00"}
    reserved = cur_row("Fee") | {
        "lineItem/UnblendedCost": "500.00", "reservation/ReservationARN": "arn:ri",
    }  # fmt: skip
    file = write_csv(tmp_path / "a.csv", [*hours, fee, reserved])

    assert _sums(charges_in(file)) == ("9260.00", "24.00")


def test_an_unused_reservation_is_spread_over_its_days(tmp_path: Path) -> None:
    # C053
    fee = cur_row("RIFee") | {
        "lineItem/UsageEndDate": "2026-09-30T23:59:59Z",
        "lineItem/UnblendedCost": "720.00",
        "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": "3000.00",
        "reservation/UnusedRecurringFee": "0",
    }
    file = write_csv(tmp_path / "a.csv", [fee])

    charges = charges_in(file)

    assert {one.effective.text() for one in charges} == {"100.00"}
    assert len({one.day for one in charges}) == 30
    assert _sums(charges) == ("720.00", "3000.00")
    assert min(charges, key=lambda one: one.day).billed == Money.of("720")


def test_a_reservation_without_its_effective_cost_is_refused(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", [cur_row("DiscountedUsage")])

    with pytest.raises(
        IncompleteExportError, match="'DiscountedUsage' have no effective"
    ):
        charges_in(file)


def test_refunds_and_credits_keep_their_sign_and_stand_apart(tmp_path: Path) -> None:
    # C013
    usage = cur_row() | {"lineItem/UnblendedCost": "500.00"}
    refund = cur_row("Refund") | {
        "lineItem/UnblendedCost": "-120.50", "lineItem/UsageStartDate": "",
    }  # fmt: skip
    tax = cur_row("Tax") | {"lineItem/UnblendedCost": "9.00"}
    file = write_csv(tmp_path / "a.csv", [usage, refund, tax])

    charges = charges_in(file)

    by_category = {one.category: one for one in charges}
    assert _sums(charges)[0] == "388.50"
    assert str(by_category[ChargeCategory.REFUND].billed) == "-$120.50"
    assert by_category[ChargeCategory.REFUND].bucket is Bucket.CREDITS
    assert by_category[ChargeCategory.TAX].bucket is Bucket.OVERHEAD


def test_exponents_are_read_exactly(tmp_path: Path) -> None:
    # C015
    amounts = ("1.2E-7", "0E-10", "-3.0E-7", "19.99")
    rows = [cur_row() | {"lineItem/UnblendedCost": amount} for amount in amounts]
    file = write_csv(tmp_path / "a.csv", rows)

    (charge,) = charges_in(file)

    assert charge.billed == Money.of("19.98999982")
    assert Decimal(charge.raw_billed) == Decimal("19.98999982")


def test_net_amounts_count_where_there_are_any(tmp_path: Path) -> None:
    net = cur_row() | {"lineItem/NetUnblendedCost": "0.80"}
    plain = cur_row() | {"lineItem/NetUnblendedCost": ""}
    file = write_csv(tmp_path / "a.csv", [net, plain])

    assert _sums(charges_in(file)) == ("1.80", "1.80")


def test_a_public_price_of_nothing_is_unknown(tmp_path: Path) -> None:
    rows = [
        cur_row() | {"pricing/publicOnDemandCost": text}
        for text in ("0", "convertible")
    ]
    file = write_csv(tmp_path / "a.csv", rows)

    (charge,) = charges_in(file)

    assert charge.list_cost is None
    assert charge.billed == Money.of("2")


def test_rows_of_split_cost_allocation_are_weights(tmp_path: Path) -> None:
    usage = cur_row() | {"splitLineItem/ParentResourceId": ""}
    pod = cur_row() | {
        "splitLineItem/ParentResourceId": "i-1", "lineItem/UnblendedCost": "",
    }  # fmt: skip
    file = write_csv(tmp_path / "a.csv", [usage, pod])

    (charge,) = charges_in(file)

    assert (charge.billed, charge.quantity) == (Money.of("1"), Decimal(1))


@pytest.mark.parametrize(
    "header",
    [
        "resourceTags/user:job-id",
        "resourceTags/user:Job-Id",
        "resource_tags_user_job_id",
    ],
)
def test_a_job_tag_has_a_column_of_its_own(tmp_path: Path, header: str) -> None:
    row = {key: value for key, value in cur_row().items() if "Tags" not in key}
    file = write_csv(tmp_path / "a.csv", [row | {header: " Job-7 "}])

    (charge,) = charges_in(file, keys=TagKeys(job=("job-id",)))

    assert (charge.job, charge.bucket) == ("job-7", Bucket.JOB)


@pytest.mark.parametrize("kind", ["json", "map"])
def test_tags_in_one_column_lose_their_prefix(tmp_path: Path, kind: str) -> None:
    # C029
    row = {key: value for key, value in cur_row().items() if "Tags" not in key}
    rows = [
        row | {"resource_tags": '{"user_job_id": "kim-1", "aws_created_by": "role-x"}'},
        row | {"resource_tags": '{"user_owner": "kim"}'},
    ]
    if kind == "json":
        file = write_csv(tmp_path / "a.csv", rows)
    else:
        cast = "CAST(CAST(resource_tags AS JSON) AS MAP(VARCHAR, VARCHAR))"
        file = write_parquet(tmp_path / "a.parquet", rows, {"resource_tags": cast})

    charges = charges_in(file)

    assert sorted(one.job for one in charges) == ["", "kim-1"]


def test_the_first_configured_key_wins(tmp_path: Path) -> None:
    row = cur_row() | {"resourceTags/user:JobId": "second"}
    file = write_csv(tmp_path / "a.csv", [row, row | {"resourceTags/user:job-id": ""}])

    assert sorted(one.job for one in charges_in(file)) == ["job-1", "second"]


def test_numbers_of_any_parquet_type_are_read(tmp_path: Path) -> None:
    casts = {
        "lineItem/UnblendedCost": 'CAST("lineItem/UnblendedCost" AS DOUBLE)',
        "lineItem/UsageStartDate": 'CAST("lineItem/UsageStartDate" AS TIMESTAMPTZ)',
        "lineItem/UsageEndDate": 'CAST("lineItem/UsageEndDate" AS TIMESTAMP)',
        "lineItem/UsageAmount": 'CAST("lineItem/UsageAmount" AS DECIMAL(18, 4))',
    }
    rows = [cur_row() | {"lineItem/UnblendedCost": "98.32"}] * 3
    file = write_parquet(tmp_path / "a.parquet", rows, casts)

    (charge,) = charges_in(file)

    assert charge.billed == Money.of("294.96")
    assert (charge.day.isoformat(), charge.quantity) == ("2026-09-01", Decimal(3))


def test_a_generated_month_of_gpus_sums_to_its_rows() -> None:
    charges = charges_in(DATA / "cur_legacy.csv", keys=TagKeys(job=("project",)))

    assert {one.job for one in charges} >= {"llm-pretrain", "eval"}
    negated = [one for one in charges if one.record_type == "SavingsPlanNegation"]
    assert {one.effective.text() for one in negated} == {"0.00"}
    assert all(one.quantity is None for one in negated)


@pytest.mark.parametrize(
    ("name", "billed"),
    [
        ("cur_legacy_small.csv", "0.045152"),
        ("cur_2_0.csv", "0.108304"),
        ("cur_athena_names.csv", "0.00"),
    ],
)
def test_every_style_of_header_is_read(name: str, billed: str) -> None:
    assert _sums(charges_in(DATA / name)) == (billed, billed)
