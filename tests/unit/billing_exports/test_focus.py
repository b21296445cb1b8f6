"""FOCUS exports: real anonymised rows, and what commitments, refunds and tags become."""

from __future__ import annotations

import csv
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from billing.core.attribution import TagKeys
from billing.core.charges import Bucket, ChargeCategory, CostCategory, PricingCategory
from billing.core.money import Money, total
from billing.exports.errors import ExportCurrencyError, IncompleteExportError
from tests.builders_exports import DATA, charges_in, focus_row, write_csv, write_parquet

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = DATA / "focus_1_0.csv"


def test_real_rows_sum_to_the_bill_of_aws_alone() -> None:
    with SAMPLE.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["ProviderName"] == "AWS"]
    wanted = sum(Decimal(row["BilledCost"]) for row in rows)

    charges = charges_in(SAMPLE)

    found = total(one.billed for one in charges)
    assert abs(found.nanos - int(wanted * 10**9)) <= len(charges)
    assert {one.category for one in charges} == {
        ChargeCategory.USAGE,
        ChargeCategory.CREDIT,
    }


def test_tags_of_real_rows_name_the_job() -> None:
    charges = charges_in(SAMPLE, keys=TagKeys(job=("Application",)))

    jobs = {one.job for one in charges if one.bucket is Bucket.JOB}
    assert "brightlensmatrix" in jobs


def test_list_cost_leaves_out_what_buys_commitments(tmp_path: Path) -> None:
    # C048
    purchase = focus_row(
        ChargeCategory="Purchase", CommitmentDiscountId="sp-1", BilledCost="730",
        EffectiveCost="0", ListCost="730",
    )  # fmt: skip
    usage = focus_row(
        CommitmentDiscountId="sp-1", CommitmentDiscountStatus="Used", BilledCost="0",
        EffectiveCost="2.00", ListCost="4.00", PricingCategory="Committed",
    )  # fmt: skip
    file = write_csv(tmp_path / "a.csv", [purchase, *[usage] * 365])

    charges = charges_in(file)

    listed = total(one.list_cost for one in charges if one.list_cost)
    assert listed == Money.of("1460")
    assert total(one.effective for one in charges) == Money.of("730")
    assert total(one.billed for one in charges) == Money.of("730")


def test_what_a_commitment_did_not_use_belongs_to_no_job(tmp_path: Path) -> None:
    unused = focus_row(
        CommitmentDiscountStatus="Unused", EffectiveCost="3.00", BilledCost="0",
        ChargePeriodEnd="2026-09-04T00:00:00Z",
    )  # fmt: skip
    file = write_csv(tmp_path / "a.csv", [unused])

    charges = charges_in(file)

    assert {one.bucket for one in charges} == {Bucket.COMMITMENT_UNUSED}
    assert [one.effective.text() for one in charges] == ["1.00"] * 3
    assert {one.quantity for one in charges} == {None}


@pytest.mark.parametrize(
    ("over", "category", "bucket"),
    [
        ({"ChargeCategory": "Tax"}, ChargeCategory.TAX, Bucket.OVERHEAD),
        ({"ChargeCategory": "Credit"}, ChargeCategory.CREDIT, Bucket.CREDITS),
        ({"ChargeClass": "Correction"}, ChargeCategory.REFUND, Bucket.CREDITS),
        ({"ChargeCategory": "Purchase"}, ChargeCategory.FEE, Bucket.OVERHEAD),
        ({"ChargeCategory": "Adjustment"}, ChargeCategory.ADJUSTMENT, Bucket.OVERHEAD),
        ({}, ChargeCategory.USAGE, Bucket.JOB),
    ],
)
def test_every_kind_of_row_has_its_place(
    tmp_path: Path, over: dict[str, str], category: ChargeCategory, bucket: Bucket
) -> None:
    row = focus_row(BilledCost="-5.00", EffectiveCost="-5.00") | over
    file = write_csv(tmp_path / "a.csv", [row])

    (charge,) = charges_in(file)

    assert (charge.category, charge.bucket) == (category, bucket)
    assert charge.billed == Money.of("-5")


def test_spot_is_dynamic(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", [focus_row(PricingCategory="Dynamic")])

    assert charges_in(file)[0].pricing is PricingCategory.DYNAMIC


def test_without_a_usage_type_the_service_category_says_what_it_buys(
    tmp_path: Path,
) -> None:
    row = focus_row(x_UsageType="", ServiceCategory="Networking")
    file = write_csv(tmp_path / "a.csv", [row])

    (charge,) = charges_in(file)

    assert charge.cost_category is CostCategory.NETWORK
    assert (charge.region, charge.service) == (row["RegionId"], row["ServiceName"])


def test_a_map_of_tags_names_the_job_whatever_its_spelling(tmp_path: Path) -> None:
    rows = [focus_row(Tags='{"Job-ID": "a"}'), focus_row(Tags='{"user:job_id": "b"}')]
    cast = "CAST(CAST(Tags AS JSON) AS MAP(VARCHAR, VARCHAR))"
    file = write_parquet(tmp_path / "a.parquet", rows, {"Tags": cast})

    assert sorted(one.job for one in charges_in(file)) == ["a", "b"]


def test_two_currencies_are_never_one_sum(tmp_path: Path) -> None:
    # C051
    rows = [
        focus_row(BilledCost="100.00"),
        focus_row(BilledCost="700.00", BillingCurrency="CNY"),
    ]
    file = write_csv(tmp_path / "a.csv", rows)

    with pytest.raises(ExportCurrencyError, match=r"700\.0+ CNY, 100\.0+ USD"):
        charges_in(file)


def test_text_that_says_null_is_no_value(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", [focus_row(Tags="NULL", RegionId="NULL")])

    (charge,) = charges_in(file)

    assert (charge.job, charge.region) == ("", "us-east-2")


def test_an_account_keeps_its_zeros(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", [focus_row(SubAccountId="12345678901")])

    assert charges_in(file)[0].account == "012345678901"


@pytest.mark.parametrize("column", ["BilledCost", "EffectiveCost", "SubAccountId"])
def test_a_row_without_an_amount_or_account_is_refused(
    tmp_path: Path, column: str
) -> None:
    file = write_csv(tmp_path / "a.csv", [focus_row(), focus_row(**{column: "NULL"})])

    with pytest.raises(IncompleteExportError, match="1 rows of type 'Usage'"):
        charges_in(file)
