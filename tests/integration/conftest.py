"""Stores for the suites of this folder, on every kind of database."""

from __future__ import annotations

from tests.stores import (
    postgres_database,
    postgres_store_url,
    sqlite_store_url,
    sqlite_template,
    store,
    store_url,
)

__all__ = [
    "postgres_database",
    "postgres_store_url",
    "sqlite_store_url",
    "sqlite_template",
    "store",
    "store_url",
]
