"""The message that says what changed in the policies in force."""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.answers import Message
from bot.views.blocks import context, header, section
from bot.views.limits import fit_one
from bot.views.text import escape
from bot.views.words import plural
from policies.core.comparing import KeyChange

#: More would be a wall; the rest is counted.
_LINES_MAX = 20
_VALUE_CHARS_MAX = 80


def policies_changed(changes: Sequence[KeyChange]) -> Message:
    """Say which keys of which policies say something else now."""
    title = f"Policies changed: {plural(len(changes), 'key')}"
    if not changes:
        title = "Policies changed"
    lines = [_line(one) for one in changes[:_LINES_MAX]]
    left = len(changes) - len(lines)
    if left:
        lines.append(f"and {left:,} more: `gpucost policy diff OLD NEW`")
    hint = (
        "In force now in every process. A policy that enforces acts only after two"
        " admins confirmed its new wording."
    )
    blocks = (header(title), section("\n".join(lines)), context(hint))
    return fit_one(Message(text=title, blocks=blocks))


def _line(one: KeyChange) -> str:
    name = f"*{_shown(one.policy)}*"
    if not one.key:
        kind = _shown(one.after or one.before)
        return f"\u2022 {name} ({kind}) {'added' if one.after else 'removed'}"
    before, after = one.before or "(default)", one.after or "(default)"
    return f"\u2022 {name} {_shown(one.key)}: {_shown(before)} \u2192 {_shown(after)}"


def _shown(text: str) -> str:
    return escape(text, most=_VALUE_CHARS_MAX)
