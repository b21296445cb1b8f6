"""Fixtures of empty stores: the schema is made once, each test gets it empty."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text

from billing.ledger.columns import metadata
from bot import migrations
from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders_store import AUDIT_KEY, opened_store
from tests.conftest import POSTGRES, POSTGRES_MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a SQLite file that holds the schema and nothing else."""
    path = tmp_path_factory.mktemp("template") / "gpucost.sqlite"
    with opened_store(f"sqlite:///{path}"):
        pass  # The last connection folds the log into the file.
    return path


@pytest.fixture
def sqlite_store_url(sqlite_template: Path, tmp_path: Path) -> str:
    path = tmp_path / "store.sqlite"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def postgres_database() -> Iterator[str]:
    """Make one database with the schema; dropped at the end of the run."""
    server = os.environ.get(POSTGRES)
    if not server:
        pytest.skip(POSTGRES_MISSING)
    name = f"gpucost_test_{uuid4().hex}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    url = make_url(server).set(database=name)
    made = create_engine(url)
    migrations.upgrade(made)
    made.dispose()
    yield url.render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    engine.dispose()


@pytest.fixture
def postgres_store_url(postgres_database: str) -> str:
    """Name the shared database, emptied."""
    engine = create_engine(postgres_database)
    tables = ", ".join(f'"{name}"' for name in metadata.tables)
    with engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY"))
    engine.dispose()
    return postgres_database


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest) -> str:
    """Name a database with an empty schema; the test runs on every kind."""
    url: str = request.getfixturevalue(f"{request.param}_store_url")
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    """Open an empty store; the test runs on SQLite and, if it is there, PostgreSQL."""
    opened = SqlStore.open(store_url, StoreSettings(audit_key=AUDIT_KEY))
    yield opened
    opened.close()
