"""What every journal must do with actions and with who confirmed a policy."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Thread
from typing import TYPE_CHECKING

import pytest

from policies.core.actions import Action, ActionState
from policies.core.finding import Subject, Target
from tests.builders import NOW

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

SOON = NOW + timedelta(minutes=5)


def make_action(name: str = "a-1", **changes: object) -> Action:
    action = Action(
        action_id=name,
        policy="stop-idle",
        policy_hash="abc",
        fingerprint="f-1",
        opened_at=NOW,
        verb="stop",
        subject=Subject(type="job", id="job-123"),
        job="job-123",
        targets=(
            Target(
                resource_id="i-1", account="012345678901", region="us-east-1",
                manager="ec2", lifecycle="on-demand", started_at=NOW,
            ),
        ),
        not_before=NOW,
        after=timedelta(minutes=15),
    )  # fmt: skip
    return replace(action, **changes)  # type: ignore[arg-type] # some keys


def test_an_action_is_stored_exactly_as_it_was_planned_and_once(
    store: SqlStore,
) -> None:
    with store.write() as unit:
        assert unit.journal.add_action(make_action(), NOW)
        assert not unit.journal.add_action(make_action(verb="terminate"), NOW)

    with store.read() as unit:
        (stored,) = unit.journal.live_actions()
    assert stored == make_action(planned_at=NOW)


@pytest.mark.parametrize("end", [ActionState.DONE, ActionState.FAILED])
def test_an_action_goes_from_waiting_over_acting_to_its_end(
    store: SqlStore, end: ActionState
) -> None:
    with store.write() as unit:
        unit.journal.add_action(make_action(), NOW)
        assert unit.journal.begin_action("a-1", now=NOW, lease_until=SOON)
        assert unit.journal.end_action("a-1", end, reason="so it was", now=SOON)

    with store.read() as unit:
        (stored,) = unit.journal.actions_of(["f-1"])
        assert unit.journal.live_actions() == []
    assert (stored.state, stored.reason, stored.ended_at) == (end, "so it was", SOON)


def test_a_final_action_never_moves_again(store: SqlStore) -> None:
    with store.write() as unit:
        unit.journal.add_action(make_action(), NOW)
        assert unit.journal.cancel_action("a-1", reason="over", now=NOW)

        assert not unit.journal.begin_action("a-1", now=NOW, lease_until=SOON)
        assert not unit.journal.end_action("a-1", ActionState.DONE, reason="", now=NOW)
        assert not unit.journal.cancel_action("a-1", reason="again", now=NOW)


def test_what_is_under_way_cannot_be_called_off(store: SqlStore) -> None:
    with store.write() as unit:
        unit.journal.add_action(make_action(), NOW)
        unit.journal.begin_action("a-1", now=NOW, lease_until=SOON)

        assert not unit.journal.cancel_action("a-1", reason="late", now=NOW)


def test_an_action_is_left_once_its_lease_has_ended(store: SqlStore) -> None:
    with store.write() as unit:
        unit.journal.add_action(make_action(), NOW)
        unit.journal.begin_action("a-1", now=NOW, lease_until=SOON)

        assert unit.journal.left_actions(SOON) == []
        left = unit.journal.left_actions(SOON + timedelta(seconds=1))
    assert [one.action_id for one in left] == ["a-1"]


def test_of_many_who_begin_at_once_one_does(store: SqlStore) -> None:
    with store.write() as unit:
        unit.journal.add_action(make_action(), NOW)
    won: list[bool] = []
    together = Barrier(6)

    def begin() -> None:
        together.wait()
        with store.write() as unit:
            won.append(unit.journal.begin_action("a-1", now=NOW, lease_until=SOON))

    threads = [Thread(target=begin) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert sorted(won) == [False] * 5 + [True]


def test_a_confirmation_counts_once_for_each_person_and_wording(
    store: SqlStore,
) -> None:
    with store.write() as unit:
        confirm = unit.journal.confirm_policy
        assert confirm("stop-idle", "abc", by="p-ada", now=NOW)
        assert not confirm("stop-idle", "abc", by="p-ada", now=SOON)
        assert confirm("stop-idle", "abc", by="p-bob", now=SOON)
        assert confirm("stop-idle", "def", by="p-ada", now=SOON)

        assert unit.journal.confirmed_by("stop-idle", "abc") == ["p-ada", "p-bob"]
        assert unit.journal.confirmed_by("stop-idle", "def") == ["p-ada"]
        assert unit.journal.confirmed_by("other", "abc") == []
