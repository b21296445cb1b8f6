"""Copies of the whole database: a backup is always one SQLite file, whatever it is of.

A copy is taken from one snapshot while others write. Replacing a database's content is
one transaction: who dies in it leaves the old content. Knows no use case.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Table, func, insert, select, text

from billing.core.errors import GpucostError
from billing.ledger.columns import metadata
from billing.ledger.database import Database, named, open_database

#: Rows that are copied at once: more made copies no faster.
_ROWS = 2_000
_SQLITE_HEADER = b"SQLite format 3\0"
_SESSIONS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND pid <> pg_backend_pid() AND application_name = 'gpucost'"
)


class BadBackupError(GpucostError):
    """A file is no backup, or not the one that was written."""

    code = "bad_backup"
    hint = "take another backup; the database was not touched"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"cannot restore {str(path)!r}: {reason}")


class DatabaseInUseError(GpucostError):
    """Other gpucost processes are connected to a database that is to be replaced."""

    code = "database_in_use"
    hint = "stop every `gpucost serve` on it and try again"

    def __init__(self, sessions: int) -> None:
        super().__init__(f"gpucost is connected to the database ({sessions} sessions)")


def copy_out(database: Database, target: Path) -> None:
    """Write everything to a new SQLite file, from one snapshot; writers go on.

    The caller brings up the schema of the file when the database is PostgreSQL.
    """
    source = database.sqlite_path
    if source is not None:
        copy_file(source, target)
        return
    made = open_database(f"sqlite:///{target}")
    try:
        with database.read() as session, made.write() as copied:
            _copy_rows(session.connection(), copied.connection())
    finally:
        made.close()


def copy_in(source: Path, database: Database) -> None:
    """Put a prepared copy in place of everything, in one transaction.

    Raises:
        DatabaseInUseError: Another gpucost is connected (PostgreSQL; on SQLite the
            caller holds the right to serve).
    """
    target = database.sqlite_path
    if target is not None:
        database.close()
        try:
            copy_file(source, target)
        except sqlite3.OperationalError as error:
            raise named(str(error)) from error
        return
    opened = open_database(f"sqlite:///{source}")
    try:
        with opened.read() as session, database.write() as replaced:
            connection = replaced.connection()
            refuse_company(connection)
            names = ", ".join(f'"{one.name}"' for one in metadata.sorted_tables)
            connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))
            _copy_rows(session.connection(), connection)
            _go_on_counting(connection)
    finally:
        opened.close()


def refuse_company(connection: Connection) -> None:
    """Make sure that no other gpucost is connected to a PostgreSQL database.

    Raises:
        DatabaseInUseError: One is.
    """
    sessions = connection.execute(_SESSIONS).scalar_one()
    if sessions:
        raise DatabaseInUseError(sessions)


def check_file(path: Path) -> None:
    """Make sure that a file is a whole SQLite database that gpucost wrote.

    Raises:
        BadBackupError: It is not.
    """
    try:
        with path.open("rb") as file:
            header = file.read(len(_SQLITE_HEADER))
    except OSError as error:
        raise BadBackupError(path, error.strerror or "unreadable") from error
    if header != _SQLITE_HEADER:
        raise BadBackupError(path, "it is no backup of gpucost")
    try:
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        ) as db:
            found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            db.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.DatabaseError as error:
        raise BadBackupError(path, f"it is damaged ({error})") from error
    if found != "ok":
        raise BadBackupError(path, f"it is damaged ({found})")


def seal(path: Path) -> None:
    """Fold the log of a finished copy into its one file and put it on the disk."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = DELETE")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def copy_file(source: Path, target: Path) -> None:
    """Copy a SQLite file in one step (https://www.sqlite.org/backup.html)."""
    os.close(os.open(target, os.O_CREAT | os.O_RDWR, 0o600))
    with (
        closing(sqlite3.connect(source)) as read,
        closing(sqlite3.connect(target)) as written,
    ):
        written.execute("PRAGMA synchronous = FULL")
        read.backup(written)


def _copy_rows(source: Connection, target: Connection) -> None:
    for table in metadata.sorted_tables:
        for rows in _pages(source, table):
            target.execute(insert(table), rows)


def _pages(source: Connection, table: Table) -> Iterator[list[dict[str, object]]]:
    read = source.execution_options(yield_per=_ROWS).execute(select(table))
    for page in read.mappings().partitions(_ROWS):
        yield [dict(row) for row in page]


def _go_on_counting(connection: Connection) -> None:
    """Let keys that grow go on after the newest copied one."""
    for table in metadata.sorted_tables:
        for column in table.primary_key:
            sequence = connection.execute(
                select(func.pg_get_serial_sequence(f'"{table.name}"', column.name))
            ).scalar_one()
            if sequence is None:
                continue
            newest = connection.execute(select(func.max(column))).scalar_one()
            if newest is not None:
                connection.execute(select(func.setval(sequence, newest)))
