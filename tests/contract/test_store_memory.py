"""What every store must remember: audit, people, slots, switches, deliveries."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text, update

from billing.ledger.columns import table_of
from billing.ledger.database import open_database
from bot.unit_of_work.audit import GENESIS, SqlAudit
from bot.unit_of_work.tables import AuditEventRow
from tests.builders import NOW, at
from tests.builders_store import AUDIT_KEY, seconds

if TYPE_CHECKING:
    from datetime import datetime

    from bot.unit_of_work import SqlStore

SLOT = at("2026-11-30T09:00Z")
LEASE_S = 60


def _append(store: SqlStore, count: int) -> None:
    for number in range(count):
        with store.write() as unit:
            unit.audit.append(
                "approval_voted",
                actor="p-ada",
                subject=f"apr-{number}",
                data={"verdict": "approve", "text": "naïve <b>", "n": number},
                now=NOW + seconds(number),
            )


# -------------------------------------------------------------------------- audit


def test_an_untouched_chain_is_whole(store: SqlStore) -> None:
    with store.read() as unit:
        assert unit.audit.head() == (0, GENESIS)
        assert unit.audit.verify() == []

    _append(store, 3)

    with store.read() as unit:
        count, head = unit.audit.head()
        assert unit.audit.verify() == []
    assert count == 3
    assert len(head) == 64


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE audit_event SET actor = 'p-eve' WHERE seq = 2", "event 2 was changed"),
        ("UPDATE audit_event SET data = '{}' WHERE seq = 3", "event 3 was changed"),
        (
            "UPDATE audit_event SET at = '2020-01-01' WHERE seq = 1",
            "event 1 was changed",
        ),
        ("DELETE FROM audit_event WHERE seq = 2", "event 2 is missing"),
        ("DELETE FROM audit_event WHERE seq = 1", "event 1 is missing"),
        (
            "UPDATE audit_event SET previous = hash WHERE seq = 3",
            "event 3 does not follow event 2",
        ),
        ("UPDATE audit_event SET seq = 9 WHERE seq = 4", "event 4 is missing"),
    ],
)
def test_the_first_broken_link_is_named(
    store: SqlStore, statement: str, problem: str
) -> None:
    _append(store, 4)
    if store.database.is_sqlite:
        statement = statement.replace("'2020-01-01'", "'2020-01-01 00:00:00.000000'")
    with store.write() as unit:
        unit.session.execute(text(statement))

    with store.read() as unit:
        problems = unit.audit.verify()

    assert problems[0].startswith(problem)


def test_a_chain_rewritten_without_the_key_does_not_verify(store: SqlStore) -> None:
    with store.write() as unit:
        forger = SqlAudit(unit.session, b"not the key")
        for number in range(2):
            forger.append("x", actor="p", subject=str(number), data={}, now=NOW)
        assert forger.verify() == []

    with store.read() as unit:
        assert unit.audit.verify()[0] == "event 1 was changed after it was written"


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3),
    column=st.sampled_from(["event", "actor", "subject", "data", "previous", "hash"]),
    position=st.integers(0, 10_000),
)
def test_any_changed_character_of_an_event_is_noticed(
    sqlite_store_url: str, data: dict[str, str], column: str, position: int
) -> None:
    database = open_database(sqlite_store_url)
    with database.write() as session:
        session.execute(text("DELETE FROM audit_event"))
        audit = SqlAudit(session, AUDIT_KEY)
        audit.append("event", actor="p-ada", subject="apr-1", data=data, now=NOW)
        whole = audit.verify()
        event = table_of(AuditEventRow)
        old = session.execute(select(event.c[column])).scalar_one()
        index = position % len(old)
        changed = old[:index] + chr(ord(old[index]) ^ 1) + old[index + 1 :]
        session.execute(update(event).values({column: changed}))
        problems = audit.verify()
    database.close()

    assert whole == []
    assert len(problems) == 1


def test_data_that_is_no_json_is_refused(store: SqlStore) -> None:
    with pytest.raises(ValueError, match="Out of range"), store.write() as unit:
        unit.audit.append(
            "x", actor="a", subject="s", data={"n": float("nan")}, now=NOW
        )


# ------------------------------------------------------------------------- people


def test_a_person_keeps_one_pseudonym(store: SqlStore) -> None:
    with store.write() as unit:
        first = unit.people.remember(slack_id="U1", name="Mia")
        again = unit.people.remember(slack_id="U1", email="Mia@Example.com ")
        by_email = unit.people.remember(email="mia@example.com")
        other = unit.people.remember(slack_id="U2")
        known = unit.people.lookup(first)

    assert first == again == by_email
    assert other != first
    assert known == {"slack_id": "U1", "email": "mia@example.com", "name": "Mia"}


def test_two_halves_of_a_person_become_the_older_one(store: SqlStore) -> None:
    with store.write() as unit:
        older = unit.people.remember(email="mia@example.com", name="Mia")
        newer = unit.people.remember(slack_id="U1")

    with store.write() as unit:
        assert unit.people.remember(slack_id="U1", email="mia@example.com") == older
        assert unit.people.remember(slack_id="U1") == older
        assert unit.people.lookup(newer) == unit.people.lookup(older)


def test_a_removed_person_is_nobody(store: SqlStore) -> None:
    with store.write() as unit:
        person = unit.people.remember(slack_id="U1", name="Mia")
        assert unit.people.forget(person)
        assert not unit.people.forget(person)

    with store.read() as unit:
        assert unit.people.lookup(person) is None


# -------------------------------------------------------------------------- slots


def _claim(store: SqlStore, owner: str, now: datetime = NOW) -> bool:
    with store.write() as unit:
        return unit.slots.claim(
            "digest",
            SLOT,
            owner=owner,
            now=now,
            lease_s=LEASE_S,
        )


def test_a_slot_is_claimed_by_one_owner(store: SqlStore) -> None:
    assert _claim(store, "a")
    assert not _claim(store, "b")
    assert not _claim(store, "a")


def test_a_lapsed_claim_is_taken_over_and_its_loser_cannot_finish(
    store: SqlStore,
) -> None:
    _claim(store, "a")

    assert not _claim(store, "b", NOW + seconds(LEASE_S - 1))
    assert _claim(store, "b", NOW + seconds(LEASE_S))

    with store.write() as unit:
        assert not unit.slots.finish("digest", SLOT, owner="a", now=NOW)
        assert unit.slots.last_done("digest") is None
        assert unit.slots.finish("digest", SLOT, owner="b", now=NOW)
        assert unit.slots.last_done("digest") == SLOT


def test_a_heartbeat_keeps_a_claim(store: SqlStore) -> None:
    _claim(store, "a")

    with store.write() as unit:
        later = NOW + seconds(LEASE_S - 1)
        assert unit.slots.renew("digest", SLOT, owner="a", now=later, lease_s=LEASE_S)
        assert not unit.slots.renew("digest", SLOT, owner="b", now=later, lease_s=9)

    assert not _claim(store, "b", NOW + seconds(LEASE_S + 1))


def test_a_finished_slot_is_never_claimed_again(store: SqlStore) -> None:
    _claim(store, "a")
    with store.write() as unit:
        unit.slots.finish("digest", SLOT, owner="a", now=NOW, error="Slack was down")

    assert not _claim(store, "b", NOW + timedelta(days=9))
    with store.read() as unit:
        assert unit.slots.last_done("digest") == SLOT
        assert unit.slots.last_done("ingest") is None


# ------------------------------------------------------------------------ control


def test_a_pause_holds_until_somebody_resumes(store: SqlStore) -> None:
    with store.write() as unit:
        unit.control.pause(by="p-ada", reason="incident", now=NOW)
        unit.control.pause(by="p-bob", reason="again", now=NOW + seconds(5))

    with store.write() as unit:
        assert unit.control.paused() == {
            "by": "p-ada",
            "since": "2026-11-30T09:00:00Z",
            "reason": "incident",
        }
        unit.control.resume(by="p-ada", now=NOW)
        assert unit.control.paused() is None


def test_a_delivery_is_new_once_within_a_day(store: SqlStore) -> None:
    with store.write() as unit:
        seen = [
            unit.control.seen("event", "Ev1", NOW),
            unit.control.seen("event", "Ev1", NOW + seconds(1)),
            unit.control.seen("event", "Ev1", NOW + timedelta(hours=23)),
            unit.control.seen("request", "Ev1", NOW),
            unit.control.seen("event", "Ev2", NOW + timedelta(days=1, seconds=1)),
        ]
        count = unit.session.execute(text("SELECT count(*) FROM delivery")).scalar_one()

    assert seen == [False, True, True, False, False]
    assert count == 1
