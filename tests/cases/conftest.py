"""An installation for each test: nothing read yet, nothing stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases.place import Place
from tests.contract.sources.conftest import aws
from tests.stores import sqlite_store_url, sqlite_template
from tests.unit.bot.conftest import store

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from tests.contract.sources.aws import Aws

__all__ = ["aws", "sqlite_store_url", "sqlite_template", "store"]


@pytest.fixture
def place(aws: Aws, store: SqlStore) -> Place:
    """Lay out an installation whose guests may ask (there is no Slack)."""
    aws.serve()
    return Place(aws, store, config={"visibility": {"guests": "all"}})
