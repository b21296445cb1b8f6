"""How much is stored, and in which state: counted by the database, for metrics."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import func, select, text

from billing.ledger.columns import table_of
from bot.unit_of_work.store import SqlUnitOfWork
from policies.journal.tables_actions import ActionRow

_ACTION = table_of(ActionRow)
_POSTGRES_BYTES = text("SELECT pg_database_size(current_database())")
_SQLITE_BYTES = text(
    "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
)


def actions_by_state(unit: SqlUnitOfWork) -> Mapping[str, int]:
    """Return how many actions of policies ever came to which state."""
    rows = unit.session.connection().execute(
        select(_ACTION.c.state, func.count()).group_by(_ACTION.c.state)
    )
    return {state: count for state, count in rows}  # noqa: C416 - typed rows


def database_bytes(unit: SqlUnitOfWork) -> int:
    """Return the size of the database, without SQLite's log."""
    connection = unit.session.connection()
    is_sqlite = connection.dialect.name == "sqlite"
    query = _SQLITE_BYTES if is_sqlite else _POSTGRES_BYTES
    return int(connection.execute(query).scalar_one())
