"""A served company."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.builders_http import Site, make_site, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.unit_of_work import SqlStore


@pytest.fixture
def unserved(store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return make_site(store, tmp_path, monkeypatch)


@pytest.fixture
def site(unserved: Site) -> Iterator[Site]:
    with served(unserved) as found:
        yield found


@pytest.fixture
def any_site(
    any_store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """Serve a company on SQLite and, if it is there, PostgreSQL."""
    with served(make_site(any_store, tmp_path, monkeypatch)) as found:
        yield found
