"""The approval card: what, who, why, how much, cheaper ways, and who may decide.

A button carries the request id and version, nothing else: who may decide is looked
up when somebody clicks. Once decided the card has no buttons and names who decided.
"""

from __future__ import annotations

import re
from datetime import datetime

from bot.views.answers import Json, Message
from bot.views.blocks import (
    actions,
    button,
    confirm,
    context,
    fields,
    header,
    quote,
    section,
)
from bot.views.estimate import alternatives_block, limit
from bot.views.limits import fit_one
from bot.views.people import People, who, who_all
from bot.views.text import escape, fallback, name, plain
from bot.views.words import amount, duration, hours, instant, plural
from policies.core.approvals import ApprovalRequest, RequestState, Verdict, Vote

APPROVE = "approval_approve"
DENY = "approval_deny"
_VALUE = re.compile(r"(apr-[0-9a-z]{4,32}):([0-9]{1,6})")
_REQUESTS_MAX = 20
_VOTES_MAX = 9

_DECIDED = {
    RequestState.APPROVED: (":white_check_mark:", "Approved"),
    RequestState.DENIED: (":no_entry:", "Denied"),
    RequestState.EXPIRED: (":hourglass:", "Expired"),
    RequestState.CANCELLED: (":wastebasket:", "Cancelled"),
    RequestState.SUPERSEDED: (":arrows_counterclockwise:", "Replaced by a new version"),
}
_NEXT = {
    RequestState.APPROVED: (
        "It may be launched now with `gpucost run`, within what is described here and"
        " nothing else."
    ),
    RequestState.DENIED: "Nothing is launched. Ask again with a changed plan.",
    RequestState.EXPIRED: "Nobody decided in time, so nothing is launched. Ask again.",
    RequestState.CANCELLED: "It was withdrawn, so nothing is launched.",
    RequestState.SUPERSEDED: "The new version has a card of its own; decide there.",
}


def button_value(request: ApprovalRequest) -> str:
    """Return what a button carries: which request, in which version."""
    return f"{request.request_id}:{request.version}"


def parse_button_value(value: str) -> tuple[str, int] | None:
    """Read a button's value; None when it is not one of ours.

    >>> parse_button_value("apr-7k2m9q:2"), parse_button_value("apr-7k2m9q:2:admin")
    (('apr-7k2m9q', 2), None)
    """
    found = _VALUE.fullmatch(value)
    return (found[1], int(found[2])) if found else None


def approval_card(
    request: ApprovalRequest, *, people: People, now: datetime
) -> Message:
    """Render a request that waits for a decision."""
    blocks = [
        header(f"Approval needed: {_price_plain(request)}"),
        *_what(request, people=people),
        *alternatives_block(request.alternatives),
        section(_who_may(request, people=people, now=now)),
        *_votes(request, people=people),
        actions(f"approval:{button_value(request)}", _buttons(request)),
        context(_basis(request)),
    ]
    text = f"Approval needed: {_summary(request)}"
    return fit_one(Message(text=text, blocks=tuple(blocks)))


def decided_card(request: ApprovalRequest, *, people: People) -> Message:
    """Render a request that is decided: who, when, what happens next; no buttons."""
    icon, word = _DECIDED[request.state]
    decided = f"{icon} *{word}*{_by(request, people)}{_at(request)}"
    reasons = [vote.reason for vote in _deciding(request) if vote.reason]
    blocks = [
        header(f"{word}: {_price_plain(request)}"),
        section(f"{decided}\n{_NEXT[request.state]}"),
        *(quote(reason) for reason in reasons[:3]),
        *_what(request, people=people),
        *_votes(request, people=people),
        context(_basis(request)),
    ]
    text = f"{word}: {_summary(request)}"
    return fit_one(Message(text=text, blocks=tuple(blocks)))


def _by(request: ApprovalRequest, people: People) -> str:
    by_hand = (RequestState.APPROVED, RequestState.DENIED, RequestState.CANCELLED)
    if request.state not in by_hand:
        return ""
    voters = [vote.person_id for vote in _deciding(request)]
    if not voters and request.decided_by:
        voters = [request.decided_by]
    return f" by {who_all(voters, people, joint=' and ')}" if voters else ""


def _deciding(request: ApprovalRequest) -> list[Vote]:
    wanted = {
        RequestState.APPROVED: Verdict.APPROVE,
        RequestState.DENIED: Verdict.DENY,
    }.get(request.state)
    return [vote for vote in request.votes if vote.verdict is wanted]


def _at(request: ApprovalRequest) -> str:
    return f" at {instant(request.decided_at)}" if request.decided_at else ""


def _summary(request: ApprovalRequest) -> str:
    ask = request.envelope
    job = fallback(ask.job)
    shape = f"{ask.count:,} x {fallback(ask.instance_type, most=40)}"
    return f"{job}, {shape}, {_price_plain(request)}"


def _price_plain(request: ApprovalRequest) -> str:
    period = f"over {hours(request.envelope.hours)}"
    if request.high is None:
        return f"price unknown, {period}"
    return f"up to {amount(request.high)} {period}"


def _what(request: ApprovalRequest, *, people: People) -> list[Json]:
    ask = request.envelope
    purchase = str(ask.purchase).replace("-", " ")
    shape = f"{ask.count:,} x {name(ask.instance_type, most=40)}, {purchase}"
    pairs = [
        ("Job", name(ask.job)),
        ("What", f"{shape}, in {name(ask.region, most=40)}"),
        ("How long", hours(ask.hours)),
        ("Price", _range(request)),
        ("Asked by", who(request.requester, people)),
        ("Team", name(request.team) if request.team else ""),
    ]
    if request.owner and request.owner != request.requester:
        pairs.append(("Owner of the job", who(request.owner, people)))
    if request.caller and request.caller != request.requester:
        pairs.append(("Filed by", who(request.caller, people)))
    return [fields(pairs), section("*Why*"), quote(request.reason)]


def _range(request: ApprovalRequest) -> str:
    if request.low is None or request.expected is None or request.high is None:
        return "unknown: there is no price for this, so a person must decide"
    span = f"{amount(request.low)} to {amount(request.high)}"
    return f"{span}, {amount(request.expected)} expected"


def _who_may(request: ApprovalRequest, *, people: People, now: datetime) -> str:
    rule = request.rule
    if rule is None:
        return "No policy asks for an approval of this."
    if not rule.tier.approvers:
        who_may = "Nobody may approve: the policy names no approvers. Tell an admin."
    else:
        needed = plural(rule.tier.required, "approval")
        names = who_all(rule.tier.approvers, people)
        who_may = f"*Needs {needed}* from {names}, not the requester or owner."
    over = f"Policy {name(rule.policy)}: over {limit(rule.tier.over)}."
    return f"{who_may}\n{over}{_expiry(request, now)}"


def _expiry(request: ApprovalRequest, now: datetime) -> str:
    ends = request.expires_at
    if ends is None:
        return ""
    if ends <= now:
        return f" Expired at {instant(ends)}."
    return f" Expires {instant(ends)}, in {duration(ends - now)}."


def _votes(request: ApprovalRequest, *, people: People) -> list[Json]:
    """Show who already spoke, while more must, or when several did."""
    required = request.rule.tier.required if request.rule else 1
    if not request.votes or (required == 1 and request.decided_at is not None):
        return []
    words = {Verdict.APPROVE: "approved", Verdict.DENY: "denied"}
    lines = [
        f"{who(vote.person_id, people)} {words[vote.verdict]} at {instant(vote.at)}"
        + (" (asserted on the command line)" if vote.asserted else "")
        for vote in request.votes
    ]
    yes = sum(vote.verdict is Verdict.APPROVE for vote in request.votes)
    return [
        context(f"{yes} of {plural(required, 'approval')} so far.", *lines[:_VOTES_MAX])
    ]


def _buttons(request: ApprovalRequest) -> list[Json]:
    value = button_value(request)
    sure = confirm(
        "Approve this run?",
        f"{plain(request.envelope.job, most=80)}: {_price_plain(request)}. "
        "A decision is final.",
        yes="Approve",
        no="Not yet",
    )
    return [
        button(
            "Approve", action_id=APPROVE, value=value, style="primary", confirm=sure
        ),
        button("Deny", action_id=DENY, value=value, style="danger"),
    ]


def _basis(request: ApprovalRequest) -> str:
    basis = f" Estimate: {escape(request.basis, most=300)}." if request.basis else ""
    asked = f"Asked {instant(request.created_at)}."
    return f"{name(request.request_id)} version {request.version}. {asked}{basis}"


def request_filed(request: ApprovalRequest, *, people: People, channel: str) -> Message:
    """Tell the requester what became of the request; `channel` is ready for mrkdwn."""
    shown = name(request.request_id)
    if request.state is RequestState.PENDING:
        text = (
            f"Request {shown} waits for a decision in {channel}: {_summary(request)}."
        )
    elif request.state is RequestState.APPROVED and request.rule is None:
        text = f"No approval is needed ({shown}): {_summary(request)}."
    else:
        word = _DECIDED[request.state][1]
        by, when = _by(request, people), _at(request)
        text = f"Request {shown}: {word}{by}{when}. {_NEXT[request.state]}"
    return Message(text=text, blocks=(section(text),))


def requests_list(
    requests: tuple[ApprovalRequest, ...], *, people: People, now: datetime
) -> Message:
    """List requests, newest first."""
    if not requests:
        text = "No approval requests."
        return Message(text=text, blocks=(section(text),))
    waiting = sum(one.state is RequestState.PENDING for one in requests)
    title = f"{plural(len(requests), 'approval request')}, {waiting} waiting"
    lines = [_line(one, people=people, now=now) for one in requests[:_REQUESTS_MAX]]
    left = len(requests) - _REQUESTS_MAX
    more = [context(f"and {left} more")] if left > 0 else []
    blocks = (header(title), *(section(line) for line in lines), *more)
    return Message(text=title, blocks=blocks)


def _line(request: ApprovalRequest, *, people: People, now: datetime) -> str:
    word = "Waiting"
    if request.state in _DECIDED:
        word = _DECIDED[request.state][1] + _by(request, people) + _at(request)
    ask = request.envelope
    shape = f"{ask.count:,} x {name(ask.instance_type, most=40)}"
    asked = f"asked by {who(request.requester, people)}"
    expiry = _expiry(request, now) if request.state is RequestState.PENDING else ""
    first = (
        f"{name(request.request_id)} {name(ask.job)}: {shape}, {_price_plain(request)}"
    )
    return f"{first}\n{word}, {asked}.{expiry}"
