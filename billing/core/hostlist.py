"""Hostlists: how schedulers write many hosts as one text, such as ``gpu[001-003,007]``.

Counted before it is written out, so that a short text cannot become a billion names.
Pure.
"""

from __future__ import annotations

import re
from itertools import product

#: Hosts of one job; the largest clusters have fewer nodes.
HOSTS_MAX = 10_000
_PARTS_MAX = 4
_NAME = re.compile(r"[A-Za-z0-9._-]*")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_EXAMPLE = "gpu[001-003,007],trn-2"


def expand_hosts(text: str, *, limit: int = HOSTS_MAX) -> tuple[str, ...]:
    """Return the hosts of a hostlist, in its order.

    Raises:
        ValueError: It is no hostlist, or names more than ``limit`` hosts.

    >>> expand_hosts("gpu[001-003,007],trn-2")
    ('gpu001', 'gpu002', 'gpu003', 'gpu007', 'trn-2')
    """
    parsed = [_pieces(item) for item in _split(text.strip())]
    count = 0
    for pieces in parsed:
        size = 1
        for piece in pieces:
            size *= sum(last - first + 1 for first, last, _ in piece[1]) or 1
        count += size
        if count > limit:
            raise ValueError(f"a hostlist of more than {limit} hosts")
    hosts = [host for pieces in parsed for host in _written(pieces)]
    if not hosts or len(set(hosts)) != len(hosts):
        raise ValueError(f"expected hosts such as {_EXAMPLE!r}, each once")
    return tuple(hosts)


#: Text, then the ranges behind it as ``(first, last, width)``; none at the end.
_Piece = tuple[str, list[tuple[int, int, int]]]


def _split(text: str) -> list[str]:
    """Split at the commas that stand outside of brackets."""
    items, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        elif letter == "," and depth == 0:
            items.append(text[start:place])
            start = place + 1
        if depth not in {0, 1}:
            raise ValueError(f"brackets do not fit, expected {_EXAMPLE!r}")
    if depth:
        raise ValueError(f"a bracket is not closed, expected {_EXAMPLE!r}")
    return [*items, text[start:]]


def _pieces(item: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    rest = item
    while rest:
        name, bracket, rest = rest.partition("[")
        inside, _, rest = rest.partition("]")
        if _NAME.fullmatch(name) is None or not (name or bracket):
            raise ValueError(
                f"a host is named by letters, digits and .-_, got {name!r}"
            )
        pieces.append((name, _ranges(inside) if bracket else []))
    if not pieces or len(pieces) > _PARTS_MAX:
        raise ValueError(f"expected hosts such as {_EXAMPLE!r}, got {item[:40]!r}")
    return pieces


def _ranges(inside: str) -> list[tuple[int, int, int]]:
    found = []
    for part in inside.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"expected numbers such as 001-003, got {part[:40]!r}")
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first):
            raise ValueError(f"a range that ends before it begins: {part!r}")
        found.append((int(first), int(last), len(first)))
    return found


def _written(pieces: list[_Piece]) -> list[str]:
    choices = []
    for name, ranges in pieces:
        numbers = [
            f"{name}{number:0{width}d}"
            for first, last, width in ranges
            for number in range(first, last + 1)
        ]
        choices.append(numbers or [name])
    return ["".join(parts) for parts in product(*choices)]
