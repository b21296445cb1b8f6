"""The cards of approval requests: who is shown, posted once, rewritten in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.ports import Json, OutboxMessage, UnitOfWork
from bot.views.answers import Message
from bot.views.approval import approval_card, decided_card
from policies.core.approvals import ApprovalRequest, RequestState


def people_names(
    unit: UnitOfWork, requests: Sequence[ApprovalRequest], *, prefer: str = "slack_id"
) -> Mapping[str, str]:
    """Return what to show for each pseudonym of requests: what is preferred, if known."""
    keys = {
        key
        for one in requests
        for key in (
            one.requester, one.caller, one.owner, one.decided_by,
            *(vote.person_id for vote in one.votes),
        )
        if key
    }  # fmt: skip
    names: dict[str, str] = {}
    for key in sorted(keys):
        known = unit.people.lookup(key) or {}
        order = (prefer, "slack_id", "email", "name")
        names[key] = next((known[one] for one in order if known.get(one)), "")
    return {key: value for key, value in names.items() if value}


def card_key(request: ApprovalRequest) -> str:
    """Return the outbox key of a request's card."""
    return f"approval:{request.request_id}:{request.version}:card"


def post(key: str, channel: str, message: Message) -> OutboxMessage:
    """Return a message as an effect that posts it."""
    payload: Json = {"text": message.text, "blocks": [*message.blocks]}
    return OutboxMessage(key=key, kind="post", channel=channel, payload=payload)


def rewrite_card(
    unit: UnitOfWork, request: ApprovalRequest, channel: str, now: datetime
) -> None:
    """Queue the card's new face; the last one queued is what people end up seeing."""
    original = card_key(request)
    if unit.outbox.find(original) is None:
        return
    names = people_names(unit, [request])
    card = (
        approval_card(request, people=names, now=now)
        if request.state is RequestState.PENDING
        else decided_card(request, people=names)
    )
    unit.outbox.put(
        OutboxMessage(
            key=f"{original}:{request.state.value}:{len(request.votes)}",
            kind="update",
            channel=channel,
            payload={"text": card.text, "blocks": [*card.blocks]},
            ref=original,
        ),
        now,
    )
