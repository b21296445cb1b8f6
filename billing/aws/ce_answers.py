"""What Cost Explorer's answers say, taken member by member; nothing is guessed.

Pure: no calls. A member that a whole answer always has must be there (KeyError or
ValueError), so that a cut answer is never read as a smaller bill.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from billing.core.money import MixedCurrencyError, Money, nanos_from_text
from billing.core.periods import days_between

#: Unit of a cost of nothing in an account that has no currency yet.
_NO_UNIT = "N/A"

Amounts = Mapping[str, Mapping[str, str]]


@dataclass(slots=True)
class CurrencySeen:
    """The one currency of an answer, found in its amounts."""

    code: str = ""

    def see(self, unit: str, nanos: int) -> None:
        """Take the unit of one amount; a second currency is refused."""
        if unit == self.code or (unit == _NO_UNIT and nanos == 0):
            return
        if self.code:
            raise MixedCurrencyError(self.code, unit)
        self.code = unit


@dataclass(slots=True)
class DaySums:
    """Billed and effective nano-units by day; tells what two questions disagree on."""

    sums: dict[date, tuple[int, int]] = field(default_factory=dict)

    def add(self, day: date, billed: int, effective: int) -> None:
        """Add one amount to a day."""
        before = self.sums.get(day, (0, 0))
        self.sums[day] = (before[0] + billed, before[1] + effective)

    def differs_on(self, other: DaySums, tolerance: int) -> date | None:
        """Return the first day on which the other is off by the tolerance or more."""
        for day in sorted({*self.sums, *other.sums}):
            mine, theirs = self.sums.get(day, (0, 0)), other.sums.get(day, (0, 0))
            pairs = zip(mine, theirs, strict=True)
            if any(abs(one - two) >= tolerance for one, two in pairs):
                return day
        return None


def periods_of(answer: Mapping[str, Any]) -> Iterator[tuple[date, Mapping[str, Any]]]:
    """Yield each billing day of one page with what the page says of it."""
    for result in answer["ResultsByTime"]:
        yield date.fromisoformat(result["TimePeriod"]["Start"][:10]), result


def groups_of(
    result: Mapping[str, Any], width: int
) -> Iterator[tuple[list[str], Amounts]]:
    """Yield the keys and metrics of each group; each must have all its keys.

    `Total` is empty in grouped answers and is not looked at.
    """
    for group in result["Groups"]:
        keys = group["Keys"]
        if len(keys) != width:
            message = f"expected {width} keys in a group, got {keys!r}"
            raise ValueError(message)
        yield keys, group["Metrics"]


def missing_day(seen: set[date], since: date, until: date) -> date | None:
    """Return the first day of ``[since, until)`` that no page named."""
    return next((day for day in days_between(since, until) if day not in seen), None)


def amount(metrics: Amounts, name: str, currency: CurrencySeen) -> int:
    """Return one cost in nano-units, its currency noted."""
    cell = metrics[name]
    nanos = nanos_from_text(cell["Amount"])
    currency.see(cell["Unit"], nanos)
    return nanos


def texts(metrics: Amounts, names: Sequence[str]) -> str:
    """Return the metrics' own texts, to be compared with an earlier reading."""
    return "|".join(metrics[name]["Amount"] for name in names)


def money(nanos: int, currency: CurrencySeen) -> Money:
    """Return nano-units as an amount in the answer's currency."""
    return Money(nanos, currency.code or "USD")
