"""A press on an approval card, read: which request, what is asked, which words.

Buttons carry identifiers; words come from the card's box. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.slack.handlers import Asker, Click
from bot.slack.origin import Body
from bot.views.approval_buttons import (
    ANSWER,
    APPROVE,
    ASK,
    DENY,
    SWITCH,
    WORDS,
    WORDS_CHARS_MAX,
    parse_button_value,
    parse_switch_value,
)
from policies.core.approvals import RequestEvent, Verdict

_VERDICTS = {APPROVE: Verdict.APPROVE, DENY: Verdict.DENY}
_EVENTS = {ASK: RequestEvent.ASK, ANSWER: RequestEvent.ANSWER}
#: Every action id that a card may send.
PATTERN = f"(?:{APPROVE}|{DENY}|{ASK}|{ANSWER}|{SWITCH}_[0-9]{{1,2}})"


def read_click(body: Body, action: Body, asker: Asker, now: datetime) -> Click | None:
    """Return what was pressed; None when no button of ours says so."""
    action_id = str(action.get("action_id") or "")
    value = str(action.get("value") or "")
    verdict, event, way = _VERDICTS.get(action_id), _EVENTS.get(action_id), 0
    named = parse_button_value(value)
    if action_id.startswith(f"{SWITCH}_"):
        switch = parse_switch_value(value)
        named = switch[:2] if switch else None
        event, way = RequestEvent.EDIT, switch[2] if switch else 0
    if named is None or (verdict is None and event is None):
        return None
    container = body.get("container") or {}
    return Click(
        asker=asker,
        request_id=named[0],
        version=named[1],
        verdict=verdict,
        event=event,
        way=way,
        reason=_words(body),
        message_ts=str(container.get("message_ts") or ""),
        now=now,
    )


def _words(body: Body) -> str:
    """Return what somebody wrote in the card's box; "" when nothing."""
    values = (body.get("state") or {}).get("values")
    for block in values.values() if isinstance(values, Mapping) else ():
        found: Any = block.get(WORDS) if isinstance(block, Mapping) else None
        if isinstance(found, Mapping):
            return str(found.get("value") or "").strip()[:WORDS_CHARS_MAX]
    return ""
