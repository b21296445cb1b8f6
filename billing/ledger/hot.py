"""Reads that every answer makes, as plain SQL compiled once for each database.

SQLAlchemy spends a tenth of a millisecond on a statement that it knows and a
microsecond on a cell; an answer makes ten statements and reads thousands of cells.
What comes back are the driver's own cells: `instants` and `days` read those of time.
Knows no table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Dialect, Text, bindparam, func, select
from sqlmodel import Session

_SQLITE = "sqlite"
Rows = Sequence[Any]


class Hot:
    """One question with named parameters; its text is made at its first use.

    Args:
        build: Makes the statement for a dialect's name. Every value that changes from
            one use to the next is a ``bindparam``; lists are `any_of`.
    """

    def __init__(self, build: Callable[[str], Any]) -> None:
        self._build = build
        self._texts: dict[str, _Text] = {}

    def rows(self, session: Session, **values: Any) -> Rows:  # noqa: ANN401 - any cell
        """Return every row, each a tuple of the driver's cells."""
        connection = session.connection()
        dialect = connection.dialect
        text = self._texts.get(dialect.name)
        if text is None:
            text = self._texts[dialect.name] = _Text(self._build(dialect.name), dialect)
        result = connection.exec_driver_sql(text.sql, text.parameters(values))
        return result.all()


class _Text:
    """The SQL of one dialect and the order of its parameters."""

    def __init__(self, statement: Any, dialect: Dialect) -> None:  # noqa: ANN401
        self._compiled = statement.compile(dialect=dialect)
        self.sql = str(self._compiled)
        self._is_sqlite = dialect.name == _SQLITE

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        """Return the parameters whose values are part of the statement."""
        binds = self._compiled.binds.items()
        return {name: bind.value for name, bind in binds if not bind.required}

    def parameters(self, values: dict[str, Any]) -> Any:  # noqa: ANN401 - the driver's
        """Return the driver's parameters for the values of one use."""
        if not self._is_sqlite:
            return self._fixed | values
        cells = {name: _sqlite_cell(value) for name, value in values.items()}
        known = self._fixed | cells
        return tuple(known[name] for name in self._compiled.positiontup)


def _sqlite_cell(value: Any) -> Any:  # noqa: ANN401 - any cell
    """Return a value as SQLite's columns hold it."""
    if isinstance(value, datetime):
        moved = value.astimezone(UTC).replace(tzinfo=None)
        return moved.isoformat(" ", "microseconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return json.dumps(value)
    return value


def any_of(column: ColumnElement[str], name: str, dialect: str) -> ColumnElement[bool]:
    """Return the condition that a column is one of a parameter's list of texts."""
    if dialect == _SQLITE:
        items = func.json_each(bindparam(name, required=True)).table_valued("value")
        return column.in_(select(items.c.value))
    wanted = bindparam(name, type_=ARRAY(Text()), required=True)
    return column == func.any(wanted)


def instants(session: Session) -> Callable[[Any], datetime]:
    """Return what reads a cell of time, in UTC."""
    if session.connection().dialect.name == _SQLITE:
        return _instant_of_text
    return _instant_of_value


def days(session: Session) -> Callable[[Any], date]:
    """Return what reads a cell that is a day."""
    if session.connection().dialect.name == _SQLITE:
        return _day_of_text
    return _day_of_value


def _instant_of_text(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def _instant_of_value(value: datetime) -> datetime:
    return value.astimezone(UTC)


@lru_cache(maxsize=4096)
def _day_of_text(text: str) -> date:
    return date.fromisoformat(text)


def _day_of_value(value: date) -> date:
    return value
