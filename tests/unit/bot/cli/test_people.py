"""Somebody's names go; what they decided stays, under a pseudonym that means nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.ports import OutboxMessage
from tests.builders import NOW
from tests.builders_store import AUDIT_KEY

if TYPE_CHECKING:
    from tests.builders_cli import Office
    from tests.builders_use_cases import Company

EMAIL = "zoë@example.com"
SLACK_ID = "U0ZOE"


def _known(company: Company) -> str:
    """Let somebody vote and be written to; return the pseudonym."""
    with company.store.write() as unit:
        person = unit.people.remember(slack_id=SLACK_ID, email=EMAIL, name="Zoë Quill")
        unit.audit.append("voted", actor=person, subject="apr-1", data={}, now=NOW)
        for key, text in (("a", f"<@{SLACK_ID}> asked"), ("b", "nobody"), ("c", EMAIL)):
            unit.outbox.put(
                OutboxMessage(
                    key=key, kind="post", channel=key, payload={"text": text}
                ),
                NOW,
            )
        for row in unit.outbox.claim(NOW, worker="w", limit=9):
            unit.outbox.sent(row.row_id, channel="C0", ts="1.0", now=NOW)
    return person


def test_no_name_is_left_and_the_audit_log_verifies(
    fresh: Office, company: Company
) -> None:
    (fresh.folder / "audit.key").write_text(AUDIT_KEY.hex())
    person = _known(company)

    done = fresh.json("people", "remove", EMAIL.upper())

    assert done["person"] == person
    assert done["messages_emptied"] == 2
    with company.store.read() as unit:
        assert unit.people.lookup(person) is None
        kept = {key: unit.outbox.find(key) for key in "abc"}
        texts = [row.message.payload.get("text") for row in kept.values() if row]
        assert texts == [None, "nobody", None]
        assert unit.audit.verify() == []
    assert fresh.run("audit", "verify").code == 0


def test_a_message_that_was_sent_is_not_sent_again(
    fresh: Office, company: Company
) -> None:
    _known(company)
    fresh.run("people", "remove", EMAIL)

    with company.store.write() as unit:
        again = OutboxMessage(key="a", kind="post", channel="a", payload={"text": "x"})
        assert not unit.outbox.put(again, NOW)


def test_who_comes_back_is_somebody_new(fresh: Office, company: Company) -> None:
    person = _known(company)
    fresh.run("people", "remove", EMAIL)

    with company.store.write() as unit:
        assert unit.people.remember(email=EMAIL) != person


def test_nobody_of_that_address_is_said(fresh: Office) -> None:
    ran = fresh.run("people", "remove", "who@example.com")

    assert ran.code == 1
    assert "nobody is known as 'who@example.com'" in ran.err
