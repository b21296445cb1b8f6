"""Statements put straight to the database driver, past SQLAlchemy's own handling.

SQLAlchemy spends a tenth of a millisecond on each statement that it passes on. What
the driver says of a failure comes back as SQLAlchemy's error, as everywhere else.
Knows no table and no dialect's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg import Pipeline
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

Rows = Sequence[Any]


def run(connection: Connection, sql: str, parameters: Any) -> Rows:  # noqa: ANN401
    """Run one question and return its rows, each a tuple of the driver's cells."""
    with _own_errors(connection, sql) as raw:
        rows: Rows = raw.execute(sql, parameters).fetchall()
    return rows


def command(connection: Connection, sql: str) -> None:
    """Run statements of a PostgreSQL server that return nothing, in one journey."""
    with _own_errors(connection, sql) as raw:
        raw.execute(sql, prepare=False)


def run_together(
    connection: Connection, questions: Sequence[tuple[str, Any]]
) -> list[Rows]:
    """Run independent questions in one journey to a PostgreSQL server."""
    text = "; ".join(sql for sql, _ in questions)
    with _own_errors(connection, text) as raw, raw.pipeline():
        cursors = [raw.execute(sql, parameters) for sql, parameters in questions]
        return [cursor.fetchall() for cursor in cursors]


def can_run_together(connection: Connection) -> bool:
    """Tell whether the driver sends several questions before it reads an answer."""
    return connection.dialect.driver == "psycopg" and Pipeline.is_supported()


@contextmanager
def _own_errors(connection: Connection, sql: str) -> Iterator[Any]:
    """Give the driver's connection; its errors become SQLAlchemy's."""
    raw = connection.connection.dbapi_connection
    dialect = connection.dialect
    base = dialect.loaded_dbapi.Error
    try:
        yield raw
    except base as error:
        is_lost = dialect.is_disconnect(error, connection.connection, None)
        if is_lost:
            connection.invalidate(error)
        raise DBAPIError.instance(
            sql,
            None,
            error,
            base,
            hide_parameters=True,
            connection_invalidated=is_lost,
            dialect=dialect,
        ) from error
