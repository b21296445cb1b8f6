"""Raw access to the databases that benchmarks fill and ask, without the product."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import psycopg
from sqlalchemy import make_url

SERVER = "GPUCOST_TEST_POSTGRES"
Rows = Iterable[Sequence[Any]]


class Raw(Protocol):
    """One connection; statements mark their parameters with ``?``."""

    is_sqlite: bool

    def run(self, sql: str, row: Sequence[Any] = ()) -> list[Any]:
        """Run a statement and return its rows, if it has any."""

    def many(self, sql: str, rows: Rows) -> None:
        """Run a statement for each row."""

    def indexes(self, table: str) -> list[tuple[str, str]]:
        """Return name and statement of a table's indexes that can be made later."""


class RawSqlite:
    """A SQLite file."""

    is_sqlite = True

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def run(self, sql: str, row: Sequence[Any] = ()) -> list[Any]:
        return self._db.execute(sql, row).fetchall()

    def many(self, sql: str, rows: Rows) -> None:
        self._db.executemany(sql, rows)

    def indexes(self, table: str) -> list[tuple[str, str]]:
        return self.run(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index'"
            " AND tbl_name = ? AND sql IS NOT NULL",
            (table,),
        )


class RawPostgres:
    """A PostgreSQL database."""

    is_sqlite = False

    def __init__(self, db: psycopg.Connection[Any]) -> None:
        self._db = db

    def run(self, sql: str, row: Sequence[Any] = ()) -> list[Any]:
        cursor = self._db.execute(_marked(sql), row or None)
        return cursor.fetchall() if cursor.description else []

    def many(self, sql: str, rows: Rows) -> None:
        with self._db.cursor() as cursor:
            cursor.executemany(_marked(sql), rows)

    def indexes(self, table: str) -> list[tuple[str, str]]:
        return self.run(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ?"
            " AND indexname NOT LIKE 'pk~_%' ESCAPE '~'".replace("%", "%%"),
            (table,),
        )


def _marked(sql: str) -> Any:
    return sql.replace("?", "%s")


@contextmanager
def raw(url: str) -> Iterator[Raw]:
    """Open a database for filling: not safe against a crash, and quick."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        with closing(sqlite3.connect(f"{parsed.database}", isolation_level=None)) as db:
            db.execute("PRAGMA synchronous = OFF")
            db.execute("PRAGMA cache_size = -200000")
            yield RawSqlite(db)
        return
    plain = parsed.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '256MB'")
        connection.execute("SET work_mem = '64MB'")
        yield RawPostgres(connection)


def sqlite_url(path: Path) -> str:
    """Return the URL of a SQLite file."""
    return f"sqlite:///{path}"


@contextmanager
def postgres_url() -> Iterator[str | None]:
    """Make a database on the server that tests use; None where there is none."""
    server = os.environ.get(SERVER)
    if not server:
        yield None
        return
    name = f"gpucost_bench_{uuid4().hex}"
    with raw(server) as admin:
        admin.run(f'CREATE DATABASE "{name}"')
    try:
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        with raw(server) as admin:
            admin.run(f'DROP DATABASE "{name}" WITH (FORCE)')
