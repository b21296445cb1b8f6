"""An installation for each test: nothing read yet, nothing stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.clock import system_now
from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders_store import AUDIT_KEY
from tests.cases.place import Place
from tests.contract.sources.conftest import aws
from tests.stores import sqlite_store_url, sqlite_template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.sources.aws import Aws

__all__ = ["aws", "sqlite_store_url", "sqlite_template"]


@pytest.fixture
def place(aws: Aws, sqlite_store_url: str) -> Iterator[Place]:
    """Lay out an installation whose guests may ask (there is no Slack)."""
    aws.serve()
    settings = StoreSettings(audit_key=AUDIT_KEY, effect_clock=system_now)
    store = SqlStore.open(sqlite_store_url, settings)
    yield Place(aws, store, config={"visibility": {"guests": "all"}})
    store.close()
