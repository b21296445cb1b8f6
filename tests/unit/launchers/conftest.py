"""An empty store on SQLite for the launchers' clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders_store import AUDIT_KEY
from tests.stores import sqlite_store_url, sqlite_template

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["sqlite_store_url", "sqlite_template"]


@pytest.fixture
def store(sqlite_store_url: str) -> Iterator[SqlStore]:
    opened = SqlStore.open(sqlite_store_url, StoreSettings(audit_key=AUDIT_KEY))
    yield opened
    opened.close()
