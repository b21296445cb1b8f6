"""The one text of the roll-up means the same to DuckDB and to Spark."""

from __future__ import annotations

import json
from contextlib import closing
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from billing.exports.dialect import Dialect, translated
from billing.exports.engine import open_reader
from billing.exports.rollup import control_sql, rollup_sql
from tests.bench.exports import ROWS_SQL
from tests.builders_exports import DATA, KEYS, LIMITS, cur_row, focus_row, write_parquet
from tests.slow import other_python, spark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from billing.exports.engine import Reader

pytestmark = pytest.mark.slow
HELD = frozenset({"i-00000000000000001", "i-it's"})
MAP = {"Tags": 'CAST(CAST("Tags" AS JSON) AS MAP(VARCHAR, VARCHAR))'}


def _published(folder: Path) -> list[Path]:
    """Return the published samples as Parquet, their cells as texts."""
    found = []
    for source in sorted(DATA.glob("*.csv")):
        path = folder / f"{source.stem}.parquet"
        duckdb.execute(
            f"COPY (SELECT * FROM read_csv('{source}', all_varchar = true,"  # noqa: S608 - our own files
            " header = true, nullstr = ['', 'NULL'])) TO"
            f" '{path}' (FORMAT parquet)"
        )
        found.append(path)
    return found


def _made(folder: Path) -> list[Path]:
    """Return rows of many kinds, with maps, zones, odd texts and edges of months."""
    focus = [
        focus_row(Tags='{"JOB-ID": "Größe 1", "x": ""}', BilledCost="0.000000000001"),
        focus_row(Tags="{}", ResourceId="i-it's", EffectiveCost="-0.5"),
        focus_row(Tags='{"job_id": ""}', ResourceId="vol-1", ListCost=""),
        focus_row(ChargeCategory="Purchase", CommitmentDiscountId="sp-1"),
        focus_row(
            CommitmentDiscountStatus="Unused", ChargePeriodEnd="2026-10-05T00:00:00Z"
        ),
        focus_row(ChargeClass="Correction", BilledCost="-3"),
        focus_row(ProviderName="Other Cloud"),
        focus_row("2026-08-31", BillingPeriodStart="2026-09-01T00:00:00Z"),
        focus_row(SubAccountId="12345", x_UsageType="", InvoiceId="7"),
    ]
    for row in focus:
        row.setdefault("ResourceId", "")
        row.setdefault("InvoiceId", "")
    plans = "savingsPlan__"
    cur = [
        cur_row(lineItem__NetUnblendedCost="0.9", splitLineItem__ParentResourceId=""),
        cur_row("SavingsPlanCoveredUsage", **{f"{plans}SavingsPlanEffectiveCost": "0.4"}),
        cur_row(
            "SavingsPlanRecurringFee",
            **{f"{plans}TotalCommitmentToDate": "2.25", f"{plans}UsedCommitment": "2.1"},
            lineItem__UnblendedCost="2.25", lineItem__NetUnblendedCost="1.8",
        ),
        cur_row("SavingsPlanNegation", lineItem__UnblendedCost="-1"),
        cur_row("DiscountedUsage", reservation__EffectiveCost="0.3"),
        cur_row(
            "RIFee", lineItem__UsageEndDate="2026-10-01T00:00:00Z",
            reservation__UnusedRecurringFee="4",
        ),
        cur_row(
            splitLineItem__ParentResourceId="i-1", lineItem__UnblendedCost="0",
        ),
        cur_row("Tax", lineItem__UsageStartDate="", lineItem__UsageEndDate=""),
    ]  # fmt: skip
    names = dict.fromkeys(name for row in cur for name in row)
    return [
        write_parquet(folder / "made_focus.parquet", focus, MAP),
        write_parquet(
            folder / "made_cur.parquet",
            [{name: row.get(name, "") for name in names} for row in cur],
        ),
    ]


def _typed(folder: Path) -> Path:
    """Return a hundred thousand rows with types, as a delivery of Parquet has them."""
    path = folder / "typed.parquet"
    with closing(duckdb.connect()) as db:
        db.execute(f"COPY ({ROWS_SQL.format(lines=134)}) TO '{path}' (FORMAT parquet)")
    return path


def _statements(reader: Reader) -> list[str]:
    reader.prepare(KEYS)
    return [
        rollup_sql(reader.table, reader._tag_values, HELD),
        control_sql(reader.table),
    ]


def test_the_roll_up_has_equal_rows_on_duckdb_and_spark(tmp_path: Path) -> None:
    python = other_python.python()
    other_python.java()
    files = [*_published(tmp_path), *_made(tmp_path), _typed(tmp_path)]
    tasks, ours = [], []
    for file in files:
        with open_reader([file], LIMITS) as reader:
            found = _statements(reader)
            ours.append(
                [
                    reader._run(translated(one, Dialect.DUCKDB)).fetchall()
                    for one in found
                ]
            )
            tasks.append(
                {
                    "rows": str(file),
                    "sql": [translated(one, Dialect.SPARK) for one in found],
                }
            )
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")

    answers = json.loads(
        other_python.run(
            str(python), str(Path(spark.__file__)), str(path), folder=tmp_path
        ).splitlines()[-1]
    )

    for file, duck, other in zip(files, ours, answers, strict=True):
        for mine, theirs in zip(duck, other, strict=True):
            assert _same(mine) == _same(theirs), file.name
    assert sum(len(rows) for rows, _ in ours) > 100


def _same(rows: Sequence[Sequence[Any]]) -> list[tuple[str, ...]]:
    """Return rows in one order, their cells in one spelling."""
    return sorted(tuple(_spelled(cell) for cell in row) for row in rows)


def _spelled(cell: Any) -> str:
    if cell is None:
        return "-"
    text = str(cell)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return f"{number.normalize():f}" if number else "0"
