"""The sender over a real store: each effect once, whatever fails and wherever."""

from __future__ import annotations

from datetime import timedelta
from threading import Event
from typing import TYPE_CHECKING

import pytest

from bot.outbox import OutboxSender, SenderLimits
from bot.ports import SlackFailedError
from tests.builders import NOW
from tests.builders_store import make_effect, seconds
from tests.fakes.slack_notifier import FakeNotifier, KilledError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.ports import OutboxMessage, OutboxRow
    from bot.unit_of_work import SqlStore

LEASE = SenderLimits().lease


@pytest.fixture
def slack() -> FakeNotifier:
    return FakeNotifier()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def sender(store: SqlStore, slack: FakeNotifier, told: list[str]) -> OutboxSender:
    def on_failed(row: OutboxRow, error: str) -> None:
        told.append(f"{row.message.key}: {error}")

    return OutboxSender(store, slack, worker="w1", on_failed=on_failed)


def _put(store: SqlStore, *messages: OutboxMessage, now: datetime = NOW) -> None:
    with store.write() as unit:
        for message in messages:
            unit.outbox.put(message, now)


def _row(store: SqlStore, key: str = "card-1") -> OutboxRow:
    with store.read() as unit:
        row = unit.outbox.find(key)
    assert row is not None
    return row


def _run(sender: OutboxSender, seconds_: Sequence[float]) -> int:
    return sum(sender.run_once(NOW + seconds(after)) for after in seconds_)


def _failed(code: str, **values: object) -> SlackFailedError:
    return SlackFailedError(code, **values)  # type: ignore[arg-type]


def test_a_stored_effect_is_made_once(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, make_effect())

    assert sender.run_once(NOW) == 1
    assert sender.run_once(NOW + timedelta(hours=1)) == 0

    assert slack.keys == ["card-1"]
    row = _row(store)
    assert (row.state, row.slack_channel, row.slack_ts) == ("sent", "ID-C1", "1.0")


def test_several_channels_are_served_in_one_run(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, *(make_effect(f"k{n}", channel=f"C{n}") for n in range(5)))

    assert sender.run_once(NOW) == 5
    assert slack.keys == ["k0", "k1", "k2", "k3", "k4"]


def test_one_channel_gets_its_messages_in_order_a_second_apart(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, *(make_effect(f"k{n}") for n in range(3)))

    made = [sender.run_once(NOW + seconds(after)) for after in (0, 0.5, 1, 2)]

    assert made == [1, 0, 1, 1]
    assert slack.keys == ["k0", "k1", "k2"]


def test_a_rewrite_goes_to_the_message_and_channel_of_its_post(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, make_effect("card", channel="#gpu"))
    _put(store, make_effect("card:2", kind="update", channel="#gpu", ref="card"))

    _run(sender, [0, 1])

    ((message, target_ts),) = slack.updates
    assert (message.channel, target_ts) == ("ID-#gpu", "1.0")


def test_a_reply_goes_to_its_thread(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, make_effect("card"), make_effect("reply", thread_of="card"))

    _run(sender, [0, 1])

    assert [thread for _, thread in slack.posts] == ["", "1.0"]


def test_a_rewrite_of_a_post_that_failed_fails_too(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier, told: list[str]
) -> None:
    _put(store, make_effect("card"))
    _put(store, make_effect("card:2", kind="update", ref="card"))
    slack.failures = [_failed("is_archived", is_final=True)]

    _run(sender, [0, 1])

    assert told == ["card: is_archived", "card:2: no_post: 'card' was never posted"]
    assert slack.updates == []


def test_a_final_failure_is_told_once_and_lets_the_next_message_pass(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier, told: list[str]
) -> None:
    _put(store, make_effect("a"), make_effect("b"))
    slack.failures = [_failed("not_in_channel", is_final=True)]

    _run(sender, [0, 1, 2, 60])

    assert told == ["a: not_in_channel"]
    assert slack.keys == ["b"]
    assert _row(store, "a").state == "failed"


def test_what_slack_asks_to_wait_is_waited(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, make_effect("a"), make_effect("b", channel="C2"))
    slack.failures = [_failed("ratelimited", retry_after_s=30.0)]

    _run(sender, [0, 1, 29.9])
    assert slack.calls == 1
    _run(sender, [30])

    assert slack.keys == ["a", "b"]


def test_a_failure_that_passes_is_tried_again_after_a_doubling_wait(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, make_effect())
    slack.failures = [_failed("unreachable") for _ in range(3)]

    calls = []
    for after in (0, 0.9, 1, 2.9, 3, 6.9, 7):
        sender.run_once(NOW + seconds(after))
        calls.append(slack.calls)

    assert calls == [1, 1, 2, 2, 3, 3, 4]
    assert slack.keys == ["card-1"]


def test_a_refused_token_keeps_every_message_and_is_told_once(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier, told: list[str]
) -> None:
    _put(store, make_effect("a"), make_effect("b", channel="C2"))
    slack.failures = [_failed("token_revoked", is_final=True) for _ in range(3)]

    _run(sender, [0, 1, 60, 120, 180, 181])

    assert told == ["a: token_revoked"]
    assert sorted(slack.keys) == ["a", "b"]


def test_an_effect_too_old_to_matter_is_given_up(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier, told: list[str]
) -> None:
    _put(store, make_effect(), now=NOW - timedelta(hours=25))

    sender.run_once(NOW)

    assert slack.calls == 0
    assert told == ["card-1: gave_up: it is too old to be worth making"]


# ---------------------------------------------------------------- doubt and death


def test_an_answer_that_was_lost_is_looked_for_and_not_sent_again(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, make_effect())
    slack.losses = [_failed("unreachable", may_have_happened=True)]

    _run(sender, [0, 10, LEASE.total_seconds() + 1])

    assert slack.keys == ["card-1"]
    assert slack.looks == 1
    assert _row(store).state == "sent"


def test_a_request_that_never_arrived_is_sent_after_looking(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, make_effect())
    slack.failures = [_failed("unreachable", may_have_happened=True)]

    _run(sender, [0, 10, LEASE.total_seconds() + 1])

    assert (slack.looks, slack.keys) == (1, ["card-1"])


def test_while_history_cannot_be_read_nothing_is_sent_again(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier
) -> None:
    _put(store, make_effect())
    slack.losses = [_failed("unreachable", may_have_happened=True)]
    slack.look_failures = [_failed("unreachable"), _failed("history_too_long")]
    lease = LEASE.total_seconds() + 1

    _run(sender, [0, lease, 2 * lease])
    assert (slack.calls, _row(store).state) == (1, "sending")
    _run(sender, [3 * lease])

    assert slack.keys == ["card-1"]
    assert _row(store).state == "sent"


def test_where_history_may_never_be_read_the_effect_fails_and_is_told(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier, told: list[str]
) -> None:
    _put(store, make_effect())
    slack.losses = [_failed("unreachable", may_have_happened=True)]
    slack.look_failures = [_failed("missing_scope", is_final=True)]

    _run(sender, [0, LEASE.total_seconds() + 1, 600])

    assert slack.keys == ["card-1"]
    assert told == ["card-1: missing_scope: cannot look whether it is there"]


def test_an_ephemeral_message_in_doubt_is_not_shown_twice(
    store: SqlStore, sender: OutboxSender, slack: FakeNotifier, told: list[str]
) -> None:
    _put(store, make_effect(kind="ephemeral", user="U1"))
    slack.losses = [_failed("unreachable", may_have_happened=True)]

    _run(sender, [0, 1000])

    assert len(slack.ephemerals) == 1
    assert told == ["card-1: unreachable: it may have been shown"]


@pytest.mark.parametrize("before_the_post", [True, False])
def test_a_death_between_mark_and_settlement_posts_once_40_times_over(
    store: SqlStore, slack: FakeNotifier, *, before_the_post: bool
) -> None:
    for number in range(20):
        _put(store, make_effect(f"k{number}", channel=f"C{number}"))
        dying = OutboxSender(store, slack, worker=f"dead-{number}")
        (slack.failures if before_the_post else slack.losses).append(KilledError())
        with pytest.raises(KilledError):
            dying.run_once(NOW)

    reborn = OutboxSender(store, slack, worker="reborn", alone=True)
    _run(reborn, [1, 2, 3])

    assert sorted(slack.keys) == sorted(f"k{number}" for number in range(20))
    with store.read() as unit:
        assert unit.outbox.depth() == {"sent": 20}


def test_beside_other_workers_a_claim_is_only_looked_after_when_it_lapsed(
    store: SqlStore, slack: FakeNotifier
) -> None:
    _put(store, make_effect())
    slack.losses = [KilledError()]
    with pytest.raises(KilledError):
        OutboxSender(store, slack, worker="dead").run_once(NOW)

    other = OutboxSender(store, slack, worker="w2")
    _run(other, [1, LEASE.total_seconds() - 1])
    assert slack.looks == 0
    _run(other, [LEASE.total_seconds() + 1])

    assert (slack.looks, slack.keys) == (1, ["card-1"])


def test_a_worker_that_lost_its_claim_changes_nothing(
    store: SqlStore, slack: FakeNotifier
) -> None:
    _put(store, make_effect())
    later = NOW + LEASE + seconds(1)

    def overtaken() -> None:
        slack.hook = lambda: None
        with store.write() as unit:
            (row,) = unit.outbox.stranded(later, worker="w2", now=later)
            unit.outbox.failed(row.row_id, error="x", now=later, attempt=row.attempts)

    slack.hook = overtaken
    assert OutboxSender(store, slack, worker="w1").run_once(NOW) == 0

    assert _row(store).state == "failed"


def test_the_thread_stops_when_told(store: SqlStore, slack: FakeNotifier) -> None:
    _put(store, make_effect())
    stop = Event()
    slack.hook = stop.set

    thread = OutboxSender(store, slack, worker="w1").start(stop, lambda: NOW)
    thread.join(timeout=10)

    assert not thread.is_alive()
    assert slack.keys == ["card-1"]


def test_a_failure_of_the_run_is_survived(store: SqlStore, slack: FakeNotifier) -> None:
    _put(store, make_effect(), make_effect("b", channel="C2"))
    stop = Event()
    slack.failures = [RuntimeError("broken")]
    calls = []

    def hook() -> None:
        calls.append(1)
        if len(calls) == 2:
            stop.set()

    slack.hook = hook
    OutboxSender(store, slack, worker="w1").run_until(stop, lambda: NOW, 0.0)

    assert slack.keys == ["b"]
