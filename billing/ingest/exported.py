"""Days that exports hold, as Cost Explorer's import sees them. Pure.

They are not read again, but the totals that were asked for anyway tell whether the
export and Cost Explorer agree on months that are over.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from billing.core.charges import DayControl
from billing.core.money import Money, total
from billing.core.periods import days_between, month_start, next_month
from billing.ports import StoredDay

#: A closed month of an export and of Cost Explorer may differ by less than this.
APART_MAX_NANOS = Money.of("1").nanos


def without_exported(
    controls: Sequence[DayControl], exported: Sequence[StoredDay]
) -> list[DayControl]:
    """Return the controls of days that no export holds."""
    held = {(day.account, day.day) for day in exported}
    return [one for one in controls if (one.account, one.day) not in held]


def export_differences(
    controls: Sequence[DayControl], exported: Sequence[StoredDay]
) -> tuple[str, ...]:
    """Name whole, final months of an account that differ by a dollar or more."""
    theirs = {(one.account, one.day): one for one in controls}
    months: dict[tuple[str, date], list[StoredDay]] = {}
    for day in exported:
        months.setdefault((day.account, month_start(day.day)), []).append(day)
    notes = []
    for (account, month), days in sorted(months.items()):
        answers = [theirs.get((account, day.day)) for day in days]
        known = [one for one in answers if one is not None and not one.is_estimated]
        whole = len(list(days_between(month, next_month(month))))
        if not len(days) == len(known) == whole:
            continue
        currency = days[0].billed.currency
        ours = total((day.billed for day in days), currency)
        asked = total((one.billed for one in known), currency)
        if abs((ours - asked).nanos) >= APART_MAX_NANOS:
            notes.append(
                f"account {account} {month:%Y-%m}: the export bills {ours}, Cost"
                f" Explorer {asked}; the export's figures are shown"
            )
    return tuple(notes)
