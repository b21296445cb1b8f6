"""The values that decided, each beside the limit it was held against. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from billing.core.money import Money
from bot.views.answers import Json
from bot.views.blocks import bullets, section
from bot.views.text import escape
from bot.views.words import amount, binary_size, instant, plural
from policies.core.finding import Evidence

_EVIDENCE_MAX = 10
_CURRENCY = re.compile(r"[A-Z]{3}")


def evidence_blocks(evidence: Sequence[Evidence]) -> list[Json]:
    """Return the values that decided, as blocks."""
    if not evidence:
        return []
    lines = [evidence_line(one) for one in evidence[:_EVIDENCE_MAX]]
    left = len(evidence) - _EVIDENCE_MAX
    if left > 0:
        lines.append(f"and {plural(left, 'more value')}")
    return [section(f"*Why*\n{bullets(lines)}")]


def evidence_line(one: Evidence) -> str:
    """Return a value beside the limit it was held against."""
    label = escape(one.name.replace("_", " "), most=80)
    value = "unknown" if one.value is None else _measured(one.value, one.unit)
    against = f" (limit {_limit(one.threshold, one.unit)})" if one.threshold else ""
    when = f", as of {instant(one.as_of)}" if one.as_of else ""
    return f"{label}: {value}{against}{when}"


def _limit(text: str, unit: str) -> str:
    """Return a limit with its unit once; some say it themselves."""
    if unit and text.endswith(unit):
        return escape(text, most=120)
    sign, space, number = text.rpartition(" ")
    return f"{escape(sign)}{space}{_measured(number, unit)}"


def _measured(text: str, unit: str) -> str:
    """Return a figure in its unit: money as money, bytes in units people read."""
    if unit == "B" and text.isdecimal():
        return binary_size(int(text))
    if _CURRENCY.fullmatch(unit):
        try:
            return amount(Money.of(text, unit))
        except ValueError:
            pass
    return f"{escape(text, most=120)}{_unit(unit)}"


def _unit(unit: str) -> str:
    shown = escape(unit, most=20)
    return f" {shown}" if shown else ""
