"""Text for Slack: what others wrote is shown literally, what we write may link.

Three kinds of text, never mixed up: ``plain`` for plain-text objects (Slack parses
nothing there), ``escape`` for prose inside mrkdwn, ``name`` for identifiers inside
mrkdwn (a code span, so that ``*`` and ``_`` stay what they are). Mentions and links
come from ``mention`` and ``link`` alone. Knows no blocks and no product words.
"""

from __future__ import annotations

import re
import unicodedata

#: Longest identifier that is shown whole.
NAME_CHARS_MAX = 80
#: Longest piece of somebody's prose that is shown whole.
PROSE_CHARS_MAX = 600

CUT = "…"
_SPACES = re.compile(r"\s+")
#: Format characters (zero width, bidi marks and overrides), private use, surrogates.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})
#: Variation selectors and fillers that draw nothing although they count as letters.
_HIDDEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800")
_MARKS_MAX = 3
#: Formatting of mrkdwn, each with a look-alike that Slack leaves alone.
_LOOKS = {"*": "\u2217", "_": "\uff3f", "~": "\u223c", "`": "\u02cb"}
#: Slack formats at word boundaries only: the ``_`` of ``gpu_memory`` may stay.
_MARKUP = re.compile(r"(?<!\w)[*_~]|[*_~](?!\w)|`")
_SLACK_USER = re.compile(r"[UW][A-Z0-9]{2,30}")
_SLACK_GROUP = re.compile(r"S[A-Z0-9]{2,30}")
_SLACK_CHANNEL = re.compile(r"[CDG][A-Z0-9]{2,30}")
_URL = re.compile(r"https?://[^\s<>|\"\\^`{}]+")


def plain(text: str, *, most: int = PROSE_CHARS_MAX) -> str:
    """Return text as one visible line: nothing hidden in it, cut with ``…``.

    >>> plain(f"a{chr(0x202e)}b{chr(0x200b)} {chr(10)}c"), plain("abcdef", most=4)
    ('ab c', 'abc…')
    """
    # Far beyond the cut nothing can show; a megabyte is not looked at twice.
    seen = text[: most * 8 + 64]
    spaced = _SPACES.sub(" ", seen)
    visible = "".join(_visible(spaced)).strip()
    visible = _SPACES.sub(" ", visible)
    if len(visible) > most or len(text) > len(seen):
        return visible[: most - 1].rstrip() + CUT
    return visible


def _visible(text: str) -> list[str]:
    kept: list[str] = []
    marks = 0
    for char in unicodedata.normalize("NFC", text):
        category = unicodedata.category(char)
        if category in _HIDDEN_CATEGORIES or char in _HIDDEN:
            continue
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks <= _MARKS_MAX:
            kept.append(char)
    return kept


def entities(text: str) -> str:
    """Escape the three characters that Slack parses, once."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape(text: str, *, most: int = PROSE_CHARS_MAX) -> str:
    """Return somebody's prose for mrkdwn: shown literally, never parsed.

    >>> escape("<!channel> A&B gpu_memory")
    '&lt;!channel&gt; A&amp;B gpu_memory'
    """
    shown = plain(text, most=most)
    return entities(_MARKUP.sub(lambda found: _LOOKS[found[0]], shown))


def fallback(text: str, *, most: int = NAME_CHARS_MAX) -> str:
    """Return somebody's text for the fallback line: escaped, otherwise as written."""
    return entities(plain(text, most=most))


def name(text: str, *, most: int = NAME_CHARS_MAX) -> str:
    """Return an identifier for mrkdwn as a code span; nothing in it is parsed.

    >>> name("job-123"), name("<!here>`x`")
    ('`job-123`', "`&lt;!here&gt;'x'`")
    """
    shown = plain(text, most=most).replace("`", "'")
    return f"`{entities(shown)}`" if shown else "`(empty)`"


def mention(slack_id: str) -> str:
    """Return a mention of a person or group by its Slack id; other text is escaped.

    >>> mention("U0MIA"), mention("S0OPS"), mention("<!channel>")
    ('<@U0MIA>', '<!subteam^S0OPS>', '&lt;!channel&gt;')
    """
    if _SLACK_USER.fullmatch(slack_id):
        return f"<@{slack_id}>"
    if _SLACK_GROUP.fullmatch(slack_id):
        return f"<!subteam^{slack_id}>"
    return escape(slack_id, most=NAME_CHARS_MAX)


def is_user_id(text: str) -> bool:
    """Tell whether text has the form of a Slack user id."""
    return _SLACK_USER.fullmatch(text) is not None


def channel(slack_id: str) -> str:
    """Return a link to a channel by id; a channel's name is shown as text."""
    if _SLACK_CHANNEL.fullmatch(slack_id):
        return f"<#{slack_id}>"
    return escape(slack_id, most=NAME_CHARS_MAX)


def link(url: str, label: str) -> str:
    """Return a link of our own; anything but a plain web address leaves the label."""
    shown = escape(label, most=NAME_CHARS_MAX).replace("|", "\u01c0")
    return f"<{entities(url)}|{shown}>" if _URL.fullmatch(url) else shown
