"""How people are shown: what is known of a pseudonym."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.ports import UnitOfWork


def shown_names(unit: UnitOfWork, people: Iterable[str]) -> Mapping[str, str]:
    """Return how to show pseudonyms: as a Slack id, e-mail or name, where known."""
    names = {}
    for one in people:
        known = unit.people.lookup(one) or {}
        shown = known.get("slack_id") or known.get("email") or known.get("name")
        if shown:
            names[one] = shown
    return names
