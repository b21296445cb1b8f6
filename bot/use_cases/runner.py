"""Run scheduled work once per slot, whichever replica comes first.

Claims are rows, so a restart or a second replica neither repeats nor loses a slot;
knows nothing of what a task does or of who ticks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.ports import Store
from bot.use_cases.due import Schedule, due


class TaskStoppedError(Exception):
    """The process is stopping in the middle of a task; its slot is to run again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One line of the schedule.

    Attributes:
        run: Does the work of one slot; an exception marks the slot as failed, but
            ``TaskStoppedError`` gives it back.
        lease_s: After this long without an end, another replica may take the slot.
        catches_up_first: True when the very first start should run at once (data); False
            when it must wait for its next slot (digests).
        retry_s: A failed slot is tried again after this long, until a newer one is due;
            0: it waits for the next slot.
    """

    name: str
    schedule: Schedule
    run: Callable[[datetime], None]
    lease_s: int = 900
    catches_up_first: bool = True
    retry_s: int = 0


def run_due(
    task: Task, store: Store, *, now: datetime, system_now: datetime, owner: str
) -> datetime | None:
    """Run a task's newest missed slot, if one is due and nobody else has it.

    Returns the slot that ran; None when nothing was due or the claim was lost.
    """
    with store.read() as unit:
        last = unit.slots.last_done(task.name)
    if last is None and not task.catches_up_first:
        _take_as_start(task, store, now=now, system_now=system_now, owner=owner)
        return None
    slot = due(task.schedule, last, now)
    if slot is None:
        return None
    with store.write() as unit:
        claimed = unit.slots.claim(
            task.name, slot, owner=owner, now=system_now, lease_s=task.lease_s
        )
    if not claimed:
        return None
    _Run(task=task, store=store, slot=slot, owner=owner, at=system_now).work()
    return slot


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One claimed slot."""

    task: Task
    store: Store
    slot: datetime
    owner: str
    at: datetime

    def work(self) -> None:
        try:
            self.task.run(self.slot)
        except TaskStoppedError:
            self._give_back()
            raise
        except Exception as failure:
            if self.task.retry_s:
                self._give_back(self.task.retry_s)
            else:
                self._finish(f"{type(failure).__name__}: {failure}")
            raise
        self._finish("")

    def _finish(self, error: str) -> None:
        with self.store.write() as unit:
            unit.slots.finish(
                self.task.name, self.slot, owner=self.owner, now=self.at, error=error
            )

    def _give_back(self, after_s: int = 0) -> None:
        """Leave the slot undone: whoever comes after that time may have it."""
        with self.store.write() as unit:
            unit.slots.renew(
                self.task.name,
                self.slot,
                owner=self.owner,
                now=self.at,
                lease_s=after_s,
            )


def _take_as_start(
    task: Task, store: Store, *, now: datetime, system_now: datetime, owner: str
) -> None:
    """Note the newest past slot as done, so that the next one is the first to run."""
    slot = task.schedule.slot_at(now)
    with store.write() as unit:
        if unit.slots.claim(
            task.name, slot, owner=owner, now=system_now, lease_s=task.lease_s
        ):
            unit.slots.finish(task.name, slot, owner=owner, now=system_now)
