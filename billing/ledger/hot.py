"""Reads that every answer makes, as plain SQL compiled once for each database.

SQLAlchemy spends a tenth of a millisecond on a statement that it knows and a
microsecond on a cell; an answer makes ten statements and reads thousands of cells.
What comes back are the driver's own cells: `instants` and `days` read those of time.
In a unit that only reads, rows that are certain to be needed may be read ahead: on
PostgreSQL several questions are one journey then. Knows no table.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Dialect, Text, bindparam, func, select
from sqlmodel import Session

from billing.ledger.driver import Rows, can_run_together, run, run_together

_SQLITE = "sqlite"
#: Under which a session that only reads keeps rows; absent in one that writes.
KEPT = "gpucost_rows"


class Hot:
    """One question with named parameters; its text is made at its first use.

    Args:
        build: Makes the statement for a dialect's name. Every value that changes from
            one use to the next is a ``bindparam``; lists are `any_of`.
        is_kept: A unit that only reads asks it once for equal parameters, for it sees
            one snapshot. Its parameters are no lists.
    """

    def __init__(self, build: Callable[[str], Any], *, is_kept: bool = False) -> None:
        self._build = build
        self._is_kept = is_kept
        self._texts: dict[str, _Text] = {}

    def rows(self, session: Session, **values: Any) -> Rows:  # noqa: ANN401 - any cell
        """Return every row, each a tuple of the driver's cells."""
        kept = session.info.get(KEPT) if self._is_kept else None
        if kept is None:
            return self._rows(session, values)
        key = self._key(values)
        found = kept.get(key)
        if found is None:
            found = kept[key] = self._rows(session, values)
        return found  # type: ignore[no-any-return] # what was kept

    def _rows(self, session: Session, values: dict[str, Any]) -> Rows:
        connection = session.connection()
        text = self._text(connection.dialect)
        return run(connection, text.sql, text.parameters(values))

    def _text(self, dialect: Dialect) -> _Text:
        text = self._texts.get(dialect.name)
        if text is None:
            text = self._texts[dialect.name] = _Text(self._build(dialect.name), dialect)
        return text

    def _key(self, values: dict[str, Any]) -> tuple[object, ...]:
        return (self, *values.values())


def read_ahead(session: Session, *questions: tuple[Hot, dict[str, Any]]) -> None:
    """Read what is certain to be asked next in one journey, where that saves any.

    The questions are kept ones; in a unit that writes nothing is read ahead.
    """
    kept = session.info.get(KEPT)
    if kept is None:
        return
    new = [(hot, values) for hot, values in questions if hot._key(values) not in kept]  # noqa: SLF001 - its own kind
    connection = session.connection()
    if len(new) <= 1 or not can_run_together(connection):
        return
    texts = [(hot._text(connection.dialect), values) for hot, values in new]  # noqa: SLF001
    asked = [(text.sql, text.parameters(values)) for text, values in texts]
    found = run_together(connection, asked)
    for (hot, values), rows in zip(new, found, strict=True):
        kept[hot._key(values)] = rows  # noqa: SLF001


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


def any_of(
    column: ColumnElement[str], name: str, dialect: str, *, is_long: bool = False
) -> ColumnElement[bool]:
    """Return the condition that a column is one of a parameter's list of texts.

    A list that may be long is a table of its own to PostgreSQL: its planner weighs the
    texts of an ``= ANY`` one by one, which takes longer than the search.
    """
    if dialect == _SQLITE:
        items = func.json_each(bindparam(name, required=True)).table_valued("value")
        return column.in_(select(items.c.value))
    wanted = bindparam(name, type_=ARRAY(Text()), required=True)
    if is_long:
        return column.in_(select(func.unnest(wanted)))
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
    return value if value.tzinfo is UTC else value.astimezone(UTC)


@lru_cache(maxsize=4096)
def _day_of_text(text: str) -> date:
    return date.fromisoformat(text)


def _day_of_value(value: date) -> date:
    return value
