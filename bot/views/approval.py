"""The approval card: what, who, why, how much, cheaper ways, and who may decide.

A button carries the request id and version, nothing else: who may decide is looked
up when somebody clicks. Once decided the card has no buttons and names who decided.
"""

from __future__ import annotations

from datetime import datetime

from bot.views.answers import Json, Message
from bot.views.approval_buttons import button_value, buttons, words_box
from bot.views.blocks import (
    actions,
    bullets,
    context,
    fields,
    header,
    quote,
    section,
)
from bot.views.estimate import alternatives_block, limit
from bot.views.limits import fit_one
from bot.views.people import People, who, who_all
from bot.views.text import escape, fallback, name
from bot.views.words import amount, duration, hours, instant, plural
from policies.core.approvals import (
    ApprovalRequest,
    PastEvent,
    RequestEvent,
    RequestState,
    Verdict,
    Vote,
    approvers_of,
    assigned_to,
    open_question,
)
from policies.core.voting import approvals_missing

_REQUESTS_MAX = 20
_VOTES_MAX = 9
_PIECES_MAX = 5

_DECIDED = {
    RequestState.APPROVED: (":white_check_mark:", "Approved"),
    RequestState.DENIED: (":no_entry:", "Denied"),
    RequestState.EXPIRED: (":hourglass:", "Expired"),
    RequestState.CANCELLED: (":wastebasket:", "Cancelled"),
    RequestState.SUPERSEDED: (":arrows_counterclockwise:", "Replaced by a new version"),
    RequestState.CONSUMED: (":white_check_mark:", "Approved, and used"),
    RequestState.LAPSED: (":white_check_mark:", "Approved, then lapsed"),
}
_GRANTED = frozenset(
    {RequestState.APPROVED, RequestState.CONSUMED, RequestState.LAPSED}
)
_NEXT = {
    RequestState.APPROVED: (
        "It may be launched now with `gpucost run`, within what is described here and"
        " nothing else."
    ),
    RequestState.DENIED: "Nothing is launched. Ask again with a changed plan.",
    RequestState.EXPIRED: "Nobody decided in time, so nothing is launched. Ask again.",
    RequestState.CANCELLED: "It was withdrawn, so nothing is launched.",
    RequestState.SUPERSEDED: "What took its place has a card of its own; decide there.",
    RequestState.CONSUMED: "Nothing more may be launched under it. Ask again.",
    RequestState.LAPSED: (
        "Nothing more may be launched under it; what runs goes on. Ask again."
    ),
}


def approval_card(
    request: ApprovalRequest, *, people: People, now: datetime
) -> Message:
    """Render a request that waits: for a decision, or for an answer."""
    asked = open_question(request)
    title = "Waits for an answer" if asked else "Approval needed"
    blocks = [
        header(f"{title}: {_price_plain(request)}"),
        *_question(request, asked, people=people),
        *_edited(request),
        *_what(request, people=people),
        *_to_weigh(request),
        *alternatives_block(request.alternatives),
        section(_who_may(request, people=people, now=now)),
        *_votes(request, people=people),
        words_box(request),
        actions(
            f"approval:{button_value(request)}", buttons(request, _price_plain(request))
        ),
        context(_basis(request)),
    ]
    text = f"{title}: {_summary(request)}"
    return fit_one(Message(text=text, blocks=tuple(blocks)))


def _question(
    request: ApprovalRequest, asked: PastEvent | None, *, people: People
) -> list[Json]:
    if asked is None:
        return []
    whom = who(request.requester, people)
    said = f"*{whom}: {who(asked.by, people)} asks*"
    return [section(said), quote(asked.text)]


def _edited(request: ApprovalRequest) -> list[Json]:
    """Say how this version differs from the one before, whose approvals are void."""
    edits = [
        one
        for one in request.history
        if one.event is RequestEvent.EDIT and one.version == request.version
    ]
    if not edits:
        return []
    what = escape(edits[-1].text.replace(" -> ", " to "), most=400)
    return [section(f":pencil2: *Changed:* {what}. Earlier approvals are void.")]


def _to_weigh(request: ApprovalRequest) -> list[Json]:
    """Show what helps to decide: budget left, similar runs, and other pieces."""
    lines = [escape(line, most=300) for line in request.context]
    if request.pieces:
        shown = ", ".join(name(one) for one in request.pieces[:_PIECES_MAX])
        left = len(request.pieces) - _PIECES_MAX
        more = f" and {left} more" if left > 0 else ""
        lines.append(
            f"counted together with {shown}{more}: same owner and job family, 24 hours"
        )
    return [section(f"*To weigh*\n{bullets(lines)}")] if lines else []


def decided_card(request: ApprovalRequest, *, people: People) -> Message:
    """Render a request that is decided: who, when, what happens next; no buttons."""
    icon, word = _DECIDED[request.state]
    decided = f"{icon} *{word}*{_by(request, people)}{_at(request)}"
    if any(vote.verdict is Verdict.BREAK_GLASS for vote in request.votes):
        decided += "\n:rotating_light: The glass was broken: no approver agreed."
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
    by_hand = {*_GRANTED, RequestState.DENIED, RequestState.CANCELLED}
    if request.state not in by_hand:
        return ""
    voters = [vote.person_id for vote in _deciding(request)]
    if not voters and request.decided_by:
        voters = [request.decided_by]
    return f" by {who_all(voters, people, joint=' and ')}" if voters else ""


def _deciding(request: ApprovalRequest) -> list[Vote]:
    if request.state is RequestState.DENIED:
        return [vote for vote in request.votes if vote.verdict is Verdict.DENY]
    if request.state not in _GRANTED:
        return []
    broken = [vote for vote in request.votes if vote.verdict is Verdict.BREAK_GLASS]
    return broken or [vote for vote in request.votes if vote.verdict is Verdict.APPROVE]


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
    approvers = approvers_of(request, now)
    if not approvers:
        who_may = "Nobody may approve: the policy names no approvers. Tell an admin."
    else:
        needed = plural(rule.tier.required, "approval")
        names = who_all(approvers, people)
        who_may = f"*Needs {needed}* from {names}, not the requester or owner."
        assigned = assigned_to(request)
        if assigned:
            who_may += f" Please: {who_all(assigned, people, joint=' and ')}."
    over = f"Policy {name(rule.policy)}: over {limit(rule.tier.over)}."
    return f"{who_may}\n{over}{_expiry(request, now)}"


def _expiry(request: ApprovalRequest, now: datetime) -> str:
    ends = request.expires_at
    if ends is None:
        return ""
    if ends <= now:
        return f" Expired at {instant(ends)}."
    return f" Expires {instant(ends)}, in {duration(ends - now)}."


_SAID = {
    Verdict.APPROVE: "approved",
    Verdict.DENY: "denied",
    Verdict.BREAK_GLASS: "broke the glass",
}


def _votes(request: ApprovalRequest, *, people: People) -> list[Json]:
    """Show who already spoke, while more must, or when several did."""
    required = request.rule.tier.required if request.rule else 1
    if not request.votes or (required == 1 and request.decided_at is not None):
        return []
    lines = [
        f"{who(vote.person_id, people)} {_SAID[vote.verdict]}"
        + (f" for {who(vote.seat, people)}" if vote.seat else "")
        + f" at {instant(vote.at)}"
        + (" (asserted on the command line)" if vote.asserted else "")
        for vote in request.votes
    ]
    yes = max(required - approvals_missing(request, request.votes), 0)
    return [
        context(f"{yes} of {plural(required, 'approval')} so far.", *lines[:_VOTES_MAX])
    ]


def _basis(request: ApprovalRequest) -> str:
    basis = f" Estimate: {escape(request.basis, most=300)}." if request.basis else ""
    asked = f"Asked {instant(request.created_at)}."
    return f"{name(request.request_id)} version {request.version}. {asked}{basis}"


def request_filed(request: ApprovalRequest, *, people: People, channel: str) -> Message:
    """Tell the requester what became of the request; `channel` is ready for mrkdwn."""
    shown = name(request.request_id)
    if request.state.is_open:
        waits = "a decision" if request.state is RequestState.PENDING else "an answer"
        text = f"Request {shown} waits for {waits} in {channel}: {_summary(request)}."
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
    waiting = sum(one.state.is_open for one in requests)
    title = f"{plural(len(requests), 'approval request')}, {waiting} waiting"
    lines = [_line(one, people=people, now=now) for one in requests[:_REQUESTS_MAX]]
    left = len(requests) - _REQUESTS_MAX
    more = [context(f"and {left} more")] if left > 0 else []
    blocks = (header(title), *(section(line) for line in lines), *more)
    return Message(text=title, blocks=blocks)


def _line(request: ApprovalRequest, *, people: People, now: datetime) -> str:
    needs = request.state is RequestState.NEEDS_INFO
    word = "Waiting for an answer" if needs else "Waiting"
    if request.state in _DECIDED:
        word = _DECIDED[request.state][1] + _by(request, people) + _at(request)
    ask = request.envelope
    shape = f"{ask.count:,} x {name(ask.instance_type, most=40)}"
    asked = f"asked by {who(request.requester, people)}"
    expiry = _expiry(request, now) if request.state.is_open else ""
    first = (
        f"{name(request.request_id)} {name(ask.job)}: {shape}, {_price_plain(request)}"
    )
    return f"{first}\n{word}, {asked}.{expiry}"
