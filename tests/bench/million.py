"""A ledger of a million charges over a year, or ten, filled with raw SQL.

The tables and indexes are the product's; rollups are summed by SQL from the charges.
Most jobs are short; a few ran all year, one of them in three accounts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from tests.bench.fillers import Raw, raw

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


def runs(charges: int = CHARGES) -> Iterator[Run]:
    """List giants, then short jobs until there are enough charges."""
    left = charges
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


def running(charges: int = CHARGES) -> Iterator[tuple[Run, int]]:
    """List what runs now: all giants, and the short jobs that ran last."""
    every = list(runs(charges))
    latest = sorted(every, key=lambda run: (run.last, run.job))[-RUNNING_SHORT:]
    accounts = Counter(run.job for run in every)
    for run in every:
        if run.is_giant or run in latest:
            share = GIANT_FLEET // accounts[run.job]
            for number in range(share if run.is_giant else SHORT_FLEET):
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
SELECT 1, {source}, run.account, d.day, {region}, kind.service, kind.usage_type, 'Usage',
  'usage', 'standard', kind.cost_category, 'job', run.job,
  (d.n * 7919 + run.n * 104729 + kind.n * 1299709) * 60013 % 97000000000,
  (d.n * 7919 + run.n * 104729 + kind.n * 1299709) * 60013 % 83000000000,
  NULL, '24.0000000000', 'Hrs', FALSE, '12.3456789012'
FROM run CROSS JOIN d CROSS JOIN kind
WHERE d.day >= run.first AND d.day < run.last
"""
ROLLUP_SQL = """
INSERT INTO cost_rollup (key, day, account, cost_category, is_credit, billed, effective,
  list_cost, charges, is_estimated)
SELECT job, day, account, cost_category, FALSE, SUM(billed), SUM(effective), NULL,
  COUNT(*), FALSE
FROM charge GROUP BY job, day, account, cost_category
"""
TEAMS_SQL = """
INSERT INTO team_rollup (day, account, team, cost_category, is_credit, billed, effective,
  listed, unlisted, charges, estimated)
SELECT day, account, team, cost_category, FALSE, SUM(billed), SUM(effective), 0, COUNT(*),
  SUM(charges), 0
FROM cost_rollup JOIN job ON job = key GROUP BY day, account, team, cost_category
"""
JOBS_SQL = """
INSERT INTO job (job, team, owner, environment, first_seen_at, last_seen_at)
SELECT job, 'team-' || (MIN(n) % 20), 'owner-' || (MIN(n) % 50), 'research',
  MIN(first_at), MAX(last_at)
FROM run GROUP BY job
"""
#: Every running instance of a giant ran before, once a week, under the same tag.
HISTORY_SQL = """
INSERT INTO usage_interval ({columns})
SELECT {values} FROM usage_interval CROSS JOIN week
WHERE kind = 'instance' AND ended_at IS NULL AND resource_id LIKE 'i-giant%'
"""
_AGO = {
    True: "strftime('%Y-%m-%d %H:%M:%f000', started_at, '-' || (week.n * 7{}) || ' days')",
    False: "started_at - (week.n * 7{}) * interval '1 day'",
}
TABLES = ("charge", "cost_rollup", "team_rollup", "job", "usage_interval")


def fill(url: str, source: str, charges: int = CHARGES) -> None:
    """Fill the product's empty tables with charges, rollups and jobs."""
    with raw(url) as db:
        if db.is_sqlite:  # A log would be written, and then copied into the file.
            db.run("PRAGMA journal_mode = OFF")
        db.run("BEGIN")
        _plan(db, charges)
        indexes = db.indexes("charge")
        for name, _ in indexes:
            db.run(f"DROP INDEX {name}")
        db.run(CHARGES_SQL.format(source=f"'{source}'", region=f"'{REGION}'"))
        for _, sql in indexes:
            db.run(sql)
        db.run(ROLLUP_SQL)
        db.run(JOBS_SQL)
        db.run(TEAMS_SQL)
        db.run("INSERT INTO ledger_property (name, value) VALUES ('currency', 'USD')")
        db.run("COMMIT")
        if db.is_sqlite:
            db.run("PRAGMA journal_mode = WAL")


def add_history(url: str, columns: Sequence[str]) -> None:
    """Give every running instance of a giant its earlier runs."""
    with raw(url) as db:
        changed = {
            "started_at": _AGO[db.is_sqlite].format(""),
            "ended_at": _AGO[db.is_sqlite].format(" - 6"),
            "end_basis": "'exact'",
            "is_reclaimed": "FALSE",
        }
        values = ", ".join(changed.get(name, name) for name in columns)
        db.run("CREATE TEMP TABLE week (n INTEGER)")
        weeks = [(n + 1,) for n in range(RESTARTS)]
        db.many("INSERT INTO week VALUES (?)", weeks)
        db.run(HISTORY_SQL.format(columns=", ".join(columns), values=values))
        if not db.is_sqlite:
            db.run("ANALYZE")


def counts(url: str) -> dict[str, int]:
    """Count the rows that matter, to be printed with the figures."""
    with raw(url) as db:
        return {
            table: db.run(f"SELECT COUNT(*) FROM {table}")[0][0]  # noqa: S608
            for table in TABLES
        }


def _plan(db: Raw, charges: int) -> None:
    """Write down days, runs and kinds, whose product is the charges."""
    db.run("CREATE TEMP TABLE d (n BIGINT, day DATE)")
    db.run(
        "CREATE TEMP TABLE run (n BIGINT, job TEXT, account TEXT, first DATE, last DATE,"
        " first_at TIMESTAMP, last_at TIMESTAMP)"
    )
    db.run(
        "CREATE TEMP TABLE kind"
        " (n BIGINT, usage_type TEXT, cost_category TEXT, service TEXT)"
    )
    days = [(n, f"{SINCE + timedelta(days=n)}") for n in range(DAYS)]
    db.many("INSERT INTO d VALUES (?, ?)", days)
    db.many(
        "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                n, run.job, run.account, f"{run.first}", f"{run.last}",
                f"{run.first} 00:00:00.000000", f"{run.last} 00:00:00.000000",
            )
            for n, run in enumerate(runs(charges))
        ],
    )  # fmt: skip
    kinds = [(n, *KINDS[n % len(KINDS)]) for n in range(CHARGES_A_DAY)]
    db.many("INSERT INTO kind VALUES (?, ?, ?, ?)", kinds)
