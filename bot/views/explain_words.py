"""The lines of an explanation in words, for the terminal and Slack alike; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import singledispatch

from billing.core.charges import BUCKET_PREFIX
from billing.core.money import Money, total
from bot.views.cost import BUCKETS
from bot.views.explain_values import (
    HOURS,
    ChargeLine,
    Explanation,
    Line,
    RunningNow,
    RunningTime,
    TransferLine,
)
from bot.views.reconciliation import score_line
from bot.views.words import days_of, plural

#: Rules of attribution as a sentence says them.
RULES = {
    "placement": "the scheduler's placements",
    "tag": "the resource's job tag",
    "idle": "time that no job held",
    "parent": "what the resource is attached to",
    "assignment": "what a person confirmed",
    "mapping": "a mapping rule of the configuration",
    "shared": "a rule for shared cost",
    "prepaid": "the price of its hours",
    "commitment": "commitments that were paid and not used",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which lines are shown: ``limit`` of them from ``offset`` on; None for all."""

    offset: int = 0
    limit: int | None = None

    def of(self, lines: Sequence[Line]) -> Sequence[Line]:
        """Return the lines of the page."""
        end = None if self.limit is None else self.offset + self.limit
        return lines[self.offset : end]

    def left(self, lines: Sequence[Line]) -> Sequence[Line]:
        """Return the lines after the page."""
        return () if self.limit is None else lines[self.offset + self.limit :]


def left_over(lines: Sequence[Line], currency: str) -> str:
    """Say how many lines are not shown and what they sum to; "" when none."""
    if not lines:
        return ""
    amount = total((line.amount for line in lines), currency)
    return f"and {plural(len(lines), 'more line')}, {amount} together"


def key_label(key: str) -> str:
    """Return a job, or what a bucket holds, for people."""
    if key == HOURS:
        return HOURS
    bucket = key.removeprefix(BUCKET_PREFIX)
    return f"({BUCKETS.get(bucket, bucket)})" if bucket != key else key


def headline(explained: Explanation) -> str:
    """Return the figure in one line: what it is, how much, and of which days."""
    least = "at least " if explained.unknown else ""
    per = "/h" if explained.per_hour else ""
    if explained.total is None:
        return "unknown: a price is missing"
    return f"{least}{explained.total}{per}"


def quantity_text(quantity: Decimal, unit: str) -> str:
    """Return a quantity with its unit.

    >>> quantity_text(Decimal("84"), "Hrs"), quantity_text(Decimal("1234.5678"), "")
    ('84 Hrs', '1,234.568')
    """
    text = f"{quantity:,.3f}".rstrip("0").rstrip(".")
    return f"{text} {unit}".strip()


def unit_text(price: Decimal, currency: str, unit: str) -> str:
    """Return a price per unit with as many digits as it needs.

    >>> unit_text(Decimal("55.040000"), "USD", "Hrs"), unit_text(Decimal("0.00011"), "USD", "")
    ('$55.04 per Hrs', '$0.00011')
    """
    sign = "-" if price < 0 else ""
    symbol = str(Money(0, currency)).removesuffix("0.00")
    shown = f"{abs(price):,.6f}".rstrip("0")
    whole, _, part = shown.partition(".")
    return f"{sign}{symbol}{whole}.{part:<02}" + (f" per {unit}" if unit else "")


def span_text(since: date, until: date, days: int) -> str:
    """Return the days of a line: a span, and how many when some are missing.

    >>> span_text(date(2026, 11, 25), date(2026, 11, 27), 2)
    '25 to 26 Nov 2026'
    """
    shown = days_of(since, until)
    return shown if (until - since).days == days else f"{shown}, {plural(days, 'day')}"


@singledispatch
def line_what(line: Line) -> str:
    """Return what a line is, in short."""
    raise NotImplementedError(line)


@line_what.register
def _(line: ChargeLine) -> str:
    return line.usage_type or line.service or line.record_type


@line_what.register
def _(line: TransferLine) -> str:
    way = "from" if line.amount.nanos >= 0 else "to"
    what = f" ({line.usage_type})" if line.usage_type else ""
    return f"{way} {key_label(line.other)}{what}"


@line_what.register
def _(line: RunningTime) -> str:
    return line.formula


@line_what.register
def _(line: RunningNow) -> str:
    return line.formula


@singledispatch
def line_why(line: Line, currency: str) -> str:
    """Return how the amount of a line came about: quantity, price, rule, source."""
    raise NotImplementedError(line)


@line_why.register
def _(line: ChargeLine, currency: str) -> str:
    parts = []
    if line.quantity is not None and line.unit_price is not None:
        price = unit_text(line.unit_price, currency, "")
        parts.append(f"{quantity_text(line.quantity, line.unit)} x {price}")
    if line.list_cost is not None:
        parts.append(f"list {line.list_cost}")
    if line.billed != line.effective:
        parts.append(f"billed {line.billed}, effective {line.effective}")
    if line.record_type != "Usage":
        parts.append(line.record_type)
    parts.append(span_text(line.since, line.until, line.days))
    return ", ".join(parts)


@line_why.register
def _(line: TransferLine, currency: str) -> str:
    del currency
    rule = f"by {RULES.get(line.rule, line.rule)}"
    parts = [
        rule,
        line.evidence.rstrip(": "),
        line.basis if line.basis == "allocated" else "",
    ]
    parts.append(span_text(line.since, line.until, line.days))
    return ", ".join(part for part in parts if part)


@line_why.register
def _(line: RunningTime, currency: str) -> str:
    del currency
    bought = "" if line.category == "storage" else line.purchase
    parts = [bought, _price_text(line)]
    if line.list_rate is not None:
        parts.append(f"list {line.list_rate}")
    parts += [line.basis, span_text(line.since, line.until, line.days)]
    return ", ".join(part for part in parts if part)


@line_why.register
def _(line: RunningNow, currency: str) -> str:
    del currency
    parts = [line.purchase, _price_text(line)]
    return ", ".join(part for part in parts if part)


def _price_text(line: RunningTime | RunningNow) -> str:
    if not line.price_source:
        return ""
    text = line.price_source
    if line.price_as_of is not None:
        text = f"{text} of {days_of(line.price_as_of.date(), line.price_as_of.date())}"
    if isinstance(line, RunningTime) and line.prices > 1:
        text = f"{text} ({plural(line.prices, 'price')})"
    return text


def sections_of(
    lines: Sequence[Line], explained: Explanation
) -> list[tuple[str, list[Line]]]:
    """Return lines under what they have in common, in their order."""
    headings = {
        "billed": f"billed by AWS ({through_text(explained)})",
        "moved": "moved by a rule",
        "so far": "provisional: the bill so far of days that are not complete",
        "running": "provisional: running time x price",
        "now": "running now",
    }
    found: dict[str, list[Line]] = {key: [] for key in headings}
    for line in lines:
        found[_kind(line)].append(line)
    return [(headings[key], held) for key, held in found.items() if held]


def _kind(line: Line) -> str:
    if isinstance(line, ChargeLine):
        return "so far" if line.is_open else "billed"
    kinds = {TransferLine: "moved", RunningTime: "running", RunningNow: "now"}
    return kinds[type(line)]


def where_text(line: Line, explained: Explanation) -> str:
    """Return the region of a line, and its account where there are several."""
    accounts = {
        one.account for one in explained.lines if not isinstance(one, RunningNow)
    }
    is_told = len(accounts) > 1 and not isinstance(line, RunningNow)
    account = getattr(line, "account", "") if is_told else ""
    return " ".join(part for part in (account, line.region) if part)


def through_text(explained: Explanation) -> str:
    """Say until when each account's bill is complete."""
    ends = sorted(set(explained.billed_through.values()))
    if not ends:
        return "no complete billing day yet"
    first, last = _last_day(ends[0]), _last_day(ends[-1])
    if first == last:
        return f"complete through {first}"
    return f"complete through {first} to {last}, by account"


def _last_day(end: datetime) -> str:
    day = (end - timedelta(microseconds=1)).date()
    return days_of(day, day)


def accuracy_text(explained: Explanation) -> str:
    """Say how far off provisional cost was lately; "" where nothing tells."""
    found = explained.accuracy
    if found is None or not found.job_days:
        return ""
    return f"provisional compute of the last 30 days: {score_line(found)}"
