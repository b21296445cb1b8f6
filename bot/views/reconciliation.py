"""How well provisional cost met the bill: as a document, for a terminal, for Slack; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Protocol

from billing.core.charges import BUCKET_PREFIX
from billing.core.money import Money
from billing.core.reconciliation import JobDay, Reason, Score
from bot.views.answers import Message
from bot.views.blocks import columns, context, header, section
from bot.views.documents import Document, money
from bot.views.limits import fit_one
from bot.views.terminal import table
from bot.views.text import fallback, name
from bot.views.words import amount, days_of, plural, short_day

#: Rows of a message; the command line shows them all.
ROWS_MAX = 12
_REASONS_SHOWN = 2
_PLACES = 4
#: Half a cent; below it a reason is only in the document.
_TOLD_NANOS = 5_000_000


class Reconciled(Protocol):
    """What there is to show."""

    @property
    def currency(self) -> str:
        """Return the ledger's currency."""

    @property
    def since(self) -> date:
        """Return the first day."""

    @property
    def until(self) -> date:
        """Return the day after the last."""

    @property
    def job(self) -> str:
        """Return the job asked for; "" for every one."""

    @property
    def days(self) -> Sequence[JobDay]:
        """Return jobs by day."""

    @property
    def judged(self) -> Score:
        """Return the errors of the window."""

    @property
    def judged_on_demand(self) -> Score:
        """Return the same of what is bought on demand."""

    @property
    def recent(self) -> Score:
        """Return the errors of the last 30 days."""

    @property
    def left_out(self) -> Sequence[tuple[str, Money]]:
        """Return buckets of the bill that running time has no part in."""


@dataclass(frozen=True, slots=True)
class _Row:
    """Sums of one job and day over accounts, for people."""

    day: date
    key: str
    billed: Money
    provisional: Money
    error: str
    judged: str
    why: str


def reconciliation_document(found: Reconciled) -> Document:
    """Return the document of `gpucost reconciliation`."""
    return {
        "currency": found.currency,
        "since": found.since.isoformat(),
        "until": found.until.isoformat(),
        "job": found.job or None,
        "error": score_document(found.judged),
        "error_on_demand": score_document(found.judged_on_demand),
        "error_last_30_days": score_document(found.recent),
        "days": [_day(one) for one in found.days],
        "left_out": [
            {"key": key, "total": money(total)} for key, total in found.left_out
        ],
    }


def score_document(one: Score) -> Document:
    """Return how far provisional cost was off, in percent."""
    return {
        "job_days": one.job_days,
        "median_percent": _percent_text(one.median),
        "worst_percent": _percent_text(one.worst),
        "overall_percent": _percent_text(one.overall),
    }


def _day(one: JobDay) -> Document:
    return {
        "day": one.day.isoformat(),
        "job": one.key,
        "account": one.account,
        "billed": money(one.billed),
        "provisional": money(one.provisional),
        "difference": money(one.difference),
        "compute_billed": money(one.compute[0]),
        "compute_provisional": money(one.compute[1]),
        "compute_error_percent": _percent_text(one.error),
        "complete": one.is_complete,
        "watched": one.is_watched,
        "reasons": [
            {"reason": reason.value, "amount": money(part)}
            for reason, part in one.reasons
        ],
    }


def _percent_text(share: Fraction | None) -> str | None:
    """Return a share as the plain text of a percentage, to four places.

    >>> _percent_text(Fraction(1, 300)), _percent_text(Fraction(-1, 4))
    ('0.3333', '-25')
    """
    if share is None:
        return None
    text = f"{float(round(share * 100, _PLACES)):.{_PLACES}f}"
    return text.rstrip("0").rstrip(".")


def percent(share: Fraction | None) -> str:
    """Return a share for people; a real one is never shown as none.

    >>> percent(Fraction(1, 300)), percent(Fraction(1, 10**6)), percent(Fraction(3, 10))
    ('0.33 %', '<0.01 %', '30 %')
    >>> percent(Fraction(0)), percent(None)
    ('0 %', 'not known')
    """
    if share is None:
        return "not known"
    hundredths = round(abs(share) * 10_000)
    if not hundredths:
        return "<0.01 %" if share else "0 %"
    sign = "-" if share < 0 else ""
    return f"{sign}{hundredths / 100:.2f}".rstrip("0").rstrip(".") + " %"


def score_line(one: Score) -> str:
    """Say how far provisional compute was from the bill."""
    if not one.job_days:
        return "no day of a job can be judged yet: none is billed and was watched whole"
    way = "above" if one.overall and one.overall > 0 else "below"
    together = (
        f"{percent(abs(one.overall))} {way} the bill"
        if one.overall
        else "equal to the bill"
    )
    count = plural(one.job_days, "day of a job", "days of jobs")
    return (
        f"half of {count} within {percent(one.median)}, the worst "
        f"{percent(one.worst)} off, together {together}"
    )


def reconciliation_text(found: Reconciled) -> str:
    """Return what `gpucost reconciliation` prints."""
    subject = found.job or "all jobs"
    days = days_of(found.since, found.until)
    parts = [
        f"{subject}: provisional cost against the bill, {days}",
        table(
            [
                ("this window", score_line(found.judged)),
                ("on demand only", score_line(found.judged_on_demand)),
                ("last 30 days", score_line(found.recent)),
            ]
        ),
    ]
    rows = _rows(found.days)
    if rows:
        heads = (
            *("day", "job", "billed", "provisional"),
            *("compute off by", "judged", "why"),
        )
        cells = [
            (
                one.day.isoformat(),
                one.key,
                str(one.billed),
                str(one.provisional),
                one.error,
                one.judged,
                one.why,
            )
            for one in rows
        ]
        parts.append(table([heads, *cells], right=frozenset({2, 3, 4})))
    else:
        parts.append("no day of this window is in the bill")
    if found.left_out:
        named = ", ".join(
            f"{key.removeprefix(BUCKET_PREFIX)} {total}"
            for key, total in found.left_out
        )
        parts.append(f"in the bill, never provisional: {named}")
    return "\n\n".join(parts)


def reconciliation_answer(found: Reconciled) -> Message:
    """Render it for Slack: the errors, and the days that are furthest apart."""
    subject = found.job or "all jobs"
    title = f"Provisional against billed: {subject}"
    rows = sorted(
        _rows(found.days), key=lambda one: -abs((one.billed - one.provisional).nanos)
    )
    shown = [
        (
            short_day(one.day),
            one.key,
            amount(one.billed),
            amount(one.provisional),
            one.error,
        )
        for one in rows[:ROWS_MAX]
    ]
    heads = ("day", "job", "billed", "provisional", "off by")
    left = len(rows) - len(shown)
    more = f" The {plural(left, 'other day')} differ less." if left > 0 else ""
    blocks = [
        header(title),
        section(
            f"*{days_of(found.since, found.until)}*: {score_line(found.judged)}.\n"
            f"*Last 30 days*: {score_line(found.recent)}."
        ),
        *([section(columns([heads, *shown], texts=2))] if shown else []),
        *([section(f"*Largest difference*\n{_largest(rows[0])}")] if rows else []),
        context(
            f"Compute is judged on days that are billed and were watched whole.{more}"
        ),
    ]
    return fit_one(Message(text=fallback(title, most=140), blocks=tuple(blocks)))


def _largest(row: _Row) -> str:
    return f"{name(row.key)} on {short_day(row.day)}: {row.why}"


def _rows(days: Sequence[JobDay]) -> list[_Row]:
    """Return one row of each job and day, whatever its accounts."""
    together: dict[tuple[date, str], list[JobDay]] = {}
    for one in days:
        together.setdefault((one.day, one.key), []).append(one)
    rows = [_row(*place, some) for place, some in sorted(together.items())]
    return [row for row in rows if _is_told(row.billed) or _is_told(row.provisional)]


def _is_told(part: Money) -> bool:
    return abs(part.nanos) >= _TOLD_NANOS


def _row(day: date, key: str, some: Sequence[JobDay]) -> _Row:
    billed, provisional = some[0].billed, some[0].provisional
    compute = some[0].compute
    for one in some[1:]:
        billed, provisional = billed + one.billed, provisional + one.provisional
        compute = (compute[0] + one.compute[0], compute[1] + one.compute[1])
    error = (
        percent(Fraction(compute[1].nanos - compute[0].nanos, compute[0].nanos))
        if compute[0].nanos > 0
        else ""
    )
    return _Row(
        day=day,
        key=key,
        billed=billed,
        provisional=provisional,
        error=error,
        judged=_judged(some),
        why=_why(some),
    )


def _why(some: Sequence[JobDay]) -> str:
    """Name the largest reasons with their amounts."""
    sums: dict[Reason, Money] = {}
    for one in some:
        for reason, part in one.reasons:
            sums[reason] = sums[reason] + part if reason in sums else part
    told = [one for one in sums.items() if _is_told(one[1])]
    ordered = sorted(told, key=lambda one: (-abs(one[1].nanos), one[0]))
    said = [
        f"{reason.value} {_signed(part)}" for reason, part in ordered[:_REASONS_SHOWN]
    ]
    left = len(ordered) - _REASONS_SHOWN
    if left > 0:
        said.append(f"{plural(left, 'more reason')}")
    return ", ".join(said) or "equal"


def _judged(some: Sequence[JobDay]) -> str:
    """Say whether a day counts for the errors, or what keeps it out."""
    if any(not one.is_complete for one in some):
        return "no: bill open"
    if any(not one.is_watched for one in some):
        return "no: not watched"
    return "yes" if any(one.error is not None for one in some) else "no: too small"


def _signed(part: Money) -> str:
    text = amount(part)
    return text if part.nanos < 0 else f"+{text}"
