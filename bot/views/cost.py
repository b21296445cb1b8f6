"""Answers about cost: one job, or everything by job, team, account and so on.

Every total stands beside its period and says which part AWS billed and which part
is provisional; what is unknown or stale is said, never shown as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from billing.core.charges import BUCKET_PREFIX, Metric
from bot.views.answers import CostAnswer, CostGroup, Json, Message, RunningLine
from bot.views.blocks import bullets, columns, context, fields, header, section
from bot.views.freshness import freshness_line, stale_lines
from bot.views.native import bar_chart
from bot.views.text import escape, fallback, name, plain
from bot.views.words import amount, instant, plural, share, short_day, whole, window

#: Lines of a breakdown before "and N more".
GROUPS_MAX = 15
_RUNNING_MAX = 5
_UNKNOWN_MAX = 5
_CHART_DAYS_MIN = 2

#: Mark of a day whose figure may still move, and what the mark means.
OPEN_DAY = " +"
OPEN_DAYS_NOTE = "Days marked + are estimated or provisional: they may still move."

METRICS = {
    Metric.EFFECTIVE: "effective cost: discounts and commitments included, amortised",
    Metric.BILLED: "billed cost: as invoiced, discounts included",
    Metric.LIST: "list cost: public prices, no discounts",
}
BUCKETS = {
    "idle": "idle capacity",
    "shared": "shared, not split",
    "commitment-unused": "unused commitments",
    "overhead": "tax, support and fees",
    "credits": "credits and refunds",
    "untagged": "untagged",
}


def cost_answer(answer: CostAnswer) -> Message:
    """Render the answer to a cost question, about one job or about many."""
    title = _title(answer)
    blocks = [header(title), section(_total_line(answer)), fields(_figures(answer))]
    blocks += _warnings(answer)
    blocks += _running(answer.running)
    blocks += _breakdowns(answer)
    blocks.append(context(*_small_print(answer)))
    period = window(answer.since, answer.until)
    text = f"{fallback(title)}: {_total(answer)} from {period}"
    return Message(text=text, blocks=tuple(blocks))


def _title(answer: CostAnswer) -> str:
    if answer.job:
        return answer.job
    if answer.team:
        return f"Team {plain(answer.team, most=80)}"
    if answer.account:
        return f"Account {plain(answer.account, most=20)}"
    return f"GPU spend by {answer.by}" if answer.by else "GPU spend"


def _total(answer: CostAnswer) -> str:
    least = "at least " if answer.provisional_unknown else ""
    return f"{least}{amount(answer.total)}"


def _total_line(answer: CostAnswer) -> str:
    kind = "credits included" if answer.is_net else "before credits and refunds"
    period = window(answer.since, answer.until)
    return f"*{_total(answer)}* from {period}, {kind}"


def _figures(answer: CostAnswer) -> list[tuple[str, str]]:
    billed = f"{amount(answer.billed)}{_through(answer)}"
    provisional = amount(answer.provisional)
    if answer.provisional_unknown:
        provisional = f"at least {provisional}"
    pairs = [
        ("Billed by AWS", billed),
        ("Provisional", f"{provisional} since then, from running time and prices"),
        *_rate_figures(answer),
    ]
    if answer.credits.nanos:
        pairs.append(("Credits and refunds", amount(answer.credits)))
    if answer.unattributed is not None:
        part = share(answer.unattributed, answer.total)
        shown = f"{amount(answer.unattributed)}{f' ({part})' if part else ''}"
        pairs.append(("Without a job tag", shown))
    if answer.owner:
        pairs.append(("Owner", name(answer.owner)))
    if answer.team and answer.job:
        pairs.append(("Team", name(answer.team)))
    return pairs


def _rate_figures(answer: CostAnswer) -> list[tuple[str, str]]:
    """Say the burn rate and the next day; for a job also that nothing runs."""
    if not answer.running:
        return [("Running now", "nothing")] if answer.job else []
    burn = f"{answer.burn}" if answer.burn else "unknown, a price is missing"
    if answer.forecast_24h is None:
        ahead = "unknown, a price is missing"
    else:
        ahead = f"{amount(answer.forecast_24h)} if nothing changes"
    return [("Burn rate now", burn), ("Next 24 hours", ahead)]


def _through(answer: CostAnswer) -> str:
    ends = sorted(set(answer.billed_through.values()))
    if not ends:
        return ", no complete day yet"
    if len(ends) == 1:
        return f" through {_last_day(ends[0])}"
    return f" through {_last_day(ends[0])} to {_last_day(ends[-1])}, by account"


def _last_day(end: datetime) -> str:
    """Name the last billed day; a billed-through of midnight is the day before."""
    if (end.hour, end.minute, end.second) == (0, 0, 0):
        return short_day(end.date().fromordinal(end.toordinal() - 1))
    return instant(end)


def _warnings(answer: CostAnswer) -> list[Json]:
    lines = list(stale_lines(answer.stale, answer.as_of))
    unknown = answer.provisional_unknown
    if unknown:
        shown = ", ".join(name(item) for item in unknown[:_UNKNOWN_MAX])
        left = len(unknown) - _UNKNOWN_MAX
        more = f" and {left} more" if left > 0 else ""
        lines.append(
            f"No price known for {shown}{more}: their cost is not in the total"
        )
    return [section(":warning: " + "\n:warning: ".join(lines))] if lines else []


def _running(lines: Sequence[RunningLine]) -> list[Json]:
    if not lines:
        return []
    shown = [_running_line(line) for line in lines[:_RUNNING_MAX]]
    left = sum(line.count for line in lines[_RUNNING_MAX:])
    if left:
        shown.append(f"and {plural(left, 'more instance', 'more instances')}")
    return [section(f"*Running now*\n{bullets(shown)}")]


def _running_line(line: RunningLine) -> str:
    gpus = "" if line.gpus is None else f", {plural(line.gpus, 'GPU')}"
    rate = "price unknown" if line.rate is None else str(line.rate)
    lifecycle = escape(line.lifecycle, most=20).replace("-", " ")
    where = escape(line.region, most=30)
    shape = f"{line.count:,} x {name(line.instance_type, most=40)}"
    return f"{shape} {lifecycle} in {where}{gpus}: {rate}"


def _breakdowns(answer: CostAnswer) -> list[Json]:
    blocks = []
    if answer.by_category:
        blocks += _groups("By category", answer.by_category, answer)
    if answer.groups:
        blocks += _groups(
            f"By {escape(answer.by or 'group', most=40)}", answer.groups, answer
        )
    if len(answer.by_day) >= _CHART_DAYS_MIN:
        points = [
            (short_day(when) + (OPEN_DAY if is_open else ""), cost)
            for when, cost, is_open in answer.by_day
        ]
        title = f"Cost by UTC day ({answer.currency})"
        blocks.append(
            bar_chart(title, points, series="cost", unit=f"{answer.currency} per day")
        )
        if any(is_open for _, _, is_open in answer.by_day):
            blocks.append(context(OPEN_DAYS_NOTE))
    return blocks


def _groups(title: str, groups: Sequence[CostGroup], answer: CostAnswer) -> list[Json]:
    rows = [
        (
            group_label(group.key, by=answer.by),
            _with_unknown(group),
            share(group.total, answer.total),
        )
        for group in groups[:GROUPS_MAX]
    ]
    rest = groups[GROUPS_MAX:]
    more = ""
    if rest:
        total = rest[0].total
        for group in rest[1:]:
            total += group.total
        more = f"\n… and {len(rest):,} more, {amount(total)} together"
    return [section(f"*{title}*"), section(columns(rows) + more)]


def _with_unknown(group: CostGroup) -> str:
    least = ">= " if group.provisional is None else ""
    return f"{least}{amount(group.total)}"


def group_label(key: str, *, by: str = "") -> str:
    """Return a group's name for people; buckets that are no job say what they are."""
    if key.startswith(BUCKET_PREFIX):
        bucket = key.removeprefix(BUCKET_PREFIX)
        return f"({BUCKETS.get(bucket, bucket)})"
    # A job that ended before the inventory began has no tags that name its team.
    return key or ("(team unknown)" if by == "team" else "(none)")


def _small_print(answer: CostAnswer) -> list[str]:
    lines = [f"{METRICS[answer.metric].capitalize()}. AWS days are UTC."]
    if answer.job and answer.first_seen_at and answer.last_seen_at:
        first, last = instant(answer.first_seen_at), instant(answer.last_seen_at)
        lines.append(f"Seen from {first} to {last}.")
    lines += _earlier(answer)
    if answer.provisional_basis:
        shown = "; ".join(
            escape(item, most=200) for item in answer.provisional_basis[:_UNKNOWN_MAX]
        )
        left = len(answer.provisional_basis) - _UNKNOWN_MAX
        lines.append(f"Priced so: {shown}{f'; and {left} more' if left > 0 else ''}.")
    lines.append(freshness_line(answer.freshness, answer.as_of))
    return lines


def _earlier(answer: CostAnswer) -> list[str]:
    """Say how to see what a job cost before the window."""
    first = answer.first_seen_at
    if not answer.job or first is None or first >= answer.since:
        return []
    asks = f"{name(answer.job)} since {first:%Y-%m-%d}"
    return [f"It began before this window; all of it: {asks}."]


def short_total(answer: CostAnswer) -> str:
    """Return the total to the unit with its period, for one line elsewhere."""
    return f"{whole(answer.total)} from {window(answer.since, answer.until)}"
