"""Words of a command as people type them: quotes, dashes, Slack's own escapes.

Phones turn ``--`` into a dash and quotes into curly ones; Slack escapes ``&<>`` and
turns names into links. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

#: Longest command that is read; Slack sends less.
TEXT_CHARS_MAX = 4000
_DASHES = "\u2012\u2013\u2014\u2015\u2212"
#: A dash before a letter at the start of a word is the option sign.
_OPTION = re.compile(rf"^(?:[{_DASHES}]{{1,2}}|--?)(?=[A-Za-z])")
#: What opens a quotation, and everything that ends it as phones write it.
_QUOTES = {
    '"': '"',
    "'": "'",
    "\u201c": '\u201d\u201c"',
    "\u2018": "\u2019\u2018'",
    "\u00ab": "\u00bb",
}
_CONTROL = re.compile(r"<([^<>]*)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A command taken apart: plain words in order, and options by name."""

    plain: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def unescape(text: str) -> str:
    """Turn what Slack sends back into what was typed.

    >>> unescape("<mailto:a@b.example|a@b.example> A&amp;B <@U0MIA|mia>")
    'a@b.example A&B <@U0MIA>'
    """
    text = _CONTROL.sub(_typed, text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _typed(found: re.Match[str]) -> str:
    body, _, label = found[1].partition("|")
    if body[:1] in {"@", "#", "!"}:
        return f"<{body}>"
    return label or body.removeprefix("mailto:")


def tokens(text: str) -> list[str]:
    """Split at spaces outside quotations; an open quotation runs to the end.

    >>> tokens('a "big run" --name="x y"')
    ['a', 'big run', '--name=x y']
    """
    found: list[str] = []
    word: list[str] = []
    closing, started = "", False
    for char in text:
        if closing:
            if char in closing:
                closing = ""
            else:
                word.append(char)
        elif char.isspace():
            if word or started:
                found.append("".join(word))
            word, started = [], False
        elif char in _QUOTES and (not word or word[-1] == "="):
            closing, started = _QUOTES[char], True
        else:
            word.append(char)
    if word or started:
        found.append("".join(word))
    return found


def read_words(text: str, *, flags: frozenset[str] = frozenset()) -> Words:
    """Read a command's words and ``--options``; `flags` are options without a value."""
    plain: list[str] = []
    options: dict[str, str] = {}
    problems: list[str] = []
    queue = tokens(unescape(text[:TEXT_CHARS_MAX]))
    while queue:
        word = queue.pop(0)
        key, value, is_option = _option(word)
        if not is_option:
            plain.append(word)
            continue
        if value is None and key not in flags:
            value = queue.pop(0) if queue and not _option(queue[0])[2] else None
            if value is None:
                problems.append(f"--{key} needs a value")
        if key in options:
            problems.append(f"--{key} was given twice")
        options[key] = value or ""
    return Words(plain=tuple(plain), options=options, problems=tuple(problems))


def _option(word: str) -> tuple[str, str | None, bool]:
    sign = _OPTION.match(word)
    if sign is None:
        return "", None, False
    key, equals, value = word[sign.end() :].partition("=")
    return key.lower().replace("_", "-"), value if equals else None, True


def without_mention(text: str, user_id: str) -> str:
    """Return what was said to us, without our own name in front.

    >>> without_mention("<@U0GPUCOST|gpucost> job-123", "U0GPUCOST")
    'job-123'
    """
    found = re.match(r"\s*<@([UW][A-Z0-9]+)(?:\|[^>]*)?>[:,]?\s*", text)
    return text[found.end() :] if found and found[1] == user_id else text


def unknown_options(words: Words, known: set[str]) -> tuple[str, ...]:
    """Return what is wrong with options that a command does not have."""
    return tuple(
        f"unknown option --{key}" + _meant(get_close_matches(key, known, n=1))
        for key in words.options
        if key not in known
    )


def _meant(near: Sequence[str]) -> str:
    return f", did you mean --{near[0]}?" if near else ""
