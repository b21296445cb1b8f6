"""When scheduled work is due: slots in time, computed purely.

A slot is the instant a run was meant for. Missed slots are caught up by one run
labelled with the newest of them; a slot is never earlier than the one before. Local
times follow the wall clock once a day: an hour that a clock change repeats counts
once, one that it skips moves forward by the change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from billing.core.periods import DAY

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Monday is 0, as in Python's own ``date.weekday``.
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Schedule(Protocol):
    """Something that names the newest slot at or before an instant."""

    def slot_at(self, now: datetime) -> datetime:
        """Return the newest slot that is not later than ``now``."""

    def next_after(self, now: datetime) -> datetime:
        """Return the first slot that is later than ``now``."""


@dataclass(frozen=True, slots=True)
class Every:
    """Slots at whole multiples of an interval since 1970 (UTC)."""

    interval: timedelta

    def slot_at(self, now: datetime) -> datetime:
        """Return the newest slot that is not later than ``now``."""
        return _EPOCH + (now - _EPOCH) // self.interval * self.interval

    def next_after(self, now: datetime) -> datetime:
        """Return the first slot that is later than ``now``."""
        return self.slot_at(now) + self.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """Slots at a local time of the days that a rule picks.

    Attributes:
        every: ``day``, ``week`` (on ``weekday``) or ``month`` (on its first day).
        weekday: Monday is 0.
    """

    every: str
    at: time
    zone: ZoneInfo
    weekday: int = 0

    def _holds(self, day: date) -> bool:
        if self.every == "day":
            return True
        if self.every == "week":
            return day.weekday() == self.weekday
        return day.day == 1

    def _instant(self, day: date) -> datetime:
        # fold=0: a repeated hour counts at its first pass; a skipped one is read
        # with the offset before the change, which moves it forward by the change.
        return datetime.combine(day, self.at, tzinfo=self.zone).astimezone(UTC)

    def slot_at(self, now: datetime) -> datetime:
        """Return the newest slot that is not later than ``now``."""
        today = now.astimezone(self.zone).date()
        days = _days(today + DAY, lambda day: day - DAY)
        return next(
            slot
            for slot in (self._instant(day) for day in days if self._holds(day))
            if slot <= now
        )

    def next_after(self, now: datetime) -> datetime:
        """Return the first slot that is later than ``now``."""
        today = now.astimezone(self.zone).date()
        days = _days(today - DAY, lambda day: day + DAY)
        return next(
            slot
            for slot in (self._instant(day) for day in days if self._holds(day))
            if slot > now
        )


def _days(start: date, step: Callable[[date], date]) -> Iterator[date]:
    day = start
    while True:
        yield day
        day = step(day)


def due(schedule: Schedule, last: datetime | None, now: datetime) -> datetime | None:
    """Return the slot to run now, or None.

    ``last`` is the newest slot that was run (or taken as the start). However many were
    missed since, one run is due, for the newest.
    """
    slot = schedule.slot_at(now)
    return slot if last is None or slot > last else None
