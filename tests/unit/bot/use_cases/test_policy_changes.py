"""A change of the policies in force is told once, whenever and wherever it was made."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.use_cases.policy_changes import tell_changes
from tests.builders_policies import NOW, policy

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from policies.core.catalogue import Policy

CALM = policy("{name: no-old-runs, kind: ttl, mode: notify, default: 4h}")
STRICT = policy("{name: no-old-runs, kind: ttl, mode: enforce, default: 2h}")
HOSTILE = policy(
    "{name: no-old-runs, kind: ttl, mode: notify, default: 4h, "
    "where: 'job.id == \"<!channel>\"'}"
)
CHANNEL = "C0ALERTS"


def _told(store: SqlStore, *policies: Policy, days: int = 0) -> list[str]:
    """Let the set be seen; return everything posted since."""
    now = NOW + timedelta(days=days)
    tell_changes(store, policies, channel=CHANNEL, now=now)
    with store.write() as unit:
        texts = []
        while rows := unit.outbox.claim(now + timedelta(days=1), worker="w", limit=9):
            for row in rows:
                unit.outbox.sent(row.row_id, channel=CHANNEL, ts="1.0", now=now)
                texts.append(json.dumps(row.message.payload, ensure_ascii=False))
            now += timedelta(seconds=2)
        return texts


def test_the_first_set_is_recorded_and_not_told(store: SqlStore) -> None:
    assert _told(store, CALM) == []


def test_a_change_is_told_key_by_key_and_once(store: SqlStore) -> None:
    _told(store, CALM)

    (text,) = _told(store, STRICT)

    assert "Policies changed: 2 keys" in text
    assert "mode: notify → enforce" in text
    assert "default: 4h → 2h" in text
    assert _told(store, STRICT) == []


def test_policies_that_come_and_go_are_told(store: SqlStore) -> None:
    _told(store, CALM)

    (gone,) = _told(store, days=1)
    (back,) = _told(store, CALM, days=2)

    assert "`" not in gone.split("In force")[0]
    assert "(ttl) removed" in gone
    assert "(ttl) added" in back


def test_a_change_back_and_forth_is_told_each_time(store: SqlStore) -> None:
    _told(store, CALM)
    _told(store, STRICT)

    assert len(_told(store, CALM, days=1)) == 1
    assert len(_told(store, STRICT, days=2)) == 1


def test_each_change_is_in_the_audit_chain(store: SqlStore) -> None:
    _told(store, CALM)
    _told(store, STRICT)
    _told(store, STRICT)

    with store.read() as unit:
        assert unit.audit.head()[0] == 2
        assert unit.audit.verify() == []


def test_what_a_file_says_is_text_to_slack(store: SqlStore) -> None:
    _told(store, CALM)

    (text,) = _told(store, HOSTILE)

    assert "<!channel>" not in text
    assert "&lt;!channel&gt;" in text


def test_without_a_channel_the_change_is_recorded(store: SqlStore) -> None:
    tell_changes(store, [CALM], channel="", now=NOW)

    assert len(tell_changes(store, [STRICT], channel="", now=NOW)) == 2
    with store.read() as unit:
        assert dict(unit.outbox.depth()) == {}
