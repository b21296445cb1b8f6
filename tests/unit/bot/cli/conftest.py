"""A company's folder for commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.builders_cli import Office, open_office
from tests.builders_use_cases import Company, costs, runs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def opened(
    tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Office, Company]]:
    yield from open_office(tmp_path, sqlite_template, monkeypatch)


@pytest.fixture
def fresh(opened: tuple[Office, Company]) -> Office:
    """A folder whose database holds nothing yet."""
    return opened[0]


@pytest.fixture
def company(opened: tuple[Office, Company]) -> Company:
    return opened[1]


@pytest.fixture
def office(opened: tuple[Office, Company]) -> Office:
    """A folder with two billed days and an instance that runs."""
    office, company = opened
    company.bills(
        costs("2026-11-28", "240"),
        costs("2026-11-29", "10", job=""),
        through="2026-11-30",
    )
    tags = {"team": "nlp", "owner": "mia"}
    company.is_watched(runs(since="2026-11-30", tags=tags), at_="2026-11-30")
    company.is_watched(runs(since="2026-11-30", tags=tags))
    return office
