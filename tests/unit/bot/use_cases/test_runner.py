"""Scheduled work: once per slot, whoever comes first; failures wait for the next."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier, Event
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from bot.schedule import Beat
from bot.use_cases.due import Calendar, Every
from bot.use_cases.runner import Task, run_due
from tests.builders import NOW, at

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.unit_of_work import SqlStore

HOUR = timedelta(hours=1)


def _task(
    run: Callable[[datetime], None],
    *,
    catches_up_first: bool = True,
    lease_s: int = 900,
) -> Task:
    return Task(
        name="ingest", schedule=Every(HOUR), run=run, lease_s=lease_s,
        catches_up_first=catches_up_first,
    )  # fmt: skip


def _run(
    task: Task, store: SqlStore, now: datetime = NOW, owner: str = "a"
) -> datetime | None:
    return run_due(task, store, now=now, system_now=now, owner=owner)


def test_a_slot_runs_once_and_the_next_one_an_hour_later(store: SqlStore) -> None:
    slots: list[datetime] = []
    task = _task(slots.append)

    for minutes in (0, 1, 59, 60, 61):
        _run(task, store, NOW + timedelta(minutes=minutes))

    assert slots == [NOW, NOW + HOUR]


def test_missed_slots_are_caught_up_once(store: SqlStore) -> None:
    # C118
    slots: list[datetime] = []
    task = _task(slots.append)
    _run(task, store)

    _run(task, store, NOW + timedelta(hours=5, minutes=20))
    _run(task, store, NOW + timedelta(hours=5, minutes=30))

    assert slots == [NOW, NOW + 5 * HOUR]


def test_two_replicas_run_a_slot_once(any_store: SqlStore) -> None:
    # C119
    runs: list[datetime] = []
    task = _task(runs.append)
    start = Barrier(4)

    def beat(owner: str) -> datetime | None:
        start.wait(10)
        return _run(task, any_store, owner=owner)

    with ThreadPoolExecutor(4) as pool:
        ran = list(pool.map(beat, "abcd"))

    assert runs == [NOW]
    assert sorted(one is not None for one in ran) == [False, False, False, True]


def test_another_replica_does_not_take_a_slot_under_way(store: SqlStore) -> None:
    inner: list[datetime | None] = []
    task = _task(lambda _slot: inner.append(_run(task, store, owner="b")))

    assert _run(task, store) == NOW
    assert inner == [None]


def test_a_lapsed_lease_is_taken_over(store: SqlStore) -> None:
    with store.write() as unit:
        unit.slots.claim("ingest", NOW, owner="dead", now=NOW, lease_s=60)
    slots: list[datetime] = []
    task = _task(slots.append, lease_s=60)

    early = _run(task, store, NOW + timedelta(seconds=59))
    late = _run(task, store, NOW + timedelta(seconds=61))

    assert (early, late) == (None, NOW)


def test_a_failure_is_recorded_and_the_next_slot_runs(store: SqlStore) -> None:
    calls: list[datetime] = []

    def fail_first(slot: datetime) -> None:
        calls.append(slot)
        if len(calls) == 1:
            message = "no route to host"
            raise OSError(message)

    task = _task(fail_first)
    with pytest.raises(OSError, match="no route"):
        _run(task, store)

    assert _run(task, store, NOW + timedelta(minutes=5)) is None
    assert _run(task, store, NOW + HOUR) == NOW + HOUR
    with store.database.read() as session:
        errors = session.execute(text("SELECT error FROM schedule_slot ORDER BY slot"))
        assert [one for (one,) in errors] == ["OSError: no route to host", ""]


def test_the_first_start_of_a_digest_waits_for_its_next_slot(store: SqlStore) -> None:
    sent: list[datetime] = []
    task = _task(sent.append, catches_up_first=False)

    _run(task, store, NOW + timedelta(minutes=10))
    _run(task, store, NOW + timedelta(minutes=20))
    assert sent == []

    _run(task, store, NOW + timedelta(minutes=61))
    assert sent == [NOW + HOUR]


def test_a_weekly_digest_missed_on_monday_is_sent_on_wednesday(store: SqlStore) -> None:
    # C118
    sent: list[datetime] = []
    weekly = Calendar(
        every="week", at=at("2026-11-02T09:00Z").time(), zone=ZoneInfo("Europe/Berlin")
    )
    task = Task(name="digest", schedule=weekly, run=sent.append, catches_up_first=False)
    _run(task, store, at("2026-11-20T12:00Z"))

    _run(task, store, at("2026-11-25T12:00Z"))
    _run(task, store, at("2026-11-25T13:00Z"))

    assert sent == [at("2026-11-23T08:00Z")]


def test_a_hung_task_does_not_hold_up_the_others(store: SqlStore) -> None:
    # C123
    released, ran = Event(), Event()

    def hang(_slot: datetime) -> None:
        released.wait(30)

    tasks = [
        Task(name="hangs", schedule=Every(HOUR), run=hang),
        Task(name="runs", schedule=Every(HOUR), run=lambda _slot: ran.set()),
    ]
    beat = Beat(tasks, store, lambda: NOW, "a")

    beat.start()
    try:
        assert ran.wait(20)
    finally:
        released.set()
        beat.stop()


def test_a_failing_task_does_not_end_the_beat(store: SqlStore) -> None:
    def fail(_slot: datetime) -> None:
        message = "broken"
        raise RuntimeError(message)

    beat = Beat([], store, lambda: NOW, "a")

    beat.beat(_task(fail))

    with store.read() as unit:
        assert unit.slots.last_done("ingest") == NOW
