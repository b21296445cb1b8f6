"""The comma trap: inside ``{}`` and ``[]`` a comma ends a value, also within an amount.

``{over: $100,000}`` is YAML for ``over: $100`` and a key ``000``: a limit a thousand
times too low. Found by shape and place, before anything is interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol, TypeVar

_HEAD = re.compile(r"(?:[<>]=?\s?)?[$€£]?\s?[0-9]{1,3}")
_TAIL = re.compile(r"[0-9]{3}(?:\.[0-9]+)?(?:\s?[A-Za-z]{1,3})?")


class Marked(Protocol):
    """A piece of text and its place, as much of it as is needed here."""

    kind: str
    text: str
    line: int
    column: int
    end_line: int
    end_column: int
    is_plain: bool

    @property
    def is_null(self) -> bool:
        """Tell whether nothing was written."""


M = TypeVar("M", bound=Marked)


def comma_traps(kind: str, children: list[M]) -> Iterator[list[M]]:
    """Yield the pieces of each amount that a comma cut."""
    if kind == "mapping":
        keys, values = children[::2], children[1::2]
        yield from _cut(values[:1], keys, values)
    else:
        yield from _cut_items(children)


def _cut(first: list[M], keys: list[M], values: list[M]) -> Iterator[list[M]]:
    """Find values followed by keys of three digits that have no value of their own."""
    pieces = list(first)
    for key, value in zip(keys[1:], values[1:], strict=True):
        if _is_tail(pieces, key) and value.is_null:
            pieces.append(key)
            continue
        if len(pieces) > 1:
            yield pieces
        pieces = [value]
    if len(pieces) > 1:
        yield pieces


def _cut_items(items: list[M]) -> Iterator[list[M]]:
    """Find neighbours without a space between that read as one amount."""
    pieces: list[M] = []
    for item in items:
        if pieces and _is_tail(pieces, item) and _touches(pieces[-1], item):
            pieces.append(item)
            continue
        if len(pieces) > 1:
            yield pieces
        pieces = [item]
    if len(pieces) > 1:
        yield pieces


def _is_tail(pieces: list[M], item: M) -> bool:
    head = pieces[0]
    return (
        head.kind == "scalar"
        and head.is_plain
        and item.is_plain
        and _HEAD.fullmatch(head.text) is not None
        and _TAIL.fullmatch(item.text) is not None
    )


def _touches(left: M, right: M) -> bool:
    return left.end_line == right.line and left.end_column + 1 == right.column
