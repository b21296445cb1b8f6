"""The asker's own jobs, and what teams have used of their month; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.money import Money, Rate
from billing.core.periods import next_month, start_of
from bot.views.answers import JobLine, Json, Message
from bot.views.blocks import columns, context, header, section
from bot.views.text import escape, fallback, name
from bot.views.words import amount, instant, plural, share, window
from policies.core.facts import TeamMonth

_SHOWN_MAX = 15
SECOND = timedelta(seconds=1)
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    """Somebody's jobs.

    Attributes:
        who: What their jobs' owner tag may say, for the answer without any.
    """

    who: str
    since: datetime
    until: datetime
    jobs: tuple[JobLine, ...]


def mine_message(mine: Mine) -> Message:
    """Render the asker's jobs, dearest first."""
    period = window(mine.since, mine.until)
    if not mine.jobs:
        text = (
            f"No job of yours cost anything from {period}: none has an owner tag that"
            f" is you ({escape(mine.who, most=120)})."
        )
        return Message(text=text, blocks=(section(text),))
    known = [one.total for one in mine.jobs if one.total is not None]
    least = "at least " if len(known) < len(mine.jobs) else ""
    whole = known[0] if known else None
    for one in known[1:]:
        whole = one if whole is None else whole + one
    shown = f"{least}{amount(whole)}" if whole is not None else UNKNOWN
    title = f"Your jobs: {shown}"
    burn = _burn(mine.jobs)
    rows = [("job", "state", "cost", "now")]
    rows += [
        (
            one.job,
            one.state,
            UNKNOWN if one.total is None else amount(one.total),
            _rate(one),
        )
        for one in mine.jobs[:_SHOWN_MAX]
    ]
    left = len(mine.jobs) - _SHOWN_MAX
    more = f"\n… and {plural(left, 'more job')}" if left > 0 else ""
    running = f", {burn} now" if burn else ""
    blocks: list[Json] = [
        header(title),
        section(f"*{shown}* from {period}, before credits and refunds{running}"),
        section(columns(rows, texts=2) + more),
        context(f"Jobs whose owner tag is you ({escape(mine.who, most=120)})."),
    ]
    return Message(text=f"{fallback(title)} from {period}", blocks=tuple(blocks))


def _rate(one: JobLine) -> str:
    if not one.instances:
        return "-"
    return UNKNOWN if one.burn is None else str(one.burn)


def _burn(jobs: Sequence[JobLine]) -> str:
    running = [one for one in jobs if one.instances]
    rates = [one.burn for one in running if one.burn is not None]
    if not rates:
        return ""
    whole = Rate(sum(rate.nanos for rate in rates), rates[0].currency)
    return f"at least {whole}" if len(rates) < len(running) else str(whole)


def budget_message(teams: Sequence[TeamMonth], now: datetime, *, team: str) -> Message:
    """Render what teams have used of their month, and where the pace leads."""
    if not teams:
        text = (
            f"No budget and no cost of team {name(team)} this month."
            if team
            else "No team has a budget: an admin sets teams.<name>.budget."
        )
        return Message(text=text, blocks=(section(text),))
    since = start_of(teams[0].since)
    month = start_of(next_month(teams[0].since)) - since
    elapsed = Fraction((now - since) // SECOND, month // SECOND)
    title = f"Budget of team {team}" if team else "Budgets of this month"
    ranked = sorted(teams, key=_most_used_first)
    rows = [("team", "spent", "budget", "used", "at this pace")]
    rows += [
        (
            one.team,
            UNKNOWN if one.spent is None else amount(one.spent),
            "none" if one.budget is None else amount(one.budget),
            _used(one),
            _pace(one, elapsed),
        )
        for one in ranked[:_SHOWN_MAX]
    ]
    left = len(ranked) - _SHOWN_MAX
    more = f"\n… and {plural(left, 'more team')}" if left > 0 else ""
    over = [one for one in ranked if _is_over(one, elapsed)]
    blocks: list[Json] = [header(title), section(columns(rows) + more)]
    if over:
        names = ", ".join(name(one.team) for one in over[:_SHOWN_MAX])
        blocks.append(section(f":warning: Over the budget at this pace: {names}"))
    blocks.append(
        context(
            f"The month (UTC) up to {instant(now)}, {round(100 * elapsed)} % of it."
            " The pace is what was spent, stretched over the whole month: no forecast."
        )
    )
    return Message(text=_budget_text(title, ranked), blocks=tuple(blocks))


def _budget_text(title: str, teams: Sequence[TeamMonth]) -> str:
    first = teams[0]
    spent = UNKNOWN if first.spent is None else amount(first.spent)
    of = f" of {amount(first.budget)}" if first.budget is not None else ""
    return f"{fallback(title)}: {fallback(first.team)} spent {spent}{of}"


def _most_used_first(one: TeamMonth) -> tuple[bool, Fraction, int, str]:
    spent = one.spent.nanos if one.spent else 0
    budget = one.budget.nanos if one.budget else 0
    used = Fraction(spent, budget) if budget > 0 else Fraction(0)
    return (one.budget is None, -used, -spent, one.team)


def _used(one: TeamMonth) -> str:
    if one.budget is None or one.spent is None:
        return "-"
    return share(one.spent, one.budget) or "-"


def _projected(one: TeamMonth, elapsed: Fraction) -> Money | None:
    if one.spent is None or elapsed <= 0:
        return None
    return one.spent.scaled(1 / elapsed)


def _pace(one: TeamMonth, elapsed: Fraction) -> str:
    found = _projected(one, elapsed)
    return UNKNOWN if found is None else amount(found)


def _is_over(one: TeamMonth, elapsed: Fraction) -> bool:
    found = _projected(one, elapsed)
    return found is not None and one.budget is not None and one.budget < found
