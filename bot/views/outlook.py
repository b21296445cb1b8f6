"""The month's forecast and the days that stood out, as blocks of a digest. Pure."""

from __future__ import annotations

from bot.views.anomalies import causes_text
from bot.views.answers import Json
from bot.views.blocks import bullets, section
from bot.views.forecast import budget_text, range_text
from bot.views.outlook_answers import Outlook
from bot.views.text import escape
from bot.views.words import amount, day

_MOST = 5


def outlook_blocks(outlook: Outlook | None) -> list[Json]:
    """Return the blocks; nothing where nothing can be said."""
    if outlook is None:
        return []
    return [*_month(outlook), *_odd_days(outlook)]


def _month(outlook: Outlook) -> list[Json]:
    found = outlook.forecast.forecast
    if found.expected is None and outlook.forecast.budget is None:
        return []
    lines = [f"*{found.month:%B}*: {escape(range_text(found), most=300)}"]
    if found.backtest.trials:
        lines.append(f"Forecast by {found.method}, {found.backtest.text}.")
    if outlook.forecast.budget is not None:
        lines.append(budget_text(outlook.forecast.budget).capitalize())
    return [section("\n".join(lines))]


def _odd_days(outlook: Outlook) -> list[Json]:
    """List what stood out, the largest first; AWS's own findings after ours."""
    odd = outlook.anomalies
    lines = [
        f"{day(one.day)}, {escape(one.series, most=80)}: {amount(one.cost)} instead of"
        f" {amount(one.usual)}{_because(causes_text(one.causes))}"
        for one in odd.anomalies[:_MOST]
    ]
    lines += [
        f"AWS, since {day(one.since)}: {amount(one.impact)} over what it expected,"
        f" {escape(one.service, most=80)}"
        for one in odd.aws[:_MOST]
    ]
    left = len(odd.anomalies) + len(odd.aws) - len(lines)
    if left > 0:
        lines.append(f"and {left:,} more")
    return [section(f"*Out of the ordinary*\n{bullets(lines)}")] if lines else []


def _because(causes: str) -> str:
    return f" ({escape(causes, most=200)})" if causes else ""
