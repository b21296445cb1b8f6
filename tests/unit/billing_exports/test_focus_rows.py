"""The attributed ledger as FOCUS rows: sums stay, texts are harmless, files are whole."""

from __future__ import annotations

import csv
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from billing.core.money import Money
from billing.core.transfers import Basis, Rule, Transfer
from billing.exports.focus_file import ExportFileError, focus_file
from billing.exports.focus_rows import COLUMNS, FocusMaker, FocusRow
from billing.ports.charge_rows import CHARGE_CELLS, ChargeCells

if TYPE_CHECKING:
    from pathlib import Path

MAKER = FocusMaker("USD")


def cells(**over: object) -> ChargeCells:
    found: dict[str, Any] = {
        "account": "012345678901", "day": date(2026, 12, 31), "region": "us-east-2",
        "service": "Amazon Elastic Compute Cloud", "usage_type": "BoxUsage:p5.48xlarge",
        "record_type": "Usage", "category": "usage", "pricing": "standard",
        "cost_category": "compute", "bucket": "job", "job": "job-1",
        "billed": 1_500_000_001, "effective": 1_250_000_000, "list_cost": None,
        "quantity": "1.500000000000", "unit": "Hrs", "is_estimated": False,
        "raw_billed": "1.5", "resource_id": "i-1",
    }  # fmt: skip
    assert tuple(found) == CHARGE_CELLS
    return tuple((found | over).values())


def transfer(**over: Any) -> Transfer:
    found: dict[str, Any] = {
        "account": "012345678901", "day": date(2026, 12, 31), "region": "us-east-2",
        "service": "Amazon Elastic Compute Cloud", "usage_type": "BoxUsage:p5.48xlarge",
        "pricing": "standard", "cost_category": "compute", "resource_id": "i-1",
        "from_key": "bucket:untagged", "to_key": "job-2", "billed": Money(7),
        "effective": Money(5), "list_cost": None, "rule": Rule.PLACEMENT,
        "basis": Basis.EXACT, "evidence": "slurm 17: 4 of 8 GPUs",
    }  # fmt: skip
    return Transfer(**found | over)


def every_kind() -> list[FocusRow]:
    """Make a row of every category, and both sides of a transfer."""
    free = {"quantity": None, "unit": "", "resource_id": ""}
    rows = [
        MAKER.of_charge(cells()),
        MAKER.of_charge(cells(category="tax", service="", usage_type="", **free)),
        MAKER.of_charge(cells(category="credit", billed=-5, effective=-5, **free)),
        MAKER.of_charge(cells(category="refund", billed=-5, effective=-5, **free)),
        MAKER.of_charge(cells(category="purchase", effective=0, list_cost=0, **free)),
        MAKER.of_charge(cells(category="fee", pricing="committed", **free)),
        MAKER.of_charge(cells(category="adjustment", **free)),
        MAKER.of_charge(cells(pricing="dynamic", service="Amazon FSx", unit="")),
        MAKER.of_charge(
            cells(pricing="other", resource_id="arn:aws:sagemaker:x:1:y/z")
        ),
    ]
    return [*rows, *MAKER.of_transfer(transfer())]


def test_every_row_has_every_column_in_order() -> None:
    assert {tuple(row) for row in every_kind()} == {tuple(COLUMNS)}


def test_a_charge_says_its_day_its_month_and_whose_it_is() -> None:
    row = MAKER.of_charge(cells())

    assert row["ChargePeriodStart"] == "2026-12-31T00:00:00Z"
    assert row["ChargePeriodEnd"] == "2027-01-01T00:00:00Z"
    assert row["BillingPeriodEnd"] == "2027-01-01T00:00:00Z"
    assert row["SubAccountId"] == "012345678901"
    assert (row["x_Job"], row["x_Bucket"]) == ("job-1", "job")
    assert (row["ResourceId"], row["ResourceType"]) == ("i-1", "Instance")


def test_an_unknown_list_cost_stays_unknown_in_our_own_column() -> None:
    unknown, nothing = MAKER.of_charge(cells()), MAKER.of_charge(cells(list_cost=0))

    assert (unknown["x_ListCost"], unknown["ListCost"]) == (None, "1.500000001")
    assert (nothing["x_ListCost"], nothing["ListCost"]) == ("0.000000000",) * 2


def test_a_transfer_takes_from_one_key_what_it_gives_to_another() -> None:
    lost, gained = MAKER.of_transfer(transfer())

    assert (lost["x_Job"], lost["x_Bucket"]) == (None, "untagged")
    assert (gained["x_Job"], gained["x_Bucket"]) == ("job-2", "job")
    for name in ("BilledCost", "EffectiveCost", "ListCost"):
        assert Decimal(lost[name]) + Decimal(gained[name]) == 0
    assert gained["x_Rule"] == "placement"
    assert gained["x_Evidence"] == "slurm 17: 4 of 8 GPUs"


# C099
@pytest.mark.parametrize("job", ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\r=1"])
def test_no_text_of_a_csv_is_a_formula(job: str, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"

    with focus_file(path, is_parquet=False) as file:
        file.write([MAKER.of_charge(cells(job=job, billed=-3))])

    with path.open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["x_Job"] == "'" + job.replace("\r", " ")
    assert row["BilledCost"] == "-0.000000003"


def test_a_parquet_file_holds_texts_as_they_are_and_exact_amounts(
    tmp_path: Path,
) -> None:
    path = tmp_path / "out.parquet"
    rows = [MAKER.of_charge(cells(job='=1,"\n2', service="NULL")), *every_kind()]

    with focus_file(path, is_parquet=True) as file:
        file.write([dict(row) for row in rows])

    found = duckdb.execute(
        'SELECT "x_Job", "ServiceName", "BilledCost", "SubAccountId",'
        ' "ChargePeriodStart", "ConsumedQuantity" FROM read_parquet(?)',
        [str(path)],
    ).fetchall()
    assert len(found) == file.rows == len(rows)
    assert found[0][:4] == ('=1,"\n2', "NULL", Decimal("1.500000001"), "012345678901")
    assert found[0][4].date() == date(2026, 12, 31)
    assert sum(row[2] for row in found) == sum(
        Decimal(row["BilledCost"]) for row in rows
    )


@pytest.mark.parametrize("is_parquet", [True, False])
def test_a_failure_on_the_way_leaves_what_was_there(
    tmp_path: Path, *, is_parquet: bool
) -> None:
    path = tmp_path / "out"
    path.write_text("before")

    with (
        pytest.raises(KeyError),
        focus_file(path, is_parquet=is_parquet) as file,
    ):
        file.write([MAKER.of_charge(cells()), MAKER.of_charge(cells(category="?"))])

    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "out.csv"

    with (
        pytest.raises(ExportFileError, match="nowhere"),
        focus_file(path, is_parquet=False),
    ):
        pass
