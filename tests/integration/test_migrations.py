"""The schema: versions, the tables they make, and what a wrong version says."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

import policies.journal.tables  # noqa: F401 - so that their tables are known
from billing.ledger.columns import metadata
from billing.ledger.database import open_database
from bot import migrations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from billing.ledger.database import Database


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = open_database(database_url)
    yield opened
    opened.close()


def test_an_empty_database_needs_an_upgrade_and_gets_the_newest_schema(
    database: Database,
) -> None:
    assert migrations.current(database.engine) is None
    assert migrations.needs_upgrade(database.engine)

    assert migrations.upgrade(database.engine) == migrations.head()

    migrations.check(database.engine)
    assert not migrations.needs_upgrade(database.engine)


def test_the_migrations_make_the_tables_of_the_code(database: Database) -> None:
    migrations.upgrade(database.engine)

    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, metadata)

    assert differences == []


def test_every_constraint_has_a_name(database: Database) -> None:
    migrations.upgrade(database.engine)

    found = inspect(database.engine)
    names = [
        constraint["name"]
        for table in metadata.tables
        for constraint in (
            found.get_pk_constraint(table),
            *found.get_unique_constraints(table),
            *found.get_foreign_keys(table),
        )
    ]

    assert None not in names


def test_no_column_of_a_unique_key_may_be_null() -> None:  # C129
    nullable = [
        f"{table.name}.{column.name}"
        for table in metadata.tables.values()
        for index in (*table.indexes, *table.constraints)
        if getattr(index, "unique", True)
        for column in getattr(index, "columns", ())
        if column.nullable
    ]

    assert nullable == []


def test_an_upgrade_of_a_current_schema_changes_nothing(database: Database) -> None:
    migrations.upgrade(database.engine)
    with database.write() as session:
        session.execute(text("INSERT INTO ledger_property VALUES ('currency', 'USD')"))

    migrations.upgrade(database.engine)

    with database.read() as session:
        rows = session.execute(text("SELECT count(*) FROM ledger_property"))
        assert rows.scalar_one() == 1


def test_a_schema_can_be_taken_back_and_made_again(database: Database) -> None:
    migrations.upgrade(database.engine)

    migrations.downgrade(database.engine, "base")
    left = set(inspect(database.engine).get_table_names()) - {"alembic_version"}
    migrations.upgrade(database.engine)

    assert left == set()
    migrations.check(database.engine)


def test_a_missing_schema_says_what_to_run(database: Database) -> None:
    with pytest.raises(migrations.SchemaError, match="None") as told:
        migrations.check(database.engine)

    assert "gpucost db upgrade" in told.value.hint


def test_the_schema_of_a_newer_release_is_left_alone(database: Database) -> None:
    migrations.upgrade(database.engine)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    for attempt in (migrations.check, migrations.needs_upgrade, migrations.upgrade):
        with pytest.raises(migrations.SchemaError, match="9999") as told:
            attempt(database.engine)
        assert "newer gpucost" in told.value.hint


def test_the_version_is_read_while_somebody_writes(database_url: str) -> None:
    writer = open_database(database_url)
    migrations.upgrade(writer.engine)
    reader = open_database(database_url, busy_timeout_s=0.1)

    with writer.write():
        migrations.check(reader.engine)

    reader.close()
    writer.close()


def test_two_processes_that_upgrade_at_once_do_it_once(database_url: str) -> None:
    failures: list[BaseException] = []
    barrier = threading.Barrier(3)

    def start() -> None:
        try:
            barrier.wait(10)
            opened = open_database(database_url)
            migrations.upgrade(opened.engine)
            opened.close()
        except BaseException as error:  # noqa: BLE001 - told to the test
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert failures == []
    opened = open_database(database_url)
    migrations.check(opened.engine)
    opened.close()
