"""An empty store on SQLite for the use cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders_store import AUDIT_KEY
from tests.stores import (
    postgres_database,
    postgres_store_url,
    sqlite_store_url,
    sqlite_template,
    store_url,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "postgres_database",
    "postgres_store_url",
    "sqlite_store_url",
    "sqlite_template",
    "store_url",
]


@pytest.fixture
def store(sqlite_store_url: str) -> Iterator[SqlStore]:
    opened = SqlStore.open(sqlite_store_url, StoreSettings(audit_key=AUDIT_KEY))
    yield opened
    opened.close()


@pytest.fixture
def any_store(store_url: str) -> Iterator[SqlStore]:
    """Open an empty store; the test runs on SQLite and, if it is there, PostgreSQL."""
    opened = SqlStore.open(store_url, StoreSettings(audit_key=AUDIT_KEY))
    yield opened
    opened.close()
