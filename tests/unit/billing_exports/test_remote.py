"""Exports that are rolled up far away: the same charges as from files read here."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

import duckdb

from billing.core.attribution import TagKeys
from billing.exports import ExportFolder, import_exports
from billing.exports.dialect import Dialect, translated
from billing.exports.golden import GOLDEN, Rows, expected, same
from billing.exports.remote import open_remote
from tests.builders_exports import (
    DATA,
    LATER,
    LIMITS,
    cur_row,
    focus_row,
    write_manifest,
    write_parquet,
)
from tests.fakes.ledger import InMemoryLedgerStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

MAP = {"Tags": 'CAST(CAST("Tags" AS JSON) AS MAP(VARCHAR, VARCHAR))'}
DOUBLES = {
    name: f"CAST(NULLIF(\"{name}\", '') AS DOUBLE)"
    for name in ("BilledCost", "EffectiveCost", "ListCost", "ConsumedQuantity")
}


@dataclass
class FarTable:
    """A table of Athena's as DuckDB would answer for it: rows come as texts, by pages."""

    path: Path
    cut: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return '"bills"."focus"'

    def columns(self) -> Mapping[str, str]:
        rows = duckdb.execute(
            "DESCRIBE SELECT * FROM read_parquet(?)", [str(self.path)]
        )
        return {row[0]: row[1] for row in rows.fetchall()}

    def run(self, sql: str) -> Iterator[Sequence[Sequence[str | None]]]:
        self.asked.append(sql)
        with duckdb.connect() as db:
            db.execute("SET TimeZone = 'UTC'")
            db.execute("CREATE SCHEMA bills")
            db.execute(
                f"CREATE VIEW bills.focus AS SELECT * FROM read_parquet('{self.path}')"  # noqa: S608 - our own file
            )
            rows = db.execute(translated(sql, Dialect.DUCKDB)).fetchall()
        for row in rows[self.cut :]:
            yield [[None if cell is None else str(cell) for cell in row]]


def _deliver(folder: Path) -> Path:
    rows = [
        focus_row(Tags='{"JOB-ID": "a,\\"b\\nc", "team": "cv"}', BilledCost="0.1"),
        focus_row("2026-09-30", ResourceId="i-1", Tags='{"team": "cv"}'),
        focus_row("2026-09-02", ListCost="", InvoiceId="7"),
        focus_row("2026-10-01", BilledCost="5"),
    ]
    for row in rows:
        row.setdefault("ResourceId", "")
        row.setdefault("InvoiceId", "")
    path = write_parquet(folder / "data" / "part.parquet", rows, MAP | DOUBLES)
    write_manifest(
        folder / "metadata" / "BILLING_PERIOD=2026-09" / "bill-Manifest.json",
        exportArn="arn:aws:bcm-data-exports:us-east-1:1:export/bill",
        dataFiles=[f"s3://bucket/{path.relative_to(folder).as_posix()}"],
    )
    return path


def test_a_delivery_becomes_the_same_charges_here_and_far_away(tmp_path: Path) -> None:
    table = FarTable(_deliver(tmp_path))
    place = ExportFolder(tmp_path, "s3://bucket")
    here, far = InMemoryLedgerStore(), InMemoryLedgerStore()

    outcome = import_exports(
        [place], far, TagKeys(), now=LATER, limits=LIMITS, remote={"s3://bucket": table}
    )

    only_september = write_parquet_of(tmp_path, table)
    import_exports([only_september], here, TagKeys(), now=LATER, limits=LIMITS)
    assert outcome.errors == ()
    assert [one.state for one in outcome.imports] == ["done"]
    assert _told(far) == _told(here)
    assert len(_told(far)) == 3


def write_parquet_of(folder: Path, table: FarTable) -> ExportFolder:
    """Write what of the table is of September as a delivery of its own."""
    root = folder / "september"
    root.mkdir()
    duckdb.execute(
        f"COPY (SELECT * FROM read_parquet('{table.path}')"  # noqa: S608 - our own file
        " WHERE \"BillingPeriodStart\" LIKE '2026-09%') TO"
        f" '{root / 'part.parquet'}' (FORMAT parquet)"
    )
    return ExportFolder(root)


def _told(store: InMemoryLedgerStore) -> list[str]:
    return sorted(
        repr(charge) for rows in store.ledger.rows.values() for charge in rows
    )


def test_an_answer_that_lacks_rows_is_not_believed(tmp_path: Path) -> None:
    table = FarTable(_deliver(tmp_path), cut=1)
    store = InMemoryLedgerStore()

    outcome = import_exports(
        [ExportFolder(tmp_path, "s3://bucket")], store, TagKeys(), now=LATER,
        limits=LIMITS, remote={"s3://bucket": table},
    )  # fmt: skip

    assert outcome.errors != ()
    assert _told(store) == []


def test_a_delivery_without_manifest_is_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    table = FarTable(write_parquet(tmp_path / "part.parquet", [focus_row()]))

    outcome = import_exports(
        [ExportFolder(tmp_path, "s3://bucket")], InMemoryLedgerStore(), TagKeys(), now=LATER,
        limits=LIMITS, remote={"s3://bucket": table},
    )  # fmt: skip

    (error,) = outcome.errors
    assert "needs deliveries with a manifest" in error.message
    assert table.asked == []


def test_a_partition_by_month_is_named_so_that_others_are_not_read(
    tmp_path: Path,
) -> None:
    row = cur_row() | {"billing_period": "2026-09"}
    table = FarTable(write_parquet(tmp_path / "part.parquet", [row]))

    with open_remote(table, date(2026, 9, 1), LIMITS) as reader:
        reader.prepare(TagKeys())
        reader.roll_up()
        found = reader.checks()

    assert "\"billing_period\" = '2026-09'" in table.asked[-1]
    assert [one.rows for one in found] == [1]


def test_statements_name_no_column_that_is_not_in_the_table(tmp_path: Path) -> None:
    for path in DATA.glob("*.csv"):
        made = tmp_path / f"{path.stem}.parquet"
        duckdb.execute(
            f"COPY (SELECT * FROM read_csv('{path}', all_varchar = true,"  # noqa: S608 - our own files
            f" header = true, nullstr = ['', 'NULL'])) TO '{made}' (FORMAT parquet)"
        )
        table = FarTable(made)

        with open_remote(table, date(2026, 9, 1), LIMITS) as reader:
            reader.prepare(TagKeys())
            reader.roll_up()

            assert reader.totals()[0] == reader.control()[0], path.name


# --- golden statements ---------------------------------------------------------------


def test_golden_statements_say_what_was_worked_out_by_hand() -> None:
    focus, cur = (
        expected(one)
        for golden in GOLDEN
        for one in [*golden.statements().values()][1:]
    )

    # 9 rows of 0.1 or so, a purchase of 720 and a correction of -3.5.
    assert focus == [["10", "717.400000000000", "-2.600000000000"]]
    # The recurring fee counts 0.15 of 2.25 unused, at the fee's discount of 20 %: 0.12.
    assert cur == [["9", "13.850000000000", "13.070000000000"]]


def test_an_answer_is_the_same_in_any_order_and_spelling() -> None:
    ours: Rows = [["a", "1.500000000000", None], ["b", "0", "2026-09-01 00:00:00"]]
    theirs: Rows = [["b", "0E-12", "2026-09-01 00:00:00.000"], ["a", "1.5", None]]

    assert same(ours, theirs)
    assert not same(ours, theirs[:1])
    assert not same(ours, [["b", "0", "2026-09-01 00:00:00"], ["a", "1.4", None]])
