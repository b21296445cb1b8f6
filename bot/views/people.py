"""How people appear in messages: a mention when Slack knows them, else their name.

``People`` maps what is stored (a pseudonym, an approver as the policy writes it, an
owner tag's value) to a Slack id, or to a name when there is no id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.views.text import escape, mention

People = Mapping[str, str]

PEOPLE_MAX = 8


def who(key: str, people: People) -> str:
    """Return somebody for mrkdwn; "" becomes "somebody unknown"."""
    if not key:
        return "somebody unknown"
    return mention(people.get(key, "") or key)


def who_plain(key: str, people: People) -> str:
    """Return somebody for plain text: no mention is possible there."""
    known = people.get(key, "")
    return escape(known or key or "somebody unknown", most=80)


def who_all(keys: Sequence[str], people: People, *, joint: str = " or ") -> str:
    """Return several people; the rest is counted."""
    shown = [who(key, people) for key in keys[:PEOPLE_MAX]]
    left = len(keys) - PEOPLE_MAX
    more = f" and {left} more" if left > 0 else ""
    return joint.join(shown) + more
