"""What every test gets: a clean environment, and databases on request."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from hypothesis import settings
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POSTGRES = "GPUCOST_TEST_POSTGRES"
POSTGRES_MISSING = (
    f"set {POSTGRES}=postgresql+psycopg://USER@HOST:PORT/postgres"
    " to run them on PostgreSQL too"
)

# Timing says nothing on a shared machine; a failing example must come back.
settings.register_profile("gpucost", deadline=None, derandomize=True)
settings.load_profile("gpucost")


def pytest_configure() -> None:
    """Forget the developer's own AWS, Slack and gpucost settings."""
    for name in [*os.environ]:
        if name.startswith(("AWS_", "SLACK_", "GPUCOST_")) and name != POSTGRES:
            del os.environ[name]
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    os.environ["AWS_CONFIG_FILE"] = os.devnull
    os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why tests were skipped: one line for PostgreSQL, one for every other."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [str(report.longrepr) for report in skipped]
    missing = sum(POSTGRES_MISSING in reason for reason in reasons)
    if missing:
        terminalreporter.write_line(f"SKIPPED {missing} tests: {POSTGRES_MISSING}")
    for reason in reasons:
        if POSTGRES_MISSING not in reason:
            terminalreporter.write_line(f"SKIPPED: {reason}")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'gpucost.sqlite'}"


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """Make an empty PostgreSQL database for one test and drop it afterwards."""
    server = os.environ.get(POSTGRES)
    if not server:
        pytest.skip(POSTGRES_MISSING)
    name = f"gpucost_test_{uuid4().hex}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(text(f'CREATE DATABASE "{name}"'))
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
        with engine.connect() as connection:
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    finally:
        engine.dispose()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Name an empty database; a test that asks for it runs on every kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url
