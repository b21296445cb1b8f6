"""What is said in a card's thread when something happens to its request.

Also what is said out loud: a broken glass, and approvals handed to somebody else.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.views.answers import Message
from bot.views.blocks import context, header, quote, section
from bot.views.people import People, who, who_all
from bot.views.text import escape, fallback, name
from bot.views.words import amount, duration, instant
from policies.core.approvals import (
    ApprovalRequest,
    RequestState,
    Verdict,
    assigned_to,
    open_question,
)
from policies.core.delegations import Delegation
from policies.core.voting import approvals_missing


def sent_back(request: ApprovalRequest, question: str, *, people: People) -> Message:
    """Tell whoever asked what an approver wants to know."""
    asked = open_question(request)
    by = who(asked.by if asked else "", people)
    say = (
        f"{who(request.requester, people)}: {by} asks before deciding"
        f" {name(request.request_id)}."
    )
    how = (
        "Write it in the card's box and press Answer, or `gpucost approval answer"
        f" {escape(request.request_id)} --text …`."
    )
    text = f"A question on {request.request_id}"
    return _message(text, section(say), quote(question), context(how))


def answered(request: ApprovalRequest, words: str, *, people: People) -> Message:
    """Tell approvers the answer to their question."""
    asker = [one.by for one in request.history if one.event.value == "ask"][-1:]
    to = who_all(asker, people) if asker else "Approvers"
    say = f"{to}: {who(request.requester, people)} answered. It waits for a decision."
    return _message(f"An answer on {request.request_id}", section(say), quote(words))


def handed_on(request: ApprovalRequest, *, people: People) -> Message:
    """Ask those who were named to decide; who may is unchanged."""
    named = who_all(assigned_to(request), people, joint=" and ")
    by = who(request.history[-1].by if request.history else "", people)
    say = f"{named}: {by} asks you to decide {name(request.request_id)}."
    return _message(f"Please decide {request.request_id}", section(say))


def escalated(
    request: ApprovalRequest,
    mentioned: Sequence[str],
    *,
    people: People,
    now: datetime,
) -> Message:
    """Call the next tier's approvers: nobody decided in time."""
    named = who_all(mentioned, people, joint=" ")
    waits = duration(now - request.created_at) if now > request.created_at else ""
    say = f":arrow_up: {named}: {name(request.request_id)} {_price(request)}"
    since = f" has waited {waits}." if waits else " has nobody else who may decide it."
    return _message(
        f"{request.request_id} goes to the next approvers",
        section(f"{say}{since} You may decide it now too."),
    )


def reminded(
    request: ApprovalRequest,
    mentioned: Sequence[str],
    *,
    people: People,
    now: datetime,
) -> Message:
    """Remind whoever a request waits for."""
    named = who_all(mentioned, people, joint=" ")
    left = ""
    if request.expires_at is not None:
        left = f" Undecided in {duration(request.expires_at - now)}, it is denied."
    if request.state is RequestState.NEEDS_INFO:
        waits = "waits for your answer"
    else:
        missing = approvals_missing(request, request.votes)
        waits = f"waits for {missing} more" if missing > 1 else "waits for a decision"
    say = f":bell: {named}: {name(request.request_id)} {_price(request)} {waits}.{left}"
    return _message(f"{request.request_id} still waits", section(say))


def glass_broken(request: ApprovalRequest, *, people: People) -> Message:
    """Say out loud that somebody approved alone in an emergency."""
    broken = [one for one in request.votes if one.verdict is Verdict.BREAK_GLASS]
    by = who(broken[-1].person_id if broken else "", people)
    reason = broken[-1].reason if broken else ""
    approvers = request.rule.tier.approvers if request.rule else ()
    say = (
        f":rotating_light: *{by} broke the glass* on {name(request.request_id)}"
        f" {_price(request)}: it is approved without its approvers"
        f" ({who_all(approvers, people)}). It will be listed in the digest for review."
    )
    title = "Break-glass approval"
    return _message(
        f"{title}: {request.request_id}", header(title), section(say), quote(reason)
    )


def delegated(made: Delegation, *, people: People) -> Message:
    """Say out loud who speaks for whom, and until when."""
    say = (
        f"{who(made.to_id, people)} speaks for {who(made.from_id, people)} on approvals"
        f" from {instant(made.since)} until {instant(made.until)}."
    )
    return _message("Approvals handed over", section(say))


def _price(request: ApprovalRequest) -> str:
    high = (
        "of unknown price" if request.high is None else f"up to {amount(request.high)}"
    )
    return f"({name(request.envelope.job)}, {high})"


def _message(text: str, *blocks: dict[str, object]) -> Message:
    return Message(text=fallback(text, most=140), blocks=tuple(blocks))
