"""Rows of a file of placements: what a scheduler's report says, before hosts are known.

Bad lines are values with their number, all at once, beside the good ones. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from decimal import Decimal

from billing.core.attribution import normalise_job
from billing.core.periods import utc

LINE_CHARS_MAX = 65_536
ROWS_MAX = 1_000_000
JOB_CHARS_MAX = 200
#: What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRow:
    """One start of one job on some hosts.

    Attributes:
        line: Number in the file; the header is 1.
        hosts: Names or instance ids, each once.
        gpus: Accelerators on each host; None when not told (the whole host).
        external_id: The scheduler's id of the job.
    """

    line: int
    job: str
    external_id: str
    hosts: tuple[str, ...]
    started_at: datetime
    ended_at: datetime | None
    gpus: Decimal | None


@dataclass(frozen=True, slots=True, order=True)
class LineNote:
    """Something about one line of a file."""

    line: int
    reason: str


@dataclass(slots=True, kw_only=True)
class Parsed:
    """What a file holds.

    Attributes:
        skipped: Lines that say something that cannot be used.
        notes: Lines that were used, with what was assumed.
        ignored: How many lines are no allocation (steps, jobs that never started).
    """

    rows: list[PlacementRow] = field(default_factory=list)
    skipped: list[LineNote] = field(default_factory=list)
    notes: list[LineNote] = field(default_factory=list)
    ignored: int = 0


def numbered(
    lines: Iterable[str], skipped: list[LineNote]
) -> Iterator[tuple[int, str]]:
    """Yield the lines that can be read, with their numbers."""
    for number, raw in enumerate(lines, 1):
        text = raw.rstrip("\r\n")
        if number > ROWS_MAX:
            skipped.append(
                LineNote(number, f"a file of more than {ROWS_MAX} lines: cut here")
            )
            return
        if len(text) > LINE_CHARS_MAX:
            skipped.append(LineNote(number, "the line is too long"))
        elif any(ord(letter) < ord(" ") and letter != "\t" for letter in text):
            skipped.append(LineNote(number, "the line holds control characters"))
        elif "\ufffd" in text:
            skipped.append(LineNote(number, "the line is not UTF-8"))
        elif text.strip():
            yield number, text


def job_name(text: str) -> str:
    """Return a job id that can be used.

    Raises:
        ValueError: It is empty, too long, or what a spreadsheet takes for a formula.
    """
    job = normalise_job(text)
    if not job:
        raise ValueError("the job has no name")
    if len(job) > JOB_CHARS_MAX:
        raise ValueError(f"a job's name has at most {JOB_CHARS_MAX} letters")
    if job.startswith(_FORMULA):
        raise ValueError(f"the job's name looks like a formula: {job[:40]!r}")
    if job.startswith("bucket:"):
        raise ValueError("a job's name must not begin with 'bucket:'")
    return job


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A time of a file in UTC.

    Attributes:
        other: The second instant of an hour that the clock shows twice; else None.
    """

    at: datetime
    other: datetime | None = None


def read_time(text: str, zone: tzinfo) -> LocalTime:
    """Read a time; without an offset it is one of the zone.

    Raises:
        ValueError: It is no time, or the zone's clock never showed it.
    """
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError as error:
        message = f"expected a time such as 2026-11-10T12:00:00, got {text[:40]!r}"
        raise ValueError(message) from error
    if instant.tzinfo is not None:
        return LocalTime(utc(instant))
    first = utc(instant.replace(tzinfo=zone, fold=0))
    second = utc(instant.replace(tzinfo=zone, fold=1))
    if first == second:
        return LocalTime(first)
    if first.astimezone(zone).replace(tzinfo=None) != instant:
        raise ValueError(f"the clock never showed {text.strip()} in {zone}")
    return LocalTime(first, second)


def span_of(
    started: LocalTime, ended: LocalTime | None
) -> tuple[datetime, datetime | None, str]:
    """Return start and end, and what was assumed of hours that a clock shows twice.

    Raises:
        ValueError: It ends before it starts.
    """
    start, end = started.at, None if ended is None else ended.at
    if ended is not None and end is not None and end < start and ended.other:
        end = ended.other  # Only the second showing lies after the start.
    if end is not None and end < start:
        raise ValueError("it ends before it starts")
    is_double = started.other is not None or bool(ended and ended.other)
    note = "the clock showed this hour twice; the first is assumed where both fit"
    return start, end, note if is_double else ""
