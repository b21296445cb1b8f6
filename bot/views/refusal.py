"""What somebody sees whose click or request was refused; only they see it."""

from __future__ import annotations

from bot.views.answers import Message
from bot.views.approval import request_filed
from bot.views.errors import note
from bot.views.people import People
from bot.views.text import escape, name
from policies.core.approvals import ApprovalRequest


def click_refused(request_id: str, reason: str) -> Message:
    """Say why a click changed nothing; `reason` is a sentence of the approval core."""
    why = escape(reason, most=400).rstrip(".")
    return note(f"Nothing was decided on {name(request_id)}: {why}.")


def vote_counted(request: ApprovalRequest, *, left: int) -> Message:
    """Say that a click counted and how many more are needed."""
    shown = name(request.request_id)
    if left <= 0:
        return note(f"Recorded on {shown}.")
    more = "one more approval is" if left == 1 else f"{left} more approvals are"
    return note(f"Recorded on {shown}; {more} needed.")


def already_decided(request: ApprovalRequest, *, people: People) -> Message:
    """Tell a late click how the request was decided, by whom and when."""
    return request_filed(request, people=people, channel="")


def stale_card(request_id: str) -> Message:
    """Refuse a click on a card of an older version."""
    return note(
        f"{name(request_id)} was changed after this card was posted."
        " Decide on the newest card."
    )


def unknown_request(request_id: str) -> Message:
    """Refuse a click on a request that does not exist."""
    return note(f"There is no request {name(request_id)}. Nothing was decided.")
