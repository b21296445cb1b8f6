"""Delegations as a document and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.views.documents import Document, instant
from bot.views.terminal import table, when
from policies.core.delegations import Delegation


def delegations_document(
    found: Sequence[Delegation], names: Mapping[str, str]
) -> Document:
    """Return who speaks for whom."""
    return {
        "delegations": [
            {
                "id": one.delegation_id,
                "from": names.get(one.from_id, one.from_id),
                "to": names.get(one.to_id, one.to_id),
                "since": instant(one.since),
                "until": instant(one.until),
            }
            for one in found
        ]
    }


def delegations_text(found: Sequence[Delegation], names: Mapping[str, str]) -> str:
    """Return what `gpucost approval delegations` prints."""
    if not found:
        return "nobody speaks for somebody else"
    rows = [
        (
            names.get(one.from_id, one.from_id), names.get(one.to_id, one.to_id),
            when(one.since), when(one.until),
        )
        for one in found
    ]  # fmt: skip
    return table([("away", "speaks for them", "since", "until"), *rows])
