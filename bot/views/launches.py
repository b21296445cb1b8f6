"""What is told of launches after they were let through: grants that lapse."""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.answers import Message
from bot.views.blocks import bullets, context, section
from bot.views.text import escape, fallback, name
from policies.core.approvals import ApprovalRequest
from policies.core.drifting import Departure


def grant_lapsed(
    request: ApprovalRequest, left: Sequence[Departure], again: str
) -> Message:
    """Tell in a card's thread that its grant lapsed, why, and what asks again."""
    title = f"The grant of {request.request_id} lapsed"
    job = name(request.envelope.job)
    lines = [
        f"{escape(one.what)}: approved {escape(one.approved)}, now {escape(one.now)}"
        f" ({escape(one.difference)})"
        for one in left
    ]
    lead = f":warning: *The grant lapsed*: job {job} left what was approved."
    small = (
        "Nothing that runs is stopped. Nothing more is started under this grant."
        f" It is asked for as it runs now: {escape(again)}."
    )
    return Message(
        text=fallback(title),
        blocks=(section(lead), section(bullets(lines)), context(small)),
    )
