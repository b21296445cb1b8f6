"""What can be pressed on an approval card, and how what comes back is read.

A button carries the request id and version, nothing else: who may is looked up when
somebody clicks.
"""

from __future__ import annotations

import re
from dataclasses import replace

from billing.core.estimate import Alternative
from billing.core.prices import Purchase
from bot.views.answers import Json
from bot.views.blocks import button, confirm, text_box
from bot.views.text import plain
from policies.core.approvals import ApprovalRequest, Envelope, RequestState

APPROVE = "approval_approve"
DENY = "approval_deny"
ASK = "approval_ask"
ANSWER = "approval_answer"
SWITCH = "approval_switch"
#: The box on the card: a reason, a question or an answer, for whichever button follows.
WORDS = "approval_words"
WORDS_CHARS_MAX = 1000
_VALUE = re.compile(r"(apr-[0-9a-z]{4,32}):([0-9]{1,6})")
_SWITCH_VALUE = re.compile(r"(apr-[0-9a-z]{4,32}):([0-9]{1,6}):([0-9]{1,2})")
_COUNTED = re.compile(r"([0-9]{1,6}) instances?")
_SWITCHES_MAX = 2


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


def words_box(request: ApprovalRequest) -> Json:
    """Return the box for words; what is in it goes with the button pressed next."""
    asked = request.state is RequestState.NEEDS_INFO
    label = "Answer, or reason to deny" if asked else "Reason to deny, or question"
    return text_box(
        f"approval:words:{button_value(request)}", WORDS, label, most=WORDS_CHARS_MAX
    )


def buttons(request: ApprovalRequest, price: str) -> list[Json]:
    """Return the buttons of a request that waits."""
    value = button_value(request)
    sure = confirm(
        "Approve this run?",
        f"{plain(request.envelope.job, most=80)}: {price}. A decision is final.",
        yes="Approve",
        no="Not yet",
    )
    deny = button("Deny", action_id=DENY, value=value, style="danger")
    if request.state is RequestState.NEEDS_INFO:
        return [button("Answer", action_id=ANSWER, value=value, style="primary"), deny]
    return [
        button(
            "Approve", action_id=APPROVE, value=value, style="primary", confirm=sure
        ),
        deny,
        button("Send back", action_id=ASK, value=value),
        *_switches(request),
    ]


def _switches(request: ApprovalRequest) -> list[Json]:
    """Offer whoever asked the cheaper ways that are a change of the request alone."""
    found = [
        (index, one)
        for index, one in enumerate(request.alternatives)
        if switch_of(request.envelope, one) is not None
    ]
    return [
        button(
            f"Switch to {one.what}",
            action_id=f"{SWITCH}_{index}",
            value=f"{button_value(request)}:{index}",
            confirm=confirm(
                "Change the request?",
                f"It becomes {plain(one.what, most=80)}: a new version that nobody has"
                " approved yet. Only whoever asked may do this.",
                yes="Change it",
                no="Leave it",
            ),
        )
        for index, one in found[:_SWITCHES_MAX]
    ]


def switch_of(envelope: Envelope, way: Alternative) -> Envelope | None:
    """Return what a request would ask for if it went another way; None if unclear."""
    if way.expected is None:
        return None
    if way.what == Purchase.SPOT.value and envelope.purchase is not Purchase.SPOT:
        return replace(envelope, purchase=Purchase.SPOT)
    found = _COUNTED.fullmatch(way.what)
    if found and 0 < int(found[1]) < envelope.count:
        return replace(envelope, count=int(found[1]))
    return None


def parse_switch_value(value: str) -> tuple[str, int, int] | None:
    """Read the value of a switch: request, version, which way; None if not ours.

    >>> parse_switch_value("apr-7k2m9q:2:0"), parse_switch_value("apr-7k2m9q:2")
    (('apr-7k2m9q', 2, 0), None)
    """
    found = _SWITCH_VALUE.fullmatch(value)
    return (found[1], int(found[2]), int(found[3])) if found else None
