"""Untagged items in words, for the terminal and Slack alike; pure."""

from __future__ import annotations

from bot.views.untagged_values import (
    Suggestion,
    UntaggedItem,
    UntaggedResource,
)
from bot.views.words import plural

LIKELY, STRONG = 50, 80


def strength(score: int) -> str:
    """Say how sure a suggestion is.

    >>> [strength(score) for score in (30, 50, 90)]
    ['weak', 'likely', 'strong']
    """
    if score >= STRONG:
        return "strong"
    return "likely" if score >= LIKELY else "weak"


def reasons_text(found: Suggestion) -> str:
    """Say why a job is suggested, each sign with its points."""
    return "; ".join(f"{one.text} ({one.points})" for one in found.reasons)


def suggestion_text(found: Suggestion) -> str:
    """Return a suggestion in one line, without its reasons."""
    return f"{found.job} ({strength(found.score)}, {found.score} of 100)"


def resource_text(one: UntaggedResource) -> str:
    """Return a resource with its time."""
    return f"{one.resource_id} {one.hours:,.1f} h".replace(".0 h", " h")


def resources_text(item: UntaggedItem, *, most: int = 3) -> str:
    """Name the resources behind an item; "" when none is known."""
    if not item.resources:
        return ""
    shown = ", ".join(resource_text(one) for one in item.resources[:most])
    left = len(item.resources) - most
    more = f" and {left:,} more" if left > 0 else ""
    return f"{plural(len(item.resources), 'resource')}: {shown}{more}"
