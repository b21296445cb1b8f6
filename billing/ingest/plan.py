"""Which days of which account must be read in detail, and as which ranges.

Pure. A day is read when its control moved, when it was never stored, when the tag keys
that count have changed since, and everything once a week: a backfill of tags moves no
total.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from billing.core.charges import DayControl
from billing.core.periods import DAY
from billing.ports import StoredDay, TagKeyStatus

FULL_READ_EVERY = timedelta(days=7)
#: Unmoved days that are read along rather than split a range: a page of them costs
#: less than another question.
BRIDGED_DAYS_MAX = 3

_TAGS = "|tags:"

#: day -> control of one account
Controls = Mapping[date, DayControl]


def by_account(controls: Iterable[DayControl]) -> dict[str, dict[date, DayControl]]:
    """Return controls by account and day, accounts sorted."""
    found: dict[str, dict[date, DayControl]] = {}
    for control in sorted(controls, key=lambda one: (one.account, one.day)):
        found.setdefault(control.account, {})[control.day] = control
    return found


def tags_text(statuses: Sequence[TagKeyStatus]) -> str:
    """Return what is true of the tag keys as a text that changes when they do."""
    return ",".join(
        f"{one.key}={one.state}@{one.active_since or ''}" for one in statuses
    )


def marked(control: DayControl, tags: str) -> DayControl:
    """Return the control with the tag keys in its fingerprint, as it is stored."""
    return replace(control, fingerprint=f"{control.fingerprint}{_TAGS}{tags}")


def unmarked(fingerprint: str) -> str:
    """Return the source's part of a stored fingerprint.

    >>> unmarked("net|12.50|1|tags:job-id=active@")
    'net|12.50|1'
    """
    return fingerprint.partition(_TAGS)[0]


def moved_days(controls: Controls, stored: Mapping[date, StoredDay]) -> list[date]:
    """Return the days whose control is not the stored one, or that are not stored."""
    return [
        day
        for day, control in controls.items()
        if day not in stored or unmarked(stored[day].fingerprint) != control.fingerprint
    ]


def equal_controls(
    controls: Controls, stored: Mapping[date, StoredDay]
) -> list[DayControl]:
    """Return the controls of days that are stored as they are, marked as stored."""
    return [
        replace(control, fingerprint=stored[day].fingerprint)
        for day, control in controls.items()
        if day in stored and unmarked(stored[day].fingerprint) == control.fingerprint
    ]


def stored_by_account(days: Iterable[StoredDay]) -> dict[str, dict[date, StoredDay]]:
    """Return stored days by account and day."""
    found: dict[str, dict[date, StoredDay]] = {}
    for day in days:
        found.setdefault(day.account, {})[day.day] = day
    return found


def is_full_read_due(stored: Iterable[StoredDay], now: datetime) -> bool:
    """Tell whether some stored day was last read in detail a week ago or longer."""
    return any(now - day.read_at >= FULL_READ_EVERY for day in stored)


def days_to_read(
    controls: Controls, stored: Mapping[date, StoredDay], tags: str
) -> list[date]:
    """Return the days to read, in order: moved, new, or of other tag keys."""
    moved = {
        day
        for day, control in controls.items()
        if day not in stored
        or stored[day].fingerprint != marked(control, tags).fingerprint
    }
    return bridged(moved, set(controls))


def bridged(days: Iterable[date], known: set[date]) -> list[date]:
    """Return the days with short gaps between them filled by known days."""
    found: list[date] = []
    for day in sorted(days):
        if found and (day - found[-1]).days - 1 <= BRIDGED_DAYS_MAX:
            gap = [found[-1] + DAY * n for n in range(1, (day - found[-1]).days)]
            found += gap if known.issuperset(gap) else []
        found.append(day)
    return found


def ranges(days: Sequence[date]) -> list[tuple[date, date]]:
    """Return days in order as half-open ranges without gaps.

    >>> [(a.day, b.day) for a, b in ranges([date(2026, 3, n) for n in (1, 2, 5)])]
    [(1, 3), (5, 6)]
    """
    found: list[tuple[date, date]] = []
    for day in days:
        if found and found[-1][1] == day:
            found[-1] = (found[-1][0], day + DAY)
        else:
            found.append((day, day + DAY))
    return found
