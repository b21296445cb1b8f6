"""What is said of capacity that was paid at purchase. Pure."""

from __future__ import annotations

from datetime import datetime

from billing.core.resources import Reservation, ReservationKind
from bot.views.answers import Message
from bot.views.blocks import context, section
from bot.views.text import escape, fallback, name
from bot.views.words import duration, instant, plural

_KINDS = {
    ReservationKind.CAPACITY_BLOCK: "Capacity Block",
    ReservationKind.TRAINING_PLAN: "training plan",
}
_BLOCK_NOTE = (
    "AWS ends the instances of a Capacity Block 30 minutes before its end. "
    "Save checkpoints before, or extend the block."
)
_PLAN_NOTE = "What runs in a training plan ends with it. Save checkpoints before."


def reservation_ends(held: Reservation, now: datetime) -> Message:
    """Warn that a Capacity Block or training plan ends soon."""
    kind = _KINDS.get(held.kind, "reservation")
    left = "" if held.ends_at is None else duration(held.ends_at - now)
    at = "" if held.ends_at is None else instant(held.ends_at)
    machines = f"{held.count} x {name(held.instance_type, most=40)}"
    idle = ""
    if held.available:
        idle = f" {plural(held.available, 'instance')} of it not in use."
    account = name(held.account, most=40)
    place = f"{name(held.region, most=40)}, account {account}"
    is_block = held.kind is ReservationKind.CAPACITY_BLOCK
    return Message(
        text=fallback(f"{kind} {held.reservation_id} ends in {left}", most=140),
        blocks=(
            section(
                f":hourglass: *{kind} {escape(held.reservation_id, most=120)} ends in "
                f"{left}*, {at}.\n{machines} in {place}.{idle}"
            ),
            context(_BLOCK_NOTE if is_block else _PLAN_NOTE),
        ),
    )
