"""Ingest of 100,000 Cost Explorer groups beside the least that any reader must do.

The baseline is the plain boto3 paging loop, and one ``executemany`` of the very rows
that the product stored, into a copy of its table and indexes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.ce_answers import ACCOUNT, SINCE, TAG_KEY, UNTIL, Bill
from tests.bench.ce_server import serving
from tests.bench.figures import Figure, Spent, interleaved, ratio, seconds, timed
from tests.bench.product import client, importing

BILL = Bill(groups=100_000, page=5_000)
ROUNDS = 3
TIMES_AT_MOST = 2.0
METRICS = ["NetUnblendedCost", "NetAmortizedCost", "UsageQuantity"]


def measure(folder: Path) -> list[Figure]:
    """Read the same bill with both, each time into a new file."""
    files = (folder / f"ingest-{number}.db" for number in count())
    with serving(BILL) as url:
        reference = next(files)
        with importing(url, reference) as work:  # Also the warm-up.
            work()
        stored = Stored(reference)
        own, bare = interleaved(
            lambda: _own(url, next(files)),
            lambda: _bare(url, next(files), stored),
            rounds=ROUNDS,
            warm_up=0,
        )
    name = f"ingest of {len(stored.rows):,} groups in {BILL.pages} pages"
    return [
        _figure(f"{name}, wall", [one.wall for one in own], [one.wall for one in bare]),
        _figure(f"{name}, CPU", [one.cpu for one in own], [one.cpu for one in bare]),
    ]


def _figure(name: str, own: list[float], bare: list[float]) -> Figure:
    ratios = ratio(own, bare)
    return Figure(
        name=name,
        own=seconds(median(own)),
        baseline=f"boto3 paging + executemany {seconds(median(bare))}",
        ratio=ratios,
        target=f"<= {TIMES_AT_MOST:.0f}x",
        is_met=ratios[0] <= TIMES_AT_MOST,
    )


class Stored:
    """The rows and the table of a ledger that the product filled."""

    def __init__(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            statements = db.execute(
                "SELECT sql FROM sqlite_master WHERE tbl_name = 'charge'"
                " AND sql IS NOT NULL ORDER BY type DESC"
            )
            self.schema = ";".join(sql for (sql,) in statements)
            self.rows = db.execute("SELECT * FROM charge").fetchall()
        if len(self.rows) != BILL.groups:
            message = (
                f"expected {BILL.groups} charges, the import stored {len(self.rows)}"
            )
            raise RuntimeError(message)

    def write(self, path: Path) -> None:
        """Store the rows again, as directly as SQLite allows with the same safety."""
        marks = ", ".join("?" * len(self.rows[0]))
        with _connected(path) as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(f"INSERT INTO charge VALUES ({marks})", self.rows)  # noqa: S608
            db.execute("COMMIT")

    def create(self, path: Path) -> None:
        """Make an empty table of the same shape."""
        with _connected(path) as db:
            db.executescript(self.schema)


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        yield db


def _own(url: str, path: Path) -> Spent:
    with importing(url, path) as work:
        spent = timed(work)
    path.unlink()
    return spent


def _bare(url: str, path: Path, stored: Stored) -> Spent:
    stored.create(path)
    ce = client(url)
    spent = timed(lambda: _read_pages(ce)) + timed(lambda: stored.write(path))
    path.unlink()
    return spent


def _read_pages(ce: Any) -> int:
    """Read every page by its token, and keep none."""
    request = {
        "TimePeriod": {"Start": f"{SINCE}", "End": f"{UNTIL}"},
        "Granularity": "DAILY",
        "Metrics": METRICS,
        "GroupBy": [
            {"Type": "TAG", "Key": TAG_KEY},
            {"Type": "DIMENSION", "Key": "USAGE_TYPE"},
        ],
        "Filter": {"Dimensions": {"Key": "LINKED_ACCOUNT", "Values": [ACCOUNT]}},
    }
    groups = 0
    token: dict[str, str] = {}
    while True:
        page = ce.get_cost_and_usage(**request, **token)
        groups += sum(len(result["Groups"]) for result in page["ResultsByTime"])
        if "NextPageToken" not in page:
            return groups
        token = {"NextPageToken": page["NextPageToken"]}
