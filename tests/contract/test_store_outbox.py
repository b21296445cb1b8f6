"""What every outbox must do: once, in order, at Slack's pace."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.builders import NOW
from tests.builders_store import make_effect, seconds

if TYPE_CHECKING:
    from datetime import datetime

    from bot.ports import OutboxMessage, OutboxRow
    from bot.unit_of_work import SqlStore


def _put(store: SqlStore, *messages: OutboxMessage, now: datetime = NOW) -> list[bool]:
    with store.write() as unit:
        return [unit.outbox.put(message, now) for message in messages]


def _claim(
    store: SqlStore, now: datetime = NOW, *, worker: str = "w1", limit: int = 10
) -> list[OutboxRow]:
    with store.write() as unit:
        return list(unit.outbox.claim(now, worker=worker, limit=limit))


def _keys(rows: list[OutboxRow]) -> list[str]:
    return [row.message.key for row in rows]


def _sent(
    store: SqlStore, row: OutboxRow, now: datetime = NOW, ts: str = "1.0"
) -> None:
    with store.write() as unit:
        assert unit.outbox.sent(
            row.row_id, channel="C1", ts=ts, now=now, attempt=row.attempts
        )


def _state(store: SqlStore, key: str) -> str:
    with store.read() as unit:
        row = unit.outbox.find(key)
    assert row is not None
    return row.state


def test_a_key_is_stored_once(store: SqlStore) -> None:
    assert _put(store, make_effect(text="first")) == [True]
    assert _put(store, make_effect(text="second")) == [False]

    with store.read() as unit:
        row = unit.outbox.find("card-1")
        assert unit.outbox.depth() == {"pending": 1}
        assert unit.outbox.find("card-2") is None
    assert row is not None
    assert row.message == make_effect(text="first")


def test_an_effect_of_a_failed_transaction_was_never_stored(store: SqlStore) -> None:
    with pytest.raises(RuntimeError), store.write() as unit:  # noqa: PT012
        unit.outbox.put(make_effect(), NOW)
        raise RuntimeError

    assert _claim(store) == []


def test_a_claimed_effect_is_not_claimed_again(store: SqlStore) -> None:
    _put(store, make_effect())

    (row,) = _claim(store)

    assert (row.state, row.attempts) == ("sending", 1)
    assert _claim(store, NOW + timedelta(hours=1), worker="w2") == []


def test_a_channel_gets_its_messages_in_order_one_at_a_time(store: SqlStore) -> None:
    _put(store, make_effect("a1"), make_effect("a2"), make_effect("b1", channel="C2"))

    first = _claim(store)
    assert _keys(first) == ["a1", "b1"]
    assert _claim(store, NOW + seconds(60)) == []
    _sent(store, first[0])

    assert _keys(_claim(store, NOW + seconds(60))) == ["a2"]


def test_a_channel_gets_at_most_one_message_a_second(store: SqlStore) -> None:
    _put(store, make_effect("a1"), make_effect("a2"), make_effect("b1", channel="C2"))
    (row,) = _claim(store, limit=1)
    _sent(store, row)

    assert _keys(_claim(store, NOW + seconds(0.9))) == ["b1"]
    assert _keys(_claim(store, NOW + seconds(1))) == ["a2"]


def test_a_message_that_waits_to_be_retried_holds_back_the_later_ones(
    store: SqlStore,
) -> None:
    _put(store, make_effect("a1"), make_effect("a2"))
    (row,) = _claim(store)
    with store.write() as unit:
        unit.outbox.retry(row.row_id, at=NOW + seconds(30), error="ratelimited")

    assert _claim(store, NOW + seconds(29)) == []
    (again,) = _claim(store, NOW + seconds(30))
    assert (again.message.key, again.attempts) == ("a1", 2)
    assert again.error == "ratelimited"


def test_a_failed_message_lets_the_later_ones_pass(store: SqlStore) -> None:
    _put(store, make_effect("a1"), make_effect("a2"))
    (row,) = _claim(store)
    with store.write() as unit:
        assert unit.outbox.failed(row.row_id, error="is_archived", now=NOW)
        assert unit.outbox.depth() == {"failed": 1, "pending": 1}

    assert _keys(_claim(store, NOW + seconds(1))) == ["a2"]


def test_a_rewrite_waits_for_its_post_in_another_channel(store: SqlStore) -> None:
    post = make_effect("card", channel="#gpu")
    rewrite = make_effect("card:2", kind="update", channel="C9", ref="card")
    _put(store, post, rewrite)

    (row,) = _claim(store)
    assert row.message.key == "card"
    assert _claim(store, NOW + seconds(5)) == []
    _sent(store, row)

    assert _keys(_claim(store, NOW + seconds(5))) == ["card:2"]


def test_a_reply_waits_for_the_post_that_begins_its_thread(store: SqlStore) -> None:
    _put(
        store,
        make_effect("card", channel="#gpu"),
        make_effect("reply", channel="C9", thread_of="card"),
    )

    (row,) = _claim(store)
    assert _claim(store, NOW + seconds(5)) == []
    _sent(store, row)

    assert _keys(_claim(store, NOW + seconds(5))) == ["reply"]


def test_a_newer_rewrite_takes_the_place_of_older_ones_that_wait(
    store: SqlStore,
) -> None:
    _put(store, make_effect("card"), make_effect("other"))
    for number in (1, 2, 3):
        _put(store, make_effect(f"card:{number}", kind="update", ref="card"))
    _put(store, make_effect("other:1", kind="update", ref="other"))

    states = [_state(store, f"card:{number}") for number in (1, 2, 3)]

    assert states == ["superseded", "superseded", "pending"]
    assert _state(store, "other:1") == "pending"


def test_an_effect_that_was_never_settled_is_stranded(store: SqlStore) -> None:
    _put(store, make_effect())
    _claim(store)

    with store.read() as unit:
        assert unit.outbox.stranded(NOW) == []
        (row,) = unit.outbox.stranded(NOW + seconds(1))

    assert row.message.key == "card-1"


def test_who_takes_over_a_stranded_effect_shuts_out_its_former_holder(
    store: SqlStore,
) -> None:
    _put(store, make_effect())
    (lost,) = _claim(store, worker="dead")
    later = NOW + timedelta(minutes=5)

    with store.write() as unit:
        (taken,) = unit.outbox.stranded(later, worker="w2", now=later)
        assert unit.outbox.stranded(later, worker="w3", now=later) == []

    with store.write() as unit:
        assert not unit.outbox.retry(
            lost.row_id, at=later, error="", attempt=lost.attempts
        )
        assert not unit.outbox.failed(
            lost.row_id, error="", now=later, attempt=lost.attempts
        )
        assert unit.outbox.sent(
            taken.row_id, channel="C1", ts="7.0", now=later, attempt=taken.attempts
        )
    with store.read() as unit:
        found = unit.outbox.find("card-1")
    assert found is not None
    assert (found.state, found.slack_channel, found.slack_ts) == ("sent", "C1", "7.0")


def test_a_settled_effect_is_not_settled_again(store: SqlStore) -> None:
    _put(store, make_effect())
    (row,) = _claim(store)
    _sent(store, row)

    with store.write() as unit:
        assert not unit.outbox.failed(row.row_id, error="late", now=NOW)
        assert not unit.outbox.retry(row.row_id, at=NOW, error="late")

    assert _state(store, "card-1") == "sent"
