"""What somebody sees whose click or request was refused; only they see it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.answers import Message
from bot.views.approval import request_filed
from bot.views.blocks import section
from bot.views.errors import note
from bot.views.people import People, who, who_all
from bot.views.text import escape, fallback, name
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


def nobody_can_decide(
    request: ApprovalRequest, *, people: People, admins: Sequence[str]
) -> Message:
    """Tell requester and admins that a request waits for people who are not there."""
    tier = request.rule.tier if request.rule else None
    approvers = who_all(tier.approvers, people) if tier else "nobody"
    needed = tier.required if tier else 1
    admin = who_all(admins, {}, joint=" ") or "an admin of gpucost"
    text = f"Nobody can decide {request.request_id} yet"
    return Message(
        text=fallback(text, most=140),
        blocks=(
            section(
                f":warning: *Nobody can decide {name(request.request_id)} yet.* "
                f"It needs {needed} of {approvers}, and whoever asked, filed it or owns "
                f"the job does not count. {who(request.requester, people)}, {admin}: "
                "add somebody to its approvers, or have it cancelled and asked for "
                "again once the policy names others."
            ),
        ),
    )
