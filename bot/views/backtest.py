"""What a replay of policies would have done: JSON and terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from billing.core.money import Money
from billing.core.periods import rfc3339
from bot.views.terminal import clean
from bot.views.words import duration
from policies.core.backtest import Fire, Replay

Document = dict[str, object]
_SHOWN_MAX = 10
APPROXIMATE = (
    "cost by the hour is its day's spread evenly; use of GPUs is an hourly mean;"
    " prices are today's"
)


def backtest_document(
    replays: Sequence[Replay], since: datetime, until: datetime, currency: str
) -> Document:
    """Return a replay as JSON."""
    return {
        "currency": currency,
        "since": rfc3339(since),
        "until": rfc3339(until),
        "approximate": APPROXIMATE,
        "policies": [_policy(one, until) for one in replays],
    }


def _policy(one: Replay, until: datetime) -> Document:
    stake = at_stake(one.fires)
    return {
        "policy": one.policy,
        "kind": one.kind,
        "mode": one.mode,
        "fires": len(one.fires),
        "subjects": [*one.subjects],
        "open_hours": _hours(one.fires, until),
        "cost_at_stake": None if stake is None else stake.text(),
        "actions": sum(fire.acted_at is not None for fire in one.fires),
        "unknown": one.unknown,
        "over_limits": one.over_limits,
        "judged_without": [*one.judged_without],
        "items": [_fire(fire) for fire in one.fires],
    }


def _fire(fire: Fire) -> Document:
    return {
        "subject": fire.subject,
        "job": fire.job or None,
        "clause": fire.clause,
        "opened_at": rfc3339(fire.opened_at),
        "ended_at": None if fire.ended_at is None else rfc3339(fire.ended_at),
        "cost_at_stake": None
        if fire.cost_at_stake is None
        else fire.cost_at_stake.text(),
        "action": fire.action or None,
        "acted_at": None if fire.acted_at is None else rfc3339(fire.acted_at),
    }


def at_stake(fires: Sequence[Fire]) -> Money | None:
    """Return the sum of what was at stake; None when any is unknown, or there is none."""
    amounts = [fire.cost_at_stake for fire in fires]
    if not amounts or None in amounts:
        return None
    known = [amount for amount in amounts if amount is not None]
    return sum(known[1:], known[0])


def _hours(fires: Sequence[Fire], until: datetime) -> float:
    lasted = sum((fire.lasted(until) for fire in fires), timedelta())
    return round(lasted / timedelta(hours=1), 2)


def backtest_text(replays: Sequence[Replay], since: datetime, until: datetime) -> str:
    """Return a replay for the terminal: one policy after the other."""
    lines = [f"{rfc3339(since)} to {rfc3339(until)}, hour by hour ({APPROXIMATE})"]
    for one in replays:
        lines += ["", *_policy_lines(one, until)]
    return "\n".join(clean(line) for line in lines)


def _policy_lines(one: Replay, until: datetime) -> list[str]:
    stake = at_stake(one.fires)
    acted = sum(fire.acted_at is not None for fire in one.fires)
    lines = [
        (
            f"{one.policy} ({one.kind}, {one.mode}): {_count(len(one.fires), 'fire')} on "
            f"{_count(len(one.subjects), 'subject')}, at stake "
            f"{'unknown' if stake is None and one.fires else stake or '$0.00'}, "
            f"{_count(acted, 'action')}"
        )
    ]
    if one.judged_without:
        without = ", ".join(one.judged_without)
        lines.append(
            f"  judged without {without}: it would have fired less, never more"
        )
    if one.unknown:
        lines.append(f"  unknown at {_count(one.unknown, 'subject and hour')}")
    if one.over_limits:
        lines.append(f"  above its limits at {_count(one.over_limits, 'hour')}")
    lines += [f"  {_fire_line(fire, until)}" for fire in one.fires[:_SHOWN_MAX]]
    if len(one.fires) > _SHOWN_MAX:
        lines.append(f"  and {len(one.fires) - _SHOWN_MAX} more")
    return lines


def _fire_line(fire: Fire, until: datetime) -> str:
    stake = "unknown" if fire.cost_at_stake is None else str(fire.cost_at_stake)
    did = f", {fire.action} at {rfc3339(fire.acted_at)}" if fire.acted_at else ""
    return (
        f"{rfc3339(fire.opened_at)}  {fire.subject}  for {duration(fire.lasted(until))}, "
        f"{stake}{did}"
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
