"""The words revisions are written in; never changed, since old revisions use them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def column(name: str, kind: Any, *, null: bool = False) -> sa.Column[Any]:  # noqa: ANN401
    """Return a column; NULL is refused unless said otherwise."""
    return sa.Column(name, kind, nullable=null)


def serial(name: str) -> sa.Column[Any]:
    """Return a key that grows in load order."""
    return column(name, _SERIAL)


def texts(*names: str) -> list[sa.Column[Any]]:
    """Return columns of text."""
    return [column(name, sa.String()) for name in names]


def numbers(*names: str) -> list[sa.Column[Any]]:
    """Return columns of small whole numbers."""
    return [column(name, sa.Integer()) for name in names]


def amounts(*names: str, null: bool = False) -> list[sa.Column[Any]]:
    """Return columns of nano-units of money."""
    return [column(name, sa.BigInteger(), null=null) for name in names]


def instants(*names: str, null: bool = False) -> list[sa.Column[Any]]:
    """Return columns of UTC time."""
    return [column(name, sa.DateTime(timezone=True), null=null) for name in names]


def primary(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    """Return a named primary key."""
    return sa.PrimaryKeyConstraint(*columns, name=f"pk_{table}")


def unique(name: str, *columns: str) -> sa.UniqueConstraint:
    """Return a named unique constraint."""
    return sa.UniqueConstraint(*columns, name=name)


def index(table: str, *columns: str) -> None:
    """Create an index named by the convention."""
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, [*columns])


def unique_where(name: str, table: str, columns: list[str], where: str) -> None:
    """Create a unique index over the rows of a condition."""
    condition = sa.text(where)
    op.create_index(
        name,
        table,
        columns,
        unique=True,
        sqlite_where=condition,
        postgresql_where=condition,
    )
