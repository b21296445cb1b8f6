"""Let something happen to a request: state, event, audit and card in one transaction.

Knows which state follows (the table of the core) and nothing of who may.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime

from billing.core.errors import GpucostError
from bot.ports import Json, UnitOfWork
from bot.use_cases.cards import card_key, post, rewrite_card
from bot.views.answers import Message
from policies.core.approval_states import Refused, step
from policies.core.approvals import ApprovalRequest, RequestEvent

#: What each event is called in the audit log.
AUDITED: Mapping[RequestEvent, str] = {
    RequestEvent.VOTE: "approval_voted",
    RequestEvent.APPROVE: "approval_approved",
    RequestEvent.DENY: "approval_denied",
    RequestEvent.BREAK_GLASS: "approval_glass_broken",
    RequestEvent.ASK: "approval_sent_back",
    RequestEvent.ANSWER: "approval_answered",
    RequestEvent.EDIT: "approval_edited",
    RequestEvent.REASSIGN: "approval_reassigned",
    RequestEvent.ESCALATE: "approval_escalated",
    RequestEvent.REMIND: "approval_reminded",
    RequestEvent.EXPIRE: "approval_expired",
    RequestEvent.CANCEL: "approval_cancelled",
    RequestEvent.SUPERSEDE: "approval_superseded",
    RequestEvent.CONSUME: "approval_consumed",
    RequestEvent.LAPSE: "approval_lapsed",
}


class UnknownRequestError(GpucostError):
    """There is no approval request of this id."""

    code = "unknown_request"
    hint = "`gpucost approval list` shows the requests there are"

    def __init__(self, request_id: str) -> None:
        super().__init__(f"there is no approval request {request_id!r}")


class VoteRefusedError(GpucostError):
    """It may not happen; nothing was decided or changed."""

    code = "vote_refused"
    exit_code = 3


def known(unit: UnitOfWork, request_id: str) -> ApprovalRequest:
    """Return a request; in a writing unit it is held.

    Raises:
        UnknownRequestError: There is none of this id.
    """
    request = unit.journal.request(request_id)
    if request is None:
        raise UnknownRequestError(request_id)
    return request


def happen(
    unit: UnitOfWork,
    request: ApprovalRequest,
    event: RequestEvent,
    *,
    by: str,
    channel: str,
    now: datetime,
    text: str = "",
) -> ApprovalRequest | None:
    """Let one thing happen; None when somebody else changed the request first.

    Raises:
        VoteRefusedError: It cannot happen in the state the request is in.
    """
    state = step(request.state, event)
    if isinstance(state, Refused):
        raise VoteRefusedError(state.reason)
    if not unit.journal.move(request, event, state, by=by, now=now, text=text):
        return None
    moved = known(unit, request.request_id)
    record(unit, moved, event, by=by, now=now, text=text)
    rewrite_card(unit, moved, channel, now)
    return moved


def record(
    unit: UnitOfWork,
    request: ApprovalRequest,
    event: RequestEvent,
    *,
    by: str,
    now: datetime,
    text: str = "",
    data: Json | None = None,
) -> None:
    """Put an event on the audit chain; people's words only by their digest."""
    said: Json = {"version": request.version, **(data or {})}
    if text:
        said["text_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    unit.audit.append(
        AUDITED[event], actor=by or "gpucost", subject=request.request_id, data=said,
        now=now,
    )  # fmt: skip


def tell_in_thread(
    unit: UnitOfWork,
    request: ApprovalRequest,
    what: str,
    message: Message,
    *,
    channel: str,
    now: datetime,
) -> None:
    """Queue a word in the thread of a request's card, once for each event."""
    card = card_key(request)
    if not channel or unit.outbox.find(card) is None:
        return
    key = f"{card.removesuffix('card')}{what}:{len(request.history)}"
    unit.outbox.put(post(key, channel, message, thread_of=card), now)
