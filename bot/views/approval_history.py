"""What happened to a request, for documents and for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from bot.views.answers import Json
from policies.core.approvals import ApprovalRequest, RequestEvent

#: Votes have lines of their own, and what decides is the state.
_QUIET = frozenset(
    {
        RequestEvent.FILE,
        RequestEvent.VOTE,
        RequestEvent.APPROVE,
        RequestEvent.DENY,
        RequestEvent.BREAK_GLASS,
        RequestEvent.EXPIRE,
        RequestEvent.CANCEL,
    }
)


def history_rows(
    request: ApprovalRequest,
    names: Mapping[str, str],
    when: Callable[[datetime], str],
) -> list[tuple[str, str]]:
    """Return what happened to a request besides votes and decision, oldest first."""
    return [
        (
            one.event.value,
            f"{names.get(one.by, one.by) or 'gpucost'} {when(one.at)}"
            + (f": {_said(one.text, names)}" if one.text else ""),
        )
        for one in request.history
        if one.event not in _QUIET
    ]


def history_document(
    request: ApprovalRequest,
    names: Mapping[str, str],
    instant: Callable[[datetime], str | None],
) -> list[Json]:
    """Return everything that happened to a request, oldest first."""
    return [
        {
            "event": one.event.value,
            "version": one.version,
            "state": one.state.value,
            "by": names.get(one.by, one.by) or None,
            "at": instant(one.at),
            "text": _said(one.text, names) or None,
        }
        for one in request.history
    ]


def _said(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names in the place of pseudonyms."""
    return " ".join(names.get(word, word) for word in text.split())
