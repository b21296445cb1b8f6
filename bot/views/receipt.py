"""The receipt of an approved run: actual against approved, idle, what still accrues."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from billing.core.money import Money, Rate
from bot.views.answers import Message
from bot.views.blocks import context, fields, section
from bot.views.text import fallback, name
from bot.views.words import amount, instant, plural, share
from policies.core.approvals import ApprovalRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Accruing:
    """What the inventory still sees of a job.

    Attributes:
        rate: Per hour; None when a price is unknown.
    """

    machines: int
    others: int
    rate: Rate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of an approved run.

    Attributes:
        actual: Cost of its job from the first day of its launches; None when unknown.
        provisional: The part of it that is not billed yet.
        is_at_least: Something of it has no known price.
        idle: Of idle time and boot; None when nobody measured it.
    """

    request: ApprovalRequest
    ended_at: datetime
    launches: int
    actual: Money | None
    provisional: Money | None
    is_at_least: bool
    idle: Money | None
    accruing: Accruing | None


def receipt(one: Receipt) -> Message:
    """Render a receipt."""
    job = one.request.envelope.job
    times = (
        ""
        if one.launches == 1
        else f" after {plural(one.launches, 'launch', 'launches')}"
    )
    pairs = [
        ("Cost", _cost(one)),
        ("Approved", _approved(one)),
        ("Idle and boot", "not measured" if one.idle is None else amount(one.idle)),
        ("Still accruing", _accruing(one.accruing)),
    ]
    title = f":receipt: *Receipt of {name(job)}*, ended {instant(one.ended_at)}{times}"
    return Message(
        text=f"Receipt of {fallback(job)}",
        blocks=(section(title), fields(pairs), *_small_print(one)),
    )


def _cost(one: Receipt) -> str:
    if one.actual is None:
        return "unknown yet: the job is on no bill and in no inventory"
    at_least = "at least " if one.is_at_least else ""
    return f"{at_least}{amount(one.actual)}{_of(one)}"


def _of(one: Receipt) -> str:
    ceiling = one.request.envelope.cost_ceiling
    if one.actual is None or ceiling is None or ceiling.currency != one.actual.currency:
        return ""
    part = share(one.actual, ceiling)
    return f" ({part} of what was approved)" if part else ""


def _approved(one: Receipt) -> str:
    ceiling = one.request.envelope.cost_ceiling
    return "at an unknown price" if ceiling is None else f"up to {amount(ceiling)}"


def _accruing(found: Accruing | None) -> str:
    if found is None:
        return "nothing that the inventory sees"
    parts = []
    if found.machines:
        parts.append(plural(found.machines, "machine"))
    if found.others:
        parts.append(plural(found.others, "volume or the like", "volumes and the like"))
    rate = found.rate
    price = "price unknown" if rate is None else f"{rate}"
    return f"{' and '.join(parts)}, {price}"


def _small_print(one: Receipt) -> list[dict[str, object]]:
    lines = ["Cost is of the whole job, from the first day of these launches."]
    if one.provisional is not None and one.provisional.nanos:
        lines.append(f"{amount(one.provisional)} of it is not billed yet.")
    return [context(" ".join(lines))]
