"""The chain held against its posted heads, and written out."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from bot.unit_of_work.audit import SqlAudit
from bot.use_cases.auditing import (
    BadHeadError,
    against,
    exported,
    exported_names,
    post_head,
    posted_heads,
    read_head,
)
from tests.builders import NOW

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore


def decides(store: SqlStore, times: int) -> None:
    for number in range(times):
        with store.write() as unit:
            actor = unit.people.remember(email="ada@example.com")
            data = {"verdict": "approve"}
            unit.audit.append(
                "approval_voted", actor=actor, subject=f"a-{number}", data=data, now=NOW
            )


def problems(store: SqlStore) -> list[str]:
    with store.read() as unit:
        return [*against(unit, posted_heads(unit, NOW))]


def runs(store: SqlStore, statement: str) -> None:
    with store.write() as unit:
        unit.session.execute(text(statement))


def test_a_head_is_posted_once_a_day(store: SqlStore) -> None:
    assert not post_head(store, "C0", day=NOW, now=NOW)  # nothing to post yet
    decides(store, 2)

    posted = [post_head(store, "C0", day=NOW, now=NOW) for _ in range(2)]
    tomorrow = post_head(store, "C0", day=NOW + timedelta(days=1), now=NOW)

    assert (posted, tomorrow) == ([True, False], True)
    assert problems(store) == []


def test_a_chain_that_went_on_still_continues_its_posted_head(store: SqlStore) -> None:
    decides(store, 2)
    post_head(store, "C0", day=NOW, now=NOW)

    decides(store, 3)

    assert problems(store) == []


def test_a_cut_tail_is_found_though_the_chain_is_whole(store: SqlStore) -> None:
    decides(store, 4)
    post_head(store, "C0", day=NOW, now=NOW)

    runs(store, "DELETE FROM audit_event WHERE seq > 2")

    with store.read() as unit:
        assert unit.audit.verify() == []
    assert problems(store)[0].startswith("the end was cut off: a head of 4 events")


def test_a_chain_written_anew_with_the_key_is_found(store: SqlStore) -> None:
    decides(store, 3)
    with store.read() as unit:
        count, last = unit.audit.head()
    then = read_head(count, last)

    runs(store, "DELETE FROM audit_event")
    with store.write() as unit:
        for number in range(4):
            unit.audit.append("x", actor="p", subject=f"{number}", data={}, now=NOW)

    with store.read() as unit:
        assert unit.audit.verify() == []
        assert "written anew" in against(unit, [then])[0]


def test_a_chain_written_anew_without_the_key_does_not_verify(store: SqlStore) -> None:
    decides(store, 3)

    runs(store, "DELETE FROM audit_event")
    with store.write() as unit:
        forger = SqlAudit(unit.session, b"not the key")
        forger.append("x", actor="p", subject="s", data={}, now=NOW)

    with store.read() as unit:
        assert unit.audit.verify()[0] == "event 1 was changed after it was written"


@pytest.mark.parametrize(("events", "head"), [(0, "a" * 64), (3, "abc"), (3, "g" * 64)])
def test_what_is_no_head_is_refused(events: int, head: str) -> None:
    with pytest.raises(BadHeadError):
        read_head(events, head)


def test_the_export_has_every_event_and_no_name(store: SqlStore) -> None:
    decides(store, 3)

    lines = list(exported(store))

    assert [json.loads(line)["seq"] for line in lines] == [1, 2, 3]
    assert "ada" not in "".join(lines)
    assert [json.loads(line)["seq"] for line in exported(store, after=2)] == [3]
    (person,) = [json.loads(line) for line in exported_names(store)]
    assert person["email"] == "ada@example.com"
    assert person["person"] == json.loads(lines[0])["actor"]
