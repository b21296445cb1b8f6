"""A ledger of a million charges over a year, filled with raw SQL in seconds.

The tables and indexes are the product's; rollups are summed by SQL from the charges.
Most jobs are short; a few ran all year, one of them in three accounts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
UNTIL = date(2026, 11, 30)
DAYS = 365
SINCE = UNTIL - timedelta(days=DAYS)
ACCOUNTS = ("012345678901", "123456789012", "234567890123")
REGION = "us-east-1"
ZONE = "us-east-1a"
SHAPE = "p5.48xlarge"
CHARGES = 1_000_000
CHARGES_A_DAY = 40
SHORT_DAYS = 7
GIANTS = 10
#: Running right now: instances of each giant, of the last short jobs, and volumes each.
GIANT_FLEET = 64
SHORT_FLEET = 4
RUNNING_SHORT = 40
#: Earlier runs of each giant's instances, a week apart.
RESTARTS = 50


@dataclass(frozen=True, slots=True)
class Run:
    """One job in one account from a day on; `last` is exclusive."""

    job: str
    account: str
    first: date
    last: date

    @property
    def is_giant(self) -> bool:
        """Tell whether it ran all year."""
        return (self.last - self.first).days > SHORT_DAYS


def runs() -> Iterator[Run]:
    """List giants, then short jobs until there are enough charges."""
    left = CHARGES
    for number in range(GIANTS):
        accounts = ACCOUNTS if number == 0 else ACCOUNTS[number % 3 :][:1]
        for account in accounts:
            yield Run(f"giant-{number:02}", account, SINCE, UNTIL)
            left -= DAYS * CHARGES_A_DAY
    number = 0
    while left > 0:
        first = SINCE + timedelta(days=number * 37 % (DAYS - SHORT_DAYS + 1))
        last = first + timedelta(days=SHORT_DAYS)
        yield Run(f"job-{number}", ACCOUNTS[number % 3], first, last)
        left -= SHORT_DAYS * CHARGES_A_DAY
        number += 1


def running() -> Iterator[tuple[Run, int]]:
    """List what runs now: all giants, and the short jobs that ran last."""
    every = list(runs())
    latest = sorted(every, key=lambda run: (run.last, run.job))[-RUNNING_SHORT:]
    for run in every:
        if run.is_giant or run in latest:
            in_accounts = sum(1 for one in every if one.job == run.job)
            fleet = GIANT_FLEET // in_accounts if run.is_giant else SHORT_FLEET
            for number in range(fleet):
                yield run, number


#: usage type, cost category, service; each appears several times a day (once per region
#: and operation in a real bill).
KINDS = (
    ("BoxUsage:p5.48xlarge", "compute", "Amazon Elastic Compute Cloud - Compute"),
    ("EBS:VolumeUsage.gp3", "storage", "EC2 - Other"),
    ("DataTransfer-Regional-Bytes", "network", "EC2 - Other"),
    ("Requests-Tier1", "other", "Amazon Simple Storage Service"),
)

CHARGES_SQL = """
INSERT INTO charge (import_id, source, account, day, region, service, usage_type,
  record_type, category, pricing, cost_category, bucket, job, billed, effective,
  list_cost, quantity, unit, is_estimated, raw_billed)
SELECT 1, :source, run.account, d.day, :region, kind.service, kind.usage_type, 'Usage',
  'usage', 'standard', kind.cost_category, 'job', run.job,
  (d.n * 7919 + run.rowid * 104729 + kind.n * 1299709) * 60013 % 97000000000,
  (d.n * 7919 + run.rowid * 104729 + kind.n * 1299709) * 60013 % 83000000000,
  NULL, '24.0000000000', 'Hrs', 0, '12.3456789012'
FROM temp.d CROSS JOIN temp.run CROSS JOIN temp.kind
WHERE d.day >= run.first AND d.day < run.last
"""
ROLLUP_SQL = """
INSERT INTO cost_rollup (key, day, account, cost_category, is_credit, billed, effective,
  list_cost, charges, is_estimated)
SELECT job, day, account, cost_category, 0, SUM(billed), SUM(effective), NULL, COUNT(*), 0
FROM charge GROUP BY job, day, account, cost_category
"""
JOBS_SQL = """
INSERT INTO job (job, team, owner, environment, first_seen_at, last_seen_at)
SELECT job, 'team-' || (rowid % 20), 'owner-' || (rowid % 50), 'research',
  MIN(first) || ' 00:00:00.000000', MAX(last) || ' 00:00:00.000000'
FROM temp.run GROUP BY job
"""
#: Every running instance ran before, once a week, under the same tag.
HISTORY_SQL = """
INSERT INTO usage_interval (resource_id, kind, account, region, zone, shape, lifecycle,
  started_at, ended_at, end_basis, last_seen_at, is_reclaimed, platform, tenancy,
  size_gib, parent_id)
SELECT resource_id, kind, account, region, zone, shape, lifecycle,
  strftime('%Y-%m-%d %H:%M:%f000', started_at, '-' || (week.n * 7) || ' days'),
  strftime('%Y-%m-%d %H:%M:%f000', started_at, '-' || (week.n * 7 - 6) || ' days'),
  'exact', last_seen_at, 0, platform, tenancy, size_gib, parent_id
FROM usage_interval JOIN temp.week
WHERE kind = 'instance' AND ended_at IS NULL AND resource_id LIKE 'i-giant%'
"""


def fill(path: Path, source: str) -> None:
    """Fill the product's empty tables with charges, rollups and jobs."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -200000")
        db.execute("BEGIN")
        _plan(db)
        indexes = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index'"
            " AND tbl_name = 'charge' AND sql IS NOT NULL"
        ).fetchall()
        for name, _ in indexes:
            db.execute(f"DROP INDEX {name}")
        db.execute(CHARGES_SQL, {"source": source, "region": REGION})
        for _, sql in indexes:
            db.execute(sql)
        db.execute(ROLLUP_SQL)
        db.execute(JOBS_SQL)
        db.execute(
            "INSERT INTO ledger_property (name, value) VALUES ('currency', 'USD')"
        )
        db.execute("COMMIT")


def add_history(path: Path) -> None:
    """Give every running instance of a giant its earlier runs; then gather statistics."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TEMP TABLE week (n INTEGER)")
        db.executemany(
            "INSERT INTO temp.week VALUES (?)", [(n + 1,) for n in range(RESTARTS)]
        )
        db.execute(HISTORY_SQL)


def counts(path: Path) -> dict[str, int]:
    """Count the rows that matter, to be printed with the figures."""
    tables = ("charge", "cost_rollup", "job", "usage_interval")
    with closing(sqlite3.connect(path)) as db:
        return {
            table: db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]  # noqa: S608
            for table in tables
        }


def _plan(db: sqlite3.Connection) -> None:
    """Write down days, runs and kinds, whose product is the charges."""
    db.execute("CREATE TEMP TABLE d (n INTEGER, day TEXT)")
    db.execute("CREATE TEMP TABLE run (job TEXT, account TEXT, first TEXT, last TEXT)")
    db.execute(
        "CREATE TEMP TABLE kind"
        " (n INTEGER, usage_type TEXT, cost_category TEXT, service TEXT)"
    )
    days = [(n, f"{SINCE + timedelta(days=n)}") for n in range(DAYS)]
    db.executemany("INSERT INTO temp.d VALUES (?, ?)", days)
    db.executemany(
        "INSERT INTO temp.run VALUES (?, ?, ?, ?)",
        [(run.job, run.account, f"{run.first}", f"{run.last}") for run in runs()],
    )
    kinds = [(n, *KINDS[n % len(KINDS)]) for n in range(CHARGES_A_DAY)]
    db.executemany("INSERT INTO temp.kind VALUES (?, ?, ?, ?)", kinds)
