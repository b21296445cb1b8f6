"""Columns and row base that behave the same on SQLite and PostgreSQL.

Also used by the tables of policies and bot, so that all of them share one metadata
and one naming convention (an unnamed constraint cannot be dropped on SQLite). Knows
no table.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, cast

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, MetaData, Table, inspect
from sqlalchemy.orm import registry
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import Field, SQLModel

#: Names of every constraint, from the first release.
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = MetaData(naming_convention=NAMING)


class Row(SQLModel, registry=registry(metadata=metadata)):
    """The base of every stored row; rows are never domain values."""

    __table_args__: Any = ()


def table_of(row: type[SQLModel]) -> Table:
    """Return a row class's table, for statements that must not become objects."""
    return cast("Table", inspect(row).local_table)


class NaiveInstantError(ValueError):
    """A program tried to store an instant without a zone."""

    def __init__(self, value: datetime) -> None:
        super().__init__(f"cannot store a naive instant: {value!r}")


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC instant; SQLite alone would drop the offset."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(
        self, value: datetime | None, dialect: Dialect
    ) -> datetime | None:
        """Store in UTC; refuse a naive value."""
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            raise NaiveInstantError(value)
        return value.astimezone(UTC)

    def process_result_value(
        self, value: datetime | None, dialect: Dialect
    ) -> datetime | None:
        """Return an instant whose zone is the ``UTC`` singleton."""
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value.astimezone(UTC)


class Nanos(TypeDecorator[int]):
    """Money as a BIGINT of nano-units; ``SUM`` comes back as int on both databases."""

    impl = BigInteger
    cache_ok = True

    def process_result_value(
        self, value: int | Decimal | None, dialect: Dialect
    ) -> int | None:
        """Return an int also where the database sums to a decimal."""
        del dialect
        return None if value is None else int(value)


def big_key() -> TypeEngine[int]:
    """Return the type of a growing key: BIGINT, or SQLite's own row id."""
    return BigInteger().with_variant(Integer, "sqlite")


def serial() -> Any:  # noqa: ANN401 - what Field() returns
    """Declare a primary key that grows in load order."""
    return Field(default=None, primary_key=True, sa_type=big_key())


def nanos(**options: Any) -> Any:  # noqa: ANN401 - what Field() returns
    """Declare a column of nano-units."""
    return Field(sa_type=Nanos, **options)


def instant(**options: Any) -> Any:  # noqa: ANN401 - what Field() returns
    """Declare a column of aware UTC time."""
    return Field(sa_type=UtcDateTime, **options)
