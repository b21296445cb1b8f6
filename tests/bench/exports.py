"""An export of ten million FOCUS rows to the attributed ledger, against bare engines.

``python -m tests.bench.exports own|plain|bare FILE DATABASE`` does one of them once, in a
process of its own, and prints wall and CPU seconds and the peak of memory in bytes.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from billing.core.attribution import TagKeys
from billing.exports import EngineLimits, ExportFolder, import_exports
from billing.ledger import swap
from tests.bench.figures import Figure, Spent, mebibytes, ratio, seconds, timed
from tests.bench.memory import peak
from tests.bench.product import create, open_store

ROWS = (1_000_000, 10_000_000)
ROUNDS = 3
TIMES_AT_MOST = 1.5
BYTES_MAX = 1_500_000_000
FLAT_AT_MOST = 1.25
NOW = datetime(2026, 11, 30, 18, tzinfo=UTC)
#: Every hour of October has the same lines: a resource with one usage type, 40 of them a
#: job, of every tenth the tag is missing.
ROWS_SQL = """
SELECT CAST(x.cost AS DOUBLE) AS "BilledCost",
  CAST(x.cost * 0.83 AS DOUBLE) AS "EffectiveCost",
  CAST(x.cost * 1.1 AS DOUBLE) AS "ListCost", 'USD' AS "BillingCurrency",
  TIMESTAMP '2026-10-01' AS "BillingPeriodStart", 'Usage' AS "ChargeCategory",
  CAST(NULL AS VARCHAR) AS "ChargeClass",
  TIMESTAMP '2026-10-01' + TO_HOURS(x.hour) AS "ChargePeriodStart",
  TIMESTAMP '2026-10-01 01:00' + TO_HOURS(x.hour) AS "ChargePeriodEnd",
  CAST(NULL AS VARCHAR) AS "CommitmentDiscountId",
  CAST(NULL AS VARCHAR) AS "CommitmentDiscountStatus",
  CAST(1 AS DOUBLE) AS "ConsumedQuantity", 'Hrs' AS "ConsumedUnit",
  CASE WHEN x.kind % 5 = 0 THEN 'Dynamic' ELSE 'Standard' END AS "PricingCategory",
  'AWS' AS "ProviderName", 'us-' || ['east', 'west'][1 + x.job % 2] || '-2' AS "RegionId",
  'Compute' AS "ServiceCategory", 'Amazon Elastic Compute Cloud' AS "ServiceName",
  '01234567890' || (x.job % 3) AS "SubAccountId",
  'i-' || LPAD(CAST(x.line // 4 AS VARCHAR), 17, '0') AS "ResourceId",
  CASE WHEN x.line % 10 = 0 THEN MAP {{'team': 'team-' || (x.job % 20), 'Name': 'node'}}
    ELSE MAP {{'job-id': 'job-' || x.job, 'team': 'team-' || (x.job % 20),
      'owner': 'o' || (x.job % 50)}} END AS "Tags",
  'USE2-' || ['BoxUsage:p5.48xlarge', 'BoxUsage:g5.xlarge', 'EBS:VolumeUsage.gp3',
    'DataTransfer-Regional-Bytes'][1 + x.kind % 4] AS "x_UsageType",
  CAST(NULL AS VARCHAR) AS "InvoiceId"
FROM (SELECT i // {lines} AS hour, i % {lines} AS line, (i % {lines}) // 40 % 336 AS job,
  i % {lines} % 7 AS kind, (i % 9973) / 1000.0 AS cost FROM range({lines} * 744) t(i)) x
"""
#: The same columns, summed as exactly, in one statement.
BARE_SQL = """
SELECT "SubAccountId", CAST("ChargePeriodStart" AS DATE) AS day, "RegionId",
  "ServiceName", "x_UsageType", "ChargeCategory", "PricingCategory", "ConsumedUnit",
  "Tags"['job-id'] AS job,
  CASE WHEN "Tags"['job-id'] IS NULL THEN "ResourceId" END AS resource,
  SUM(CAST("BilledCost" AS DECIMAL(38,12))), SUM(CAST("EffectiveCost" AS DECIMAL(38,12))),
  SUM(CAST("ListCost" AS DECIMAL(38,12))), SUM(CAST("ConsumedQuantity" AS DECIMAL(38,12))),
  MAX("ChargePeriodEnd"), COUNT("InvoiceId")
FROM read_parquet(?) GROUP BY ALL
"""


def measure(folder: Path) -> list[Figure]:
    """Measure time at ten million rows, and memory at one and ten."""
    files = {
        rows: write_rows(folder / f"{rows}" / "focus.parquet", rows) for rows in ROWS
    }
    most = ROWS[-1]
    peaks = {ROWS[0]: _child("own", files[ROWS[0]], folder)[1], most: 0}
    sides: dict[str, list[Spent]] = {"own": [], "plain": [], "bare": []}
    for _ in range(ROUNDS):
        for side, spent in sides.items():
            found, memory = _child(side, files[most], folder)
            spent.append(found)
            peaks[most] = max(memory, peaks[most]) if side == "own" else peaks[most]
    own, plain, bare = sides.values()
    return [
        *_times("to the ledger", own, bare),
        *_times("before attribution", plain, bare),
        *_memory(peaks),
    ]


def _times(what: str, own: list[Spent], bare: list[Spent]) -> list[Figure]:
    figures = []
    for name in ("wall", "cpu"):
        ours, theirs = ([getattr(one, name) for one in side] for side in (own, bare))
        found = ratio(ours, theirs)
        figures.append(
            Figure(
                name=f"export of {ROWS[-1]:,} rows {what}, {name}",
                own=seconds(sorted(ours)[len(ours) // 2]),
                baseline=f"DuckDB + insert {seconds(sorted(theirs)[len(theirs) // 2])}",
                ratio=found,
                target=f"<= {TIMES_AT_MOST}x",
                is_met=found[0] <= TIMES_AT_MOST,
            )
        )
    return figures


def _memory(peaks: dict[int, int]) -> list[Figure]:
    least, most = (peaks[rows] for rows in ROWS)
    grown = most / least
    return [
        Figure(
            name=f"peak memory of an export, {ROWS[-1]:,} rows",
            own=mebibytes(most),
            baseline=f"{ROWS[0]:,} rows {mebibytes(least)}",
            ratio=(grown, grown, grown),
            target=f"< 1.5 GB, <= {FLAT_AT_MOST}x",
            is_met=most < BYTES_MAX and grown <= FLAT_AT_MOST,
        )
    ]


def write_rows(path: Path, rows: int) -> Path:
    """Write an export of about so many rows."""
    path.parent.mkdir(parents=True)
    made = ROWS_SQL.format(lines=max(rows // 744, 1))
    with closing(duckdb.connect(config={"memory_limit": "1GB"})) as db:
        db.execute("SET enable_progress_bar = false")
        db.execute(f"COPY ({made}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 200000)")
    os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    return path


def _child(side: str, file: Path, folder: Path) -> tuple[Spent, int]:
    command = [
        sys.executable,
        "-m",
        __name__,
        side,
        str(file),
        str(folder / "ledger.db"),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, cpu, memory = done.stdout.split()[-3:]
    return Spent(float(wall), float(cpu)), int(memory)


def _own(file: Path, path: Path) -> Spent:
    """Import the export into a new ledger, and attribute it."""
    for left in path.parent.glob(f"{path.name}*"):
        left.unlink()
    create(path)
    import sqlglot.dialects.duckdb  # noqa: F401 - loading modules is not what is measured

    with open_store(path) as store:
        found: list[object] = []

        def work() -> None:
            outcome = import_exports(
                [ExportFolder(file.parent)], store, TagKeys(), now=NOW,
                limits=EngineLimits(),
            )  # fmt: skip
            found.extend([one.state for one in outcome.imports])
            found.extend(outcome.errors)

        spent = timed(work)
    if set(found) != {"done"}:
        raise RuntimeError(f"the import did not succeed: {found}")
    return spent


def _plain(file: Path, path: Path) -> Spent:
    """Import it without attributing what no job tag explains."""

    def nothing(*_: object, **__: object) -> None:
        pass

    setattr(swap, "attribute_days", nothing)  # noqa: B010 - typed as the real one
    return _own(file, path)


def _bare(file: Path, path: Path) -> Spent:
    """Sum the same columns, and insert the very rows that the ledger has."""
    with closing(sqlite3.connect(path)) as db:
        tables = db.execute(
            "SELECT sql FROM sqlite_master WHERE tbl_name = 'charge' AND sql IS NOT NULL"
        ).fetchall()
        rows = db.execute("SELECT * FROM charge").fetchall()
    fresh = path.with_name("bare.db")
    for left in fresh.parent.glob(f"{fresh.name}*"):
        left.unlink()
    marks = ", ".join("?" * len(rows[0]))
    with closing(sqlite3.connect(fresh)) as db, closing(duckdb.connect()) as engine:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        for (sql,) in tables:
            db.execute(sql)
        engine.execute("SET memory_limit = '1GB'")
        engine.execute("SET enable_progress_bar = false")
        engine.execute("SET threads = 2")
        engine.execute("SET preserve_insertion_order = false")

        def work() -> None:
            engine.execute(BARE_SQL, [str(file)]).fetchall()
            db.executemany(f"INSERT INTO charge VALUES ({marks})", rows)  # noqa: S608
            db.commit()

        return timed(work)


def main() -> None:
    side, file, path = sys.argv[1:4]
    spent = {"own": _own, "plain": _plain, "bare": _bare}[side](Path(file), Path(path))
    print(spent.wall, spent.cpu, peak())


if __name__ == "__main__":
    main()
