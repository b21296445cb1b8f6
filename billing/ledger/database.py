"""The engine and its units of work: the one owner of transactions.

SQLite by default (WAL, full synchronisation, writers queue by ``BEGIN IMMEDIATE``),
PostgreSQL for a team. Knows no table.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import (
    Connection,
    CursorResult,
    Engine,
    Executable,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlmodel import Session, SQLModel

from billing.core.errors import GpucostError
from billing.ledger.columns import table_of
from billing.ledger.driver import command
from billing.ledger.hot import KEPT

#: How long a writer waits for another one before it gives up.
BUSY_TIMEOUT_S = 5.0
_SQLITE = "sqlite"
_POSTGRES = "postgresql"
_UNIT = "gpucost_unit"
_BEGIN = "gpucost_begin"
_READ = "read"
_WRITE = "write"
#: The write-ahead log is cut back to this size after a large import.
_WAL_BYTES_MAX = 64 * 1024 * 1024
#: Pages each connection keeps: more made imports no faster, only larger.
_CACHE_KIB = 2 * 1024
_WAL_ATTEMPTS = 50
_WAL_WAIT_S = 0.05
#: What SQLite and PostgreSQL say when somebody else is in the way.
_BUSY_SIGNS = ("locked", "busy", "lock timeout", "deadlock detected")


class DatabaseUrlError(GpucostError, ValueError):
    """The database URL names something gpucost cannot use."""

    code = "invalid_database_url"
    hint = "use sqlite:///FILE or postgresql+psycopg://USER@HOST:PORT/NAME"

    def __init__(self, reason: str) -> None:
        super().__init__(f"cannot use the database URL: {reason}")


class DatabaseBusyError(GpucostError):
    """Another writer held the database for longer than the wait; nothing was written."""

    code = "database_busy"
    hint = "try again; if it persists, look for a long import or backup"

    def __init__(self) -> None:
        super().__init__("the database is busy with another writer")


class DatabaseUnavailableError(GpucostError):
    """The database cannot be reached or opened, or has no room; nothing was written."""

    code = "database_unavailable"
    hint = "check GPUCOST_DATABASE_URL, the server and the disk"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the database cannot be used: {reason}")


class Database:
    """One database; hands out sessions that live for one transaction.

    Safe to share between threads; a session is not. Construct with `open_database`.
    """

    def __init__(
        self, engine: Engine, *, busy_timeout_s: float = BUSY_TIMEOUT_S
    ) -> None:
        self.engine = engine
        self._lock_timeout = f"SET LOCAL lock_timeout = {int(busy_timeout_s * 1000)}"
        self.is_sqlite = engine.dialect.name == _SQLITE
        if self.is_sqlite:
            read: dict[str, Any] = {}
            write: dict[str, Any] = {}
        else:
            # One journey begins the snapshot and says how long it waits for a lock, and
            # how times are written: the driver would send each on its own.
            begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            read = {
                "isolation_level": "AUTOCOMMIT",
                _BEGIN: f"{begin}; {self._lock_timeout}; SET LOCAL TIME ZONE 'UTC'",
            }
            write = {"isolation_level": "READ COMMITTED"}
        self._read_engine = engine.execution_options(**{_UNIT: _READ}, **read)
        self._write_engine = engine.execution_options(**{_UNIT: _WRITE}, **write)

    @property
    def sqlite_path(self) -> Path | None:
        """Return the SQLite file; None on PostgreSQL."""
        name = self.engine.url.database
        return Path(name).resolve() if self.is_sqlite and name else None

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a read-only unit that sees one snapshot."""
        with self._unit(self._read_engine) as session:
            session.info[KEPT] = {}
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a writing unit: it commits at the end and rolls back on any error.

        Raises:
            DatabaseBusyError: Another writer did not finish within the wait.
            DatabaseUnavailableError: The database cannot be reached or has no room.
        """
        with self._unit(self._write_engine) as session:
            if not self.is_sqlite:
                session.connection().exec_driver_sql(self._lock_timeout)
            yield session
            session.commit()

    @contextmanager
    def _unit(self, engine: Engine) -> Iterator[Session]:
        try:
            with Session(engine, autoflush=False, expire_on_commit=False) as session:
                session.connection()  # A writer waits here, not midway.
                yield session
        except OperationalError as error:
            raise named(str(error.orig)) from error

    def close(self) -> None:
        """Close every idle connection."""
        self.engine.dispose()


def open_database(url: str, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Database:
    """Prepare a database for use; a missing SQLite file is created, readable by us only.

    Raises:
        DatabaseUrlError: The URL is malformed, of another kind or in memory.
    """
    parsed = _parse(url)
    if parsed.get_backend_name() == _SQLITE:
        _create_private(Path(parsed.database or ""))
        engine = create_engine(
            parsed,
            hide_parameters=True,  # Errors reach logs; names and payloads must not.
            connect_args={"timeout": busy_timeout_s},
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        engine = _postgres(parsed)
    return Database(engine, busy_timeout_s=busy_timeout_s)


def _postgres(url: URL) -> Engine:
    """Return an engine of a PostgreSQL server, or of a pooler before one."""
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_pre_ping=True,  # A restarted server costs a ping, not an error.
        connect_args={
            "connect_timeout": 5,
            "keepalives_idle": 15,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "application_name": "gpucost",
            # Poolers lose prepared statements, and ours are planned anew either way.
            "prepare_threshold": None,
        },
    )
    event.listen(engine, "begin", _begin_postgres)
    return engine


def for_reading(engine: Engine) -> Engine:
    """Return the same engine for transactions that only read and wait for no writer."""
    return engine.execution_options(**{_UNIT: _READ})


def named(text: str) -> GpucostError:
    """Return our own error for what a driver said, without its parameters."""
    if any(sign in text for sign in _BUSY_SIGNS):
        return DatabaseBusyError()
    return DatabaseUnavailableError(text.strip().partition("\n")[0])


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        reason = "it is not a URL"
        raise DatabaseUrlError(reason) from error
    backend = parsed.get_backend_name()
    if backend == _SQLITE:
        if not parsed.database or parsed.database == ":memory:":
            reason = "an in-memory database is lost with its connection; name a file"
            raise DatabaseUrlError(reason)
        return parsed
    if backend == _POSTGRES:
        return parsed.set(drivername="postgresql+psycopg")
    reason = f"{backend!r} is neither sqlite nor postgresql"
    raise DatabaseUrlError(reason)


def _create_private(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        reason = f"{str(path)!r}: {error.strerror}"
        raise DatabaseUnavailableError(reason) from error


def _prepare_sqlite(connection: Any, record: object) -> None:  # noqa: ANN401 - DBAPI
    """Set what every connection needs (https://www.sqlite.org/pragma.html)."""
    del record
    connection.isolation_level = None  # We say BEGIN ourselves.
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES_MAX}")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")


def _use_wal(connection: Any) -> None:  # noqa: ANN401 - DBAPI
    """Turn the file to WAL once; SQLite does not wait for another who does it too."""
    for attempt in range(_WAL_ATTEMPTS):
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if attempt == _WAL_ATTEMPTS - 1:
                raise
            time.sleep(_WAL_WAIT_S)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    """Begin as the unit needs: a writer takes its lock at once, a reader cannot write."""
    unit = connection.get_execution_options().get(_UNIT, _WRITE)
    is_read = unit == _READ
    connection.exec_driver_sql(f"PRAGMA query_only = {int(is_read)}")
    connection.exec_driver_sql("BEGIN" if is_read else "BEGIN IMMEDIATE")


def _begin_postgres(connection: Connection) -> None:
    """Begin a unit that only reads; the driver begins others at their first word."""
    begin = connection.get_execution_options().get(_BEGIN)
    if begin:
        command(connection, begin)


def insert_or_nothing(session: Session, row: type[SQLModel]) -> Any:  # noqa: ANN401
    """Return an INSERT of the session's dialect that skips a row whose key is taken."""
    if session.get_bind().dialect.name == _SQLITE:
        return sqlite.insert(row).on_conflict_do_nothing()
    return postgresql.insert(row).on_conflict_do_nothing()


def upsert(
    session: Session,
    row: type[SQLModel],
    values: dict[str, Any],
    *,
    keys: Sequence[str] = (),
) -> Executable:
    """Return an INSERT that overwrites the given columns of the row of the same key.

    The key is the primary key, or the named columns of a unique constraint.
    """
    dialect = sqlite if session.get_bind().dialect.name == _SQLITE else postgresql
    table = table_of(row)
    keys = keys or [column.name for column in table.primary_key]
    statement = dialect.insert(table).values(**values)
    changes = {name: statement.excluded[name] for name in values if name not in keys}
    return cast(
        "Executable",
        statement.on_conflict_do_update(index_elements=keys, set_=changes),
    )


def serialise(session: Session, name: str) -> None:
    """Let one unit at a time pass here until it ends; SQLite's writers always do."""
    if session.get_bind().dialect.name != _SQLITE:
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext(name))))


def execute(session: Session, statement: Executable) -> CursorResult[Any]:
    """Run a changing statement and return its cursor, for the number of rows changed."""
    return cast("CursorResult[Any]", session.execute(statement))
