"""What a unit that only reads promises: one snapshot, whatever is read ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from billing.core.charges import Source
from billing.core.money import Money
from billing.core.paid_shares import PaidShare
from billing.ledger.database import (
    Database,
    DatabaseUnavailableError,
    open_database,
)
from billing.ledger.hot import Hot
from billing.ledger.ledger import SqlLedger
from tests.builders import ACCOUNT, NOW, make_charge
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

SHARE = PaidShare(
    account=ACCOUNT,
    family="p5",
    effective=Money.of("8"),
    list_cost=Money.of("10"),
    since=NOW.date(),
    until=NOW.date(),
)


def test_what_was_read_ahead_stays_as_it_was_when_the_unit_began(
    store: SqlStore,
) -> None:
    with store.read() as unit:
        assert unit.ledger.job_record("job-123") is None
        import_charges(store, [make_charge(job="job-123")])
        with store.write() as writer:
            writer.ledger.set_paid_shares(ACCOUNT, [SHARE])
            writer.ledger.set_billed_through(ACCOUNT, NOW, NOW)
            writer.ledger.note_freshness(Source.PRICES, "", as_of=NOW)

        assert unit.ledger.job_record("job-123") is None
        assert not unit.ledger.billed_through()
        assert not unit.ledger.freshness()
        assert not unit.ledger.paid_shares()
        assert unit.ledger.currency() is None

    with store.read() as unit:
        assert unit.ledger.job_record("job-123") is not None
        assert unit.ledger.billed_through() == {ACCOUNT: NOW}
        assert unit.ledger.freshness()
        assert unit.ledger.paid_shares() == [SHARE]
        assert unit.ledger.currency() == "USD"


def test_a_unit_that_writes_sees_what_it_wrote(store: SqlStore) -> None:
    with store.write() as unit:
        assert not unit.ledger.billed_through()
        assert not unit.ledger.paid_shares()
        unit.ledger.set_billed_through(ACCOUNT, NOW, NOW)
        unit.ledger.set_paid_shares(ACCOUNT, [SHARE])

        assert unit.ledger.billed_through() == {ACCOUNT: NOW}
        assert unit.ledger.paid_shares() == [SHARE]


@pytest.mark.postgres
def test_a_snapshot_of_postgresql_is_one_and_waits_no_longer_than_set(
    postgres_store_url: str,
) -> None:
    database = open_database(postgres_store_url, busy_timeout_s=0.3)
    names = ("transaction_isolation", "transaction_read_only", "lock_timeout")

    with database.read() as session:
        found = [session.execute(text(f"SHOW {name}")).scalar_one() for name in names]
    with database.write() as session:
        after = [session.execute(text(f"SHOW {name}")).scalar_one() for name in names]

    assert found == ["repeatable read", "on", "300ms"]
    assert after == ["read committed", "off", "300ms"]
    database.close()


@pytest.mark.postgres
def test_a_server_that_goes_away_midway_is_named_and_forgotten(
    postgres_store_url: str,
) -> None:
    database, other = (open_database(postgres_store_url) for _ in range(2))

    with pytest.raises(DatabaseUnavailableError):
        _read_while_the_server_goes_away(database, other)

    with database.read() as session:
        assert not SqlLedger(session).billed_through()
    database.close()
    other.close()


def _read_while_the_server_goes_away(database: Database, other: Database) -> None:
    with database.read() as session:
        ledger = SqlLedger(session)
        ledger.currency()
        with other.write() as killer:
            killer.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        ledger.billed_through()


def test_a_question_the_database_refuses_does_not_show_its_values(
    store: SqlStore,
) -> None:
    wrong = Hot(lambda _: text("SELECT nothing FROM nowhere WHERE name = :name"))

    with store.read() as unit, pytest.raises(DBAPIError, match="nowhere") as caught:
        wrong.rows(unit.session, name="secret")

    assert "secret" not in str(caught.value)
