"""What AWS says is about to happen, as the owner of a job reads it; pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.core.accrual import FREE_WHEN_RECLAIMED_WITHIN
from bot.views.answers import Message
from bot.views.blocks import context, fields, header, section
from bot.views.limits import fit_one
from bot.views.people import People, who
from bot.views.text import escape, fallback, name
from bot.views.words import plural

_VERBS = {"terminate": "terminates", "stop": "stops", "hibernate": "hibernates"}
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """An instance that AWS is about to take back; "" and None are unknown.

    Attributes:
        action: What AWS does: ``terminate``, ``stop`` or ``hibernate``.
        until: When it does so.
        started_at: When the instance started.
        others: Other instances of the job that run; None when it has no job.
    """

    instance: str
    instance_type: str
    account: str
    region: str
    zone: str
    action: str
    at: datetime
    until: datetime
    job: str
    team: str
    owner: str
    started_at: datetime | None
    others: int | None


def interruption_warning(
    warned: Interruption, *, people: People, now: datetime
) -> Message:
    """Tell an owner that AWS takes an instance back, and what there is left to do."""
    title = f"Spot interruption: {warned.job or warned.instance}"
    owner = f"{who(warned.owner, people)}: " if warned.owner else ""
    verb = _VERBS.get(warned.action, f"will {escape(warned.action, most=40)}")
    lead = (
        f":rotating_light: {owner}AWS {verb} {name(warned.instance)} at "
        f"*{warned.until:%H:%M:%S} UTC*, {_left(warned.until - now)}."
    )
    advice = "Save a checkpoint now." if warned.until > now else ""
    place = ", ".join(
        escape(part, most=40)
        for part in (warned.zone or warned.region, warned.account)
        if part
    )
    blocks = (
        header(title),
        section(f"{lead} {advice}".rstrip()),
        fields(
            [
                ("Instance type", escape(warned.instance_type, most=40)),
                ("Place", place),
                ("Job", name(warned.job) if warned.job else "none: no job tag"),
                ("Team", name(warned.team) if warned.team else ""),
                ("Left running", _others(warned)),
            ]
        ),
        context(f"EC2 said so at {warned.at:%H:%M:%S} UTC.{_bill(warned)}"),
    )
    text = f"{fallback(title, most=140)}: {_left(warned.until - now)}"
    return fit_one(Message(text=text, blocks=blocks))


def _left(left: timedelta) -> str:
    if left <= timedelta(0):
        return "which has passed"
    if left < _MINUTE:
        return f"in {plural(int(left.total_seconds()), 'second')}"
    return f"in {plural(round(left / _MINUTE), 'minute')}"


def _others(warned: Interruption) -> str:
    if warned.others is None:
        return ""
    if not warned.others:
        return "no other instance of the job"
    return f"{plural(warned.others, 'other instance')} of the job"


def _bill(warned: Interruption) -> str:
    """Say what AWS charges for an instance that it takes back this early."""
    if warned.started_at is None or warned.action != "terminate":
        return ""
    if warned.until - warned.started_at >= FREE_WHEN_RECLAIMED_WITHIN:
        return ""
    return " It ends in its first hour: AWS does not charge for it."
