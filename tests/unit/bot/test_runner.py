"""Running scheduled work once per slot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.unit_of_work import SqlStore
from bot.use_cases.due import Every
from bot.use_cases.runner import Task, TaskStoppedError, run_due
from tests.builders import NOW
from tests.builders_store import opened_store

HOUR = timedelta(hours=1)


@pytest.fixture
def store(sqlite_url: str) -> Iterator[SqlStore]:
    with opened_store(sqlite_url) as opened:
        yield opened


def run(store: SqlStore, task: Task, *, owner: str, at: datetime = NOW) -> bool:
    return run_due(task, store, now=NOW, system_now=at, owner=owner) is not None


def make_task(*failures: Exception) -> tuple[Task, list[datetime]]:
    """Return a task that fails in turn before it works, and the slots it was given."""
    left, ran = list(failures), []

    def work(slot: datetime) -> None:
        ran.append(slot)
        if left:
            raise left.pop(0)

    return Task(name="ingest", schedule=Every(HOUR), run=work), ran


def test_slot_runs_once_for_all_owners(store: SqlStore) -> None:
    task, ran = make_task()

    done = [run(store, task, owner=owner) for owner in ("one", "two", "one")]

    assert done == [True, False, False]
    assert len(ran) == 1


def test_failed_slot_is_not_run_again(store: SqlStore) -> None:
    task, ran = make_task(ValueError("broken"))

    with pytest.raises(ValueError, match="broken"):
        run(store, task, owner="one")

    assert not run(store, task, owner="two")
    assert len(ran) == 1


def test_failed_read_is_tried_again_before_its_next_slot(store: SqlStore) -> None:
    task, ran = make_task(ValueError("broken"))
    task = replace(task, retry_s=600)
    with pytest.raises(ValueError, match="broken"):
        run(store, task, owner="one")

    too_early = run(store, task, owner="one", at=NOW + timedelta(minutes=9))
    again = run(store, task, owner="two", at=NOW + timedelta(minutes=11))

    assert (too_early, again) == (False, True)
    assert ran[0] == ran[1]


def test_stopped_slot_is_given_back_at_once(store: SqlStore) -> None:
    task, ran = make_task(TaskStoppedError())

    with pytest.raises(TaskStoppedError):
        run(store, task, owner="one")

    assert run(store, task, owner="two")
    assert len(ran) == 2


def test_lost_slot_is_taken_over_after_its_lease(store: SqlStore) -> None:
    task, ran = make_task()
    with store.write() as unit:  # the owner died
        slot = task.schedule.slot_at(NOW)
        assert unit.slots.claim("ingest", slot, owner="dead", now=NOW, lease_s=60)

    early = run(store, task, owner="one", at=NOW + timedelta(seconds=59))
    late = run(store, task, owner="one", at=NOW + timedelta(seconds=60))

    assert (early, late) == (False, True)
    assert len(ran) == 1
