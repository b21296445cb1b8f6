"""The states of a request as one table: what may follow on what. Total and pure.

Within one version a request only narrows: open, then decided, then (approved ones)
used up or lapsed. An edit starts a new version that nobody has agreed to yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from policies.core.approvals import RequestEvent, RequestState

_S, _E = RequestState, RequestEvent

#: What may happen in each open state, and where it leads.
_OPEN: Mapping[RequestEvent, RequestState] = {
    _E.DENY: _S.DENIED,
    _E.BREAK_GLASS: _S.APPROVED,
    _E.EDIT: _S.PENDING,
    _E.EXPIRE: _S.EXPIRED,
    _E.CANCEL: _S.CANCELLED,
    _E.SUPERSEDE: _S.SUPERSEDED,
}

TRANSITIONS: Mapping[RequestState, Mapping[RequestEvent, RequestState]] = {
    _S.PENDING: {
        **_OPEN,
        _E.VOTE: _S.PENDING,
        _E.APPROVE: _S.APPROVED,
        _E.ASK: _S.NEEDS_INFO,
        _E.REASSIGN: _S.PENDING,
        _E.ESCALATE: _S.PENDING,
        _E.REMIND: _S.PENDING,
    },
    _S.NEEDS_INFO: {
        **_OPEN,
        _E.ANSWER: _S.PENDING,
        _E.REASSIGN: _S.NEEDS_INFO,
        _E.ESCALATE: _S.NEEDS_INFO,
        _E.REMIND: _S.NEEDS_INFO,
    },
    _S.APPROVED: {
        _E.EDIT: _S.PENDING,
        _E.SUPERSEDE: _S.SUPERSEDED,
        _E.CONSUME: _S.CONSUMED,
        _E.LAPSE: _S.LAPSED,
    },
    _S.DENIED: {},
    _S.EXPIRED: {},
    _S.CANCELLED: {},
    _S.SUPERSEDED: {},
    _S.CONSUMED: {},
    _S.LAPSED: {},
}

#: States of which a decision is told: those that decide, with what decided.
DECIDING: Mapping[RequestState, RequestEvent] = {
    _S.APPROVED: _E.APPROVE,
    _S.DENIED: _E.DENY,
    _S.EXPIRED: _E.EXPIRE,
    _S.CANCELLED: _E.CANCEL,
    _S.SUPERSEDED: _E.SUPERSEDE,
}


@dataclass(frozen=True, slots=True)
class Refused:
    """Why something cannot happen to a request."""

    reason: str


def step(state: RequestState, event: RequestEvent) -> RequestState | Refused:
    """Return the state that follows, or why the event cannot happen."""
    follows = TRANSITIONS[state].get(event)
    if follows is None:
        return Refused(
            f"this request is {state.value}: {event.value} is too late or early"
        )
    return follows
