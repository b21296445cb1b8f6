"""Stores for the contract suites, on every kind of database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.builders_store import opened_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.unit_of_work import SqlStore


@pytest.fixture
def store(database_url: str) -> Iterator[SqlStore]:
    """Open an empty store; the test runs on SQLite and, if it is there, PostgreSQL."""
    with opened_store(database_url) as opened:
        yield opened
