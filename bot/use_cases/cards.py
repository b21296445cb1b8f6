"""The cards of approval requests: who is shown, posted once, rewritten in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.ports import Json, OutboxMessage, UnitOfWork
from bot.views.answers import Message
from bot.views.approval import approval_card, decided_card
from policies.core.approvals import ApprovalRequest, RequestState, assigned_to


def people_names(
    unit: UnitOfWork, requests: Sequence[ApprovalRequest], *, prefer: str = "slack_id"
) -> Mapping[str, str]:
    """Return what to show for each pseudonym of requests: what is preferred, if known."""
    keys = {key for one in requests for key in _people_in(one) if key}
    names: dict[str, str] = {}
    for key in sorted(keys):
        known = unit.people.lookup(key) or {}
        order = (prefer, "slack_id", "email", "name")
        names[key] = next((known[one] for one in order if known.get(one)), "")
    return {key: value for key, value in names.items() if value}


def _people_in(one: ApprovalRequest) -> tuple[str, ...]:
    return (
        one.requester, one.caller, one.owner, one.decided_by, *assigned_to(one),
        *(key for vote in one.votes for key in (vote.person_id, vote.seat)),
        *(past.by for past in one.history),
    )  # fmt: skip


def card_key(request: ApprovalRequest) -> str:
    """Return the outbox key of a request's card."""
    return f"approval:{request.request_id}:{request.version}:card"


def post(
    key: str, channel: str, message: Message, *, thread_of: str = ""
) -> OutboxMessage:
    """Return a message as an effect that posts it."""
    return OutboxMessage(
        key=key, kind="post", channel=channel, payload=_payload(message),
        thread_of=thread_of,
    )  # fmt: skip


def _payload(message: Message) -> Json:
    return {"text": message.text, "blocks": [*message.blocks]}


def post_card(
    unit: UnitOfWork, request: ApprovalRequest, channel: str, now: datetime
) -> None:
    """Queue the card of a request that waits."""
    if channel:
        card = approval_card(request, people=people_names(unit, [request]), now=now)
        unit.outbox.put(post(card_key(request), channel, card), now)


def replace_card(
    unit: UnitOfWork, request: ApprovalRequest, channel: str, now: datetime
) -> None:
    """Take the buttons off the card of a version that another one replaces."""
    old = replace(request, state=RequestState.SUPERSEDED, decided_at=now)
    rewrite_card(unit, old, channel, now)


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
        if request.state.is_open
        else decided_card(request, people=names)
    )
    face = f"{request.state.value}:{len(request.votes)}:{len(request.history)}"
    unit.outbox.put(
        OutboxMessage(
            key=f"{original}:{face}",
            kind="update",
            channel=channel,
            payload=_payload(card),
            ref=original,
        ),
        now,
    )
