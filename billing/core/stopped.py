"""Which share of volumes' time their instances were stopped; volumes are paid for all of it.

Volumes are weighed by size: what they cost is known only as a sum. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from billing.core.periods import DAY, Period, day_of, days_between, start_of

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """The time in which a run had a volume.

    Attributes:
        ours: Parts of it in which it hung on an instance of the run.
        ran: When that instance ran.
    """

    account: str
    size_gib: int
    period: Period
    ours: Sequence[Period]
    ran: Sequence[Period]


def stopped_shares(
    volumes: Iterable[Attached],
) -> Mapping[tuple[str, date], Fraction]:
    """Return the share of size and time, by account and day; days without are absent."""
    whole: dict[tuple[str, date], int] = {}
    stopped: dict[tuple[str, date], int] = {}
    for one in volumes:
        for day, part in _days(one.period):
            key = (one.account, day)
            whole[key] = whole.get(key, 0) + one.size_gib * _length(part)
            idle = sum(_stopped(part, ours, one.ran) for ours in one.ours)
            stopped[key] = stopped.get(key, 0) + one.size_gib * idle
    return {key: Fraction(idle, whole[key]) for key, idle in stopped.items() if idle}


def _stopped(part: Period, ours: Period, ran: Sequence[Period]) -> int:
    held = part.overlap(ours)
    if held is None:
        return 0
    busy = (shared for one in ran if (shared := held.overlap(one)) is not None)
    return max(_length(held) - sum(map(_length, busy)), 0)


def _days(period: Period) -> Iterable[tuple[date, Period]]:
    last = day_of(period.end) + DAY
    for day in days_between(day_of(period.start), last):
        part = period.overlap(Period(start_of(day), start_of(day + DAY)))
        if part is not None:
            yield day, part


def _length(period: Period) -> int:
    return (period.end - period.start) // _MICROSECOND
