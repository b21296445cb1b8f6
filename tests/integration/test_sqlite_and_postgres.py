"""What the databases themselves must do: exact money, aware time, locks, durability."""

from __future__ import annotations

import stat
import threading
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select, text

from billing.core.money import Money, nanos_from_text
from billing.ledger.columns import NaiveInstantError, table_of
from billing.ledger.database import (
    DatabaseBusyError,
    DatabaseUnavailableError,
    DatabaseUrlError,
    open_database,
)
from billing.ledger.tables import AccountStateRow, ChargeRow
from bot.unit_of_work import ServeLockedError, acquire_serve_lock
from tests.builders import ACCOUNT, NOW, at, make_charge
from tests.builders_bot import make_request, make_vote
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from pathlib import Path

    from bot.unit_of_work import SqlStore

BUSY_S = 0.3


@pytest.mark.parametrize(
    ("amounts", "total"),
    [
        (["0.1"] * 10, "1.00"),
        (["9999999999.99", "-0.01"], None),
        (["123456789.123456789"], "123456789.123456789"),
        (["9223372036.854775807"], "9223372036.854775807"),
    ],
    ids=["ten-dimes", "too-large", "nine-places", "largest"],
)
def test_money_is_stored_and_summed_exactly(
    store: SqlStore, amounts: list[str], total: str | None
) -> None:  # C125
    if total is None:
        with pytest.raises(ValueError, match="not a finite decimal amount"):
            nanos_from_text("9999999999999999.99")
        return
    import_charges(store, [make_charge(billed=amount) for amount in amounts])

    charge = table_of(ChargeRow)
    with store.read() as unit:
        summed = unit.session.execute(select(func.sum(charge.c.billed))).scalar_one()
        (cell,) = unit.ledger.cells("job", NOW.date().replace(day=1), NOW.date())

    assert type(summed) is int
    assert cell.billed == Money.of(total)
    assert Decimal(cell.billed.text()) == sum(Decimal(amount) for amount in amounts)


def test_an_instant_of_another_zone_comes_back_as_the_same_instant_in_utc(
    store: SqlStore,
) -> None:  # C127
    local = at("2026-05-04T22:15:00-05:00").astimezone()

    with store.write() as unit:
        unit.session.add(
            AccountStateRow(account=ACCOUNT, billed_through=local, updated_at=local)
        )

    with store.read() as unit:
        through = unit.ledger.billed_through()[ACCOUNT]
    assert through == at("2026-05-05T03:15:00Z")
    assert through.utcoffset() == timedelta(0)


def test_an_instant_without_a_zone_is_refused(store: SqlStore) -> None:
    naive = NOW.replace(tzinfo=None)

    with pytest.raises(Exception, match="naive") as refused, store.write() as unit:
        unit.session.add(
            AccountStateRow(account=ACCOUNT, billed_through=naive, updated_at=NOW)
        )

    assert isinstance(refused.value.__cause__ or refused.value, NaiveInstantError)


def test_a_reading_unit_cannot_write(store: SqlStore) -> None:
    with (
        pytest.raises(Exception, match=r"read-?only"),
        store.read() as unit,
    ):
        unit.control.pause(by="p-ada", reason="", now=NOW)

    with store.read() as unit:
        assert unit.control.paused() is None


def test_a_reader_sees_one_snapshot_while_a_writer_commits(store: SqlStore) -> None:
    import_charges(store, [make_charge(billed="10")])
    window = (NOW.date().replace(day=1), NOW.date())

    with store.read() as unit:
        before = unit.ledger.cells("job", *window)
        import_charges(store, [make_charge(billed="99")])
        again = unit.ledger.cells("job", *window)

    assert before == again
    with store.read() as unit:
        assert unit.ledger.cells("job", *window) != before


def test_a_click_waits_for_another_writer_and_is_not_lost(store: SqlStore) -> None:
    # C128
    request = make_request()
    with store.write() as unit:
        unit.journal.add_request(request, "")
    holds, released = threading.Event(), threading.Event()

    def writer() -> None:
        with store.write() as unit:
            unit.journal.request(request.request_id)
            unit.control.pause(by="p-x", reason="", now=NOW)
            holds.set()
            released.wait(0.3)

    thread = threading.Thread(target=writer)
    thread.start()
    holds.wait(10)
    with store.write() as unit:
        read = unit.journal.request(request.request_id)
        assert read is not None
        assert unit.journal.add_vote(read, make_vote())
    released.set()
    thread.join(10)

    with store.read() as unit:
        found = unit.journal.request(request.request_id)
        assert unit.control.paused() is not None
    assert found is not None
    assert found.votes == (make_vote(),)


def test_a_writer_that_waits_in_vain_is_told_that_the_database_is_busy(
    store: SqlStore, store_url: str
) -> None:
    impatient = open_database(store_url, busy_timeout_s=BUSY_S)
    update = text("UPDATE account_state SET account = account")
    with store.write() as unit:
        unit.session.add(
            AccountStateRow(account=ACCOUNT, billed_through=NOW, updated_at=NOW)
        )

    with store.write() as unit:
        unit.session.execute(update)
        with pytest.raises(DatabaseBusyError) as told, impatient.write() as session:
            session.execute(update)
    impatient.close()

    assert told.value.code == "database_busy"


def test_readers_do_not_wait_for_a_writer(store: SqlStore, store_url: str) -> None:
    reader = open_database(store_url, busy_timeout_s=BUSY_S)

    with store.write() as unit:
        unit.control.pause(by="p-ada", reason="", now=NOW)
        with reader.read() as session:
            rows = session.execute(text("SELECT count(*) FROM control_flag"))
            assert rows.scalar_one() == 0
    reader.close()


def test_sqlite_is_opened_durable_and_checked(sqlite_store_url: str) -> None:
    database = open_database(sqlite_store_url)

    with database.write() as session:
        found = {
            name: session.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    database.close()

    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 5000,
    }


def test_a_new_sqlite_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "gpucost.sqlite"

    database = open_database(f"sqlite:///{path}")
    with database.write() as session:
        session.execute(text("CREATE TABLE t (x)"))
    database.close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_full_database_refuses_cleanly_and_works_again(
    sqlite_store_url: str,
) -> None:
    database = open_database(sqlite_store_url)
    with database.write() as session:
        session.execute(text("CREATE TABLE filler (x)"))
        pages = session.execute(text("PRAGMA page_count")).scalar_one()
        session.execute(text(f"PRAGMA max_page_count = {pages + 2}"))
    fill = text("INSERT INTO filler VALUES (zeroblob(100000))")

    with (
        pytest.raises(DatabaseUnavailableError, match="full"),
        database.write() as session,
    ):
        session.execute(fill)
    with database.write() as session:
        session.execute(text("PRAGMA max_page_count = 1000000"))
        session.execute(fill)
        rows = session.execute(text("SELECT count(*) FROM filler")).scalar_one()
    database.close()

    assert rows == 1


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("sqlite://", "in-memory"),
        ("sqlite:///:memory:", "in-memory"),
        ("mysql://root@localhost/x", "neither sqlite nor postgresql"),
        ("gpucost.sqlite", "it is not a URL"),
    ],
)
def test_a_url_that_cannot_hold_a_ledger_is_refused(url: str, reason: str) -> None:
    with pytest.raises(DatabaseUrlError, match=reason) as refused:
        open_database(url)

    assert "sqlite:///FILE" in refused.value.hint


def test_a_password_in_the_url_is_not_repeated() -> None:
    database = open_database("postgresql+psycopg://u:s3cret@127.0.0.1:1/none")

    with pytest.raises(DatabaseUnavailableError) as failed, database.read():
        pass

    assert "s3cret" not in str(failed.value)


def test_a_second_serve_on_one_sqlite_file_is_refused(sqlite_store_url: str) -> None:
    first, second = open_database(sqlite_store_url), open_database(sqlite_store_url)

    with acquire_serve_lock(first):
        with (
            pytest.raises(ServeLockedError, match="process"),
            acquire_serve_lock(second),
        ):
            pass
        with second.write() as session:  # Other commands work beside it.
            session.execute(text("DELETE FROM delivery"))
    with acquire_serve_lock(second):
        pass
    first.close()
    second.close()


@pytest.mark.postgres
def test_several_replicas_may_serve_on_postgresql(postgres_store_url: str) -> None:
    database = open_database(postgres_store_url)

    with acquire_serve_lock(database), acquire_serve_lock(database):
        pass
    database.close()


@pytest.mark.postgres
def test_a_restarted_server_costs_no_error(postgres_store_url: str) -> None:
    database, other = (open_database(postgres_store_url) for _ in range(2))
    with database.read() as session:
        session.execute(text("SELECT 1"))
    with other.write() as session:
        session.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )

    with database.read() as session:
        assert session.execute(text("SELECT 1")).scalar_one() == 1
    database.close()
    other.close()
