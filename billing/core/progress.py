"""What a job got done: its reported counters over time, restarts and lost work.

A counter (steps, tokens, samples) only grows while a job runs. Where it falls, the job
was resumed from an earlier state and the difference was lost. What happened between two
reports that lie far apart is unknown. Pure; knows no store and no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from statistics import median_low

from billing.core.periods import Period

#: Reports this many times farther apart than usual leave a gap …
GAP_FACTOR = 3
#: … if they are also farther apart than this.
GAP_LEAST = timedelta(minutes=10)
#: What a column of the ledger holds.
COUNT_MAX = 2**63 - 1

_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1) // _MICROSECOND


class Counter(StrEnum):
    """What jobs count."""

    STEPS = "steps"
    TOKENS = "tokens"
    SAMPLES = "samples"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressReport:
    """How far one counter of a job was at one instant.

    Attributes:
        value: Counted since the job began, over all its attempts.
        attempt: Number of the start, as the job tells it; None when it does not. Within
            one attempt a smaller value is a late report, not a restart.
    """

    counter: Counter
    at: datetime
    value: int
    attempt: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """One place where a counter fell.

    Attributes:
        lost: Work that had to be done again.
        lost_time: When the lost work was done, by the reports around it.
        resumed_at: First report afterwards.
    """

    lost: int
    lost_time: Period
    resumed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What the reports of one counter say together.

    Attributes:
        useful: Work that counts in the end: last value less where the counter began.
        lost: Work that was done again after restarts.
        begins_at: Where the counter began: 0 when it was reported from the start.
        seen: Work done between reports that lie close together …
        seen_time: … and the time that took.
        gaps: Spans without reports; what happened in them is unknown.
    """

    counter: Counter
    first_at: datetime
    last_at: datetime
    last_value: int
    begins_at: int
    useful: int
    lost: int
    seen: int
    seen_time: timedelta
    restarts: tuple[Restart, ...] = ()
    gaps: tuple[Period, ...] = ()

    @property
    def per_hour(self) -> Fraction | None:
        """Return the rate while it was reported; None when no time is covered."""
        micros = self.seen_time // _MICROSECOND
        return Fraction(self.seen * _HOUR, micros) if micros else None


def progress_of(reports: Iterable[ProgressReport]) -> Progress | None:
    """Put the reports of one counter together; None when there are none."""
    known = _monotone(sorted(reports, key=lambda one: one.at))
    if not known:
        return None
    restarts = _restarts(known)
    gaps = _gaps(known)
    seen, seen_time = _seen(known, gaps)
    begins = min(one.value for one in known)
    lost = sum(one.lost for one in restarts)
    return Progress(
        counter=known[0].counter,
        first_at=known[0].at,
        last_at=known[-1].at,
        last_value=known[-1].value,
        begins_at=begins,
        useful=known[-1].value - begins,
        lost=lost,
        seen=seen,
        seen_time=seen_time,
        restarts=tuple(restarts),
        gaps=tuple(gaps),
    )


def _monotone(reports: Sequence[ProgressReport]) -> list[ProgressReport]:
    """Leave out reports that came late within their attempt."""
    kept: list[ProgressReport] = []
    for one in reports:
        last = kept[-1] if kept else None
        is_late = (
            last is not None
            and one.attempt is not None
            and last.attempt is not None
            and one.attempt <= last.attempt
            and one.value < last.value
        )
        if not is_late:
            kept.append(one)
    return kept


def _restarts(reports: Sequence[ProgressReport]) -> list[Restart]:
    return [
        Restart(
            lost=before.value - after.value,
            lost_time=Period(_passed(reports[: number + 1], after.value), before.at),
            resumed_at=after.at,
        )
        for number, (before, after) in enumerate(pairwise(reports))
        if after.value < before.value
    ]


def _passed(reports: Sequence[ProgressReport], value: int) -> datetime:
    """Return when a growing counter last passed a value, on a line between reports."""
    for number in range(len(reports) - 1, 0, -1):
        low, high = reports[number - 1], reports[number]
        if low.value <= value < high.value:
            part = Fraction(value - low.value, high.value - low.value)
            micros = (high.at - low.at) // _MICROSECOND
            return low.at + timedelta(microseconds=round(micros * part))
        if low.value > high.value:
            # The counter fell here: what was counted before is another story.
            return high.at
    return reports[0].at


def _gaps(reports: Sequence[ProgressReport]) -> list[Period]:
    """Return spans without reports: restarts, and far longer than usual."""
    spans = [after.at - before.at for before, after in pairwise(reports)]
    usual = median_low([span for span in spans if span] or [timedelta(0)])
    longest = max(GAP_LEAST, usual * GAP_FACTOR)
    return [
        Period(before.at, after.at)
        for before, after in pairwise(reports)
        if after.value < before.value or after.at - before.at > longest
    ]


def _seen(
    reports: Sequence[ProgressReport], gaps: Sequence[Period]
) -> tuple[int, timedelta]:
    """Return the work done outside of gaps, and how long it took."""
    unseen = {gap.start for gap in gaps if gap.duration}
    pairs = [
        (before, after)
        for before, after in pairwise(reports)
        if before.at not in unseen
    ]
    units = sum(max(after.value - before.value, 0) for before, after in pairs)
    spent = sum((after.at - before.at for before, after in pairs), timedelta())
    return units, spent
