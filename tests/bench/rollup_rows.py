"""A million rows of the daily rollup through the product's own bulk path.

Beside it the least that the database allows for the same rows into the same table and
indexes: one ``executemany`` of raw sqlite3, or one bare COPY of text made before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from sqlalchemy import make_url

from billing.ledger.bulk import insert_rows
from billing.ledger.tables import CostRollupRow
from bot.unit_of_work import SqlStore
from tests.bench import product
from tests.bench.figures import Figure, Spent, interleaved, ratio, seconds, timed
from tests.bench.fillers import SERVER, postgres_url, sqlite_url

ROWS = 1_000_000
ROUNDS = 3
SHARE_AT_LEAST = 0.6
COLUMNS = tuple(CostRollupRow.model_fields)
CATEGORIES = ("compute", "network", "other", "storage")
DAYS = 100
SINCE = date(2026, 8, 1)
TABLE = "cost_rollup"
Cells = tuple[Any, ...]


def measure(folder: Path) -> list[Figure]:
    """Load the same rows into every database there is."""
    files = (folder / f"rollup-{number}.db" for number in count())
    rows = list(_rows(is_sqlite=True))
    own, bare = interleaved(
        lambda: _own_sqlite(next(files), rows),
        lambda: _bare_sqlite(next(files), rows),
        rounds=ROUNDS,
        warm_up=0,
    )
    figures = _figures("SQLite", "executemany", own, bare)
    with postgres_url() as url:
        if url is None:
            print(f"rollup rows on PostgreSQL: not measured, {SERVER} is not set")
            return figures
        return figures + _on_postgres(url)


def _rows(*, is_sqlite: bool) -> Iterator[Cells]:
    """Yield rows as the product makes them: in the order of the table's key."""
    days = [SINCE + timedelta(days=n) for n in range(DAYS)]
    cells: list[Any] = [f"{day}" for day in days] if is_sqlite else list(days)
    for number in range(ROWS):
        job, rest = divmod(number, DAYS * len(CATEGORIES))
        day, kind = divmod(rest, len(CATEGORIES))
        billed = number * 7_919_104_729 % 97_000_000_000
        key = f"job-{job:05}"
        yield (
            key, cells[day], "012345678901", CATEGORIES[kind], False,
            billed, billed - billed // 7, None, 24, False,
        )  # fmt: skip


def _figures(
    where: str, baseline: str, own: list[Spent], bare: list[Spent]
) -> list[Figure]:
    """Compare speeds: 1 is as fast as the baseline."""
    walls = [one.wall for one in own], [one.wall for one in bare]
    speed = ratio(walls[1], walls[0])
    return [
        Figure(
            name=f"{ROWS:,} rollup rows into {where}, speed, wall",
            own=seconds(median(walls[0])),
            baseline=f"{baseline} {seconds(median(walls[1]))}",
            ratio=speed,
            target=f">= {SHARE_AT_LEAST}",
            is_met=speed[0] >= SHARE_AT_LEAST,
        )
    ]


def _insert(store: SqlStore, rows: list[Cells]) -> None:
    with store.write() as unit:
        insert_rows(unit.session, TABLE, COLUMNS, rows)


def _own_sqlite(path: Path, rows: list[Cells]) -> Spent:
    with product.open_store(sqlite_url(path)) as store:
        spent = timed(lambda: _insert(store, rows))
    path.unlink()
    return spent


def _bare_sqlite(path: Path, rows: list[Cells]) -> Spent:
    product.create(sqlite_url(path))
    marks = ", ".join("?" * len(COLUMNS))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = FULL")

        def work() -> None:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", rows)  # noqa: S608
            db.execute("COMMIT")

        spent = timed(work)
    path.unlink()
    return spent


def _on_postgres(url: str) -> list[Figure]:
    product.create(url)
    rows = list(_rows(is_sqlite=False))
    text = "".join(_line(row) for row in rows).encode()
    plain = make_url(url).set(drivername="postgresql")
    address = plain.render_as_string(hide_password=False)
    with (
        product.open_store(url) as store,
        psycopg.connect(address, autocommit=True) as db,
    ):

        def bare() -> Spent:
            db.execute(f"TRUNCATE {TABLE}")
            return timed(lambda: _copy(db, text))

        def own() -> Spent:
            db.execute(f"TRUNCATE {TABLE}")
            return timed(lambda: _insert(store, rows))

        both = interleaved(own, bare, rounds=ROUNDS, warm_up=0)
        return _figures("PostgreSQL", "COPY", *both)


def _copy(db: psycopg.Connection[Any], text: bytes) -> None:
    """Send text that is ready, in parts as large as a network likes them."""
    size = 128 * 1024
    names = ", ".join(COLUMNS)
    with (
        db.transaction(),
        db.cursor() as cursor,
        cursor.copy(f"COPY {TABLE} ({names}) FROM STDIN") as copy,
    ):
        for start in range(0, len(text), size):
            copy.write(text[start : start + size])


def _line(row: Cells) -> str:
    return "\t".join(_cell(cell) for cell in row) + "\n"


def _cell(value: object) -> str:
    """Write a cell as COPY reads it; no text here needs an escape."""
    if value is None:
        return r"\N"
    if isinstance(value, bool):
        return "t" if value else "f"
    return f"{value}"
