"""YAML text as a tree of marked text: no types, no guesses, no surprises.

YAML 1.2 read by events, so that limits stop a hostile file while it is read. Scalars
stay the text that was written (account ids keep their zeros); every node knows its
line and column. Duplicate keys, tags, bombs and the comma trap are errors with a
place. Knows nothing of policies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from policies.load.commas import comma_traps

BYTES_MAX = 1_048_576
NODES_MAX = 50_000
DEPTH_MAX = 50
ALIASES_MAX = 100
PROBLEMS_MAX = 100
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_MERGE = "<<"
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something wrong with the text at a place (line and column from 1)."""

    line: int
    column: int
    message: str
    fix: str = ""
    path: tuple[str | int, ...] = ()


@dataclass(slots=True, kw_only=True, eq=False)
class Node:
    """One scalar, sequence or mapping.

    Attributes:
        text: Scalar text as written (escapes resolved); "" otherwise.
        is_plain: A scalar without quotes.
        is_flow: A collection in ``{}`` or ``[]``.
        items: Members of a sequence.
        entries: Keys and values of a mapping, in order, merged keys last.
        size / height: Nodes in this subtree, and its depth, aliases expanded.
    """

    kind: str
    line: int
    column: int
    end_line: int = 0
    end_column: int = 0
    text: str = ""
    is_plain: bool = False
    is_flow: bool = False
    items: list[Node] = field(default_factory=list)
    entries: list[tuple[Node, Node]] = field(default_factory=list)
    size: int = 1
    height: int = 1

    @property
    def is_null(self) -> bool:
        """Tell whether nothing (or YAML's null) was written."""
        return self.kind == "scalar" and self.is_plain and self.text in _NULLS


class _StopReadingError(Exception):
    """The text cannot be read any further."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def decode(raw: bytes) -> str | Problem:
    """Decode a file: UTF-8 with or without its mark, within the size limit."""
    if len(raw) > BYTES_MAX:
        message = f"the file is larger than {BYTES_MAX // 1024} KiB"
        return Problem(line=1, column=1, message=message, fix="split it")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = "expected UTF-8, got UTF-16"
        return Problem(line=1, column=1, message=message, fix="save it as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", errors="replace")
        return Problem(
            line=before.count("\n") + 1,
            column=len(before) - before.rfind("\n"),
            message=f"expected UTF-8, got byte 0x{raw[error.start]:02x}",
            fix="save it as UTF-8",
        )


def read_tree(text: str) -> tuple[Node | None, tuple[Problem, ...]]:
    """Read one YAML document; the tree is None when nothing could be read."""
    if text.count("\n") + text.count(",") > NODES_MAX:
        return None, (_too_many(1, 1),)
    builder = _Builder()
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            builder.take(event)
    except _StopReadingError as stop:
        builder.problems.append(stop.problem)
        builder.root = None
    except YAMLError as error:
        builder.problems.append(_syntax(text, error))
        builder.root = None
    except ValueError:  # the scanner lets an escape beyond Unicode through to chr()
        message = "not valid YAML: an escape that is no character"
        builder.problems.append(Problem(line=1, column=1, message=message))
        builder.root = None
    return builder.root, tuple(builder.problems[:PROBLEMS_MAX])


def to_plain(node: Node) -> Any:  # noqa: ANN401 (what YAML can hold)
    """Return dicts, lists, text and None of a tree; no text is interpreted."""
    if node.kind == "mapping":
        return {key.text: to_plain(value) for key, value in node.entries}
    if node.kind == "sequence":
        return [to_plain(item) for item in node.items]
    return None if node.is_null else node.text


def find(node: Node, path: tuple[str | int, ...], *, at_key: bool = False) -> Node:
    """Return the node at a path, or the nearest one above it that exists."""
    key: Node | None = None
    for step in path:
        found = _child(node, step)
        if found is None:
            return node
        key, node = found
    return key if key is not None and (at_key or node.is_null) else node


def _child(node: Node, step: str | int) -> tuple[Node | None, Node] | None:
    if node.kind == "sequence" and isinstance(step, int) and step < len(node.items):
        return None, node.items[step]
    for key, value in node.entries:
        if key.text == step:
            return key, value
    return None


def _too_many(line: int, column: int) -> Problem:
    message = f"more than {NODES_MAX} values in one file"
    return Problem(line=line, column=column, message=message, fix="split it")


def _syntax(text: str, error: YAMLError) -> Problem:
    """Say what is wrong with the syntax, in our words where it matters."""
    if isinstance(error, ReaderError):
        before = text[: error.position]
        return Problem(
            line=before.count("\n") + 1,
            column=len(before) - before.rfind("\n"),
            message="a control character cannot stand in YAML",
            fix="remove it",
        )
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    line, column = (mark.line, mark.column) if mark else (0, 0)
    said = str(getattr(error, "problem", "") or "not valid YAML")
    lines = text.split("\n")
    here = lines[line] if line < len(lines) else ""
    if _is_tab(said, here[: column + 1]):
        message, fix = "a tab cannot indent YAML", "use spaces"
    elif "mapping values" in said:
        message, fix = "a second ':' in one value", "quote the value"
    elif "cannot start any token" in said:
        message, fix = said, "quote the value"
    else:
        message, fix = f"not valid YAML: {said}", ""
    return Problem(line=line + 1, column=column + 1, message=message, fix=fix)


def _is_tab(said: str, before: str) -> bool:
    """Tell whether a tab indents the line that could not be read."""
    return "\\t" in said or ("\t" in before and not before[:-1].strip(" \t"))


class _Builder:
    """Builds nodes from events on a stack of its own; nothing recurses."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self._stack: list[tuple[Node, str | None]] = []
        self._pending: list[list[Node]] = []
        self._anchors: dict[str, Node] = {}
        self._count = 0
        self._aliases = 0
        self._documents = 0

    def take(self, event: object) -> None:
        if isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                mark = event.start_mark
                message = "a second document in one file"
                self._stop(mark, message, "one file holds one document")
        elif isinstance(event, AliasEvent):
            self._add(self._alias(event))
        elif isinstance(event, ScalarEvent):
            self._add(self._scalar(event))
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            kind = "mapping" if isinstance(event, MappingStartEvent) else "sequence"
            node = self._node(kind, event)
            node.is_flow = bool(event.flow_style)
            self._stack.append((node, event.anchor))
            self._pending.append([])
            if len(self._stack) > DEPTH_MAX:
                self._stop(event.start_mark, f"nested deeper than {DEPTH_MAX}", "")
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._close()

    def _scalar(self, event: ScalarEvent) -> Node:
        node = self._node("scalar", event)
        node.text = event.value
        node.is_plain = event.style in {None, ""}
        if not node.text.isascii() and _SURROGATES.search(node.text):
            self._problem(node, "half a character", "remove the escape of a surrogate")
        self._remember(event.anchor, node)
        return node

    def _stop(self, mark: Any, message: str, fix: str) -> None:  # noqa: ANN401
        raise _StopReadingError(
            Problem(
                line=mark.line + 1, column=mark.column + 1, message=message, fix=fix
            )
        )

    def _problem(self, node: Node, message: str, fix: str = "") -> None:
        self.problems.append(
            Problem(line=node.line, column=node.column, message=message, fix=fix)
        )

    def _node(self, kind: str, event: NodeEvent) -> Node:
        start, end = event.start_mark, event.end_mark
        node = Node(
            kind=kind,
            line=start.line + 1,
            column=start.column + 1,
            end_line=end.line + 1,
            end_column=end.column + 1,
        )
        self._count_nodes(1, node)
        tag = getattr(event, "ctag", None)
        if tag is not None:
            self._problem(node, f"tag {str(tag)!r} is not allowed", "remove the tag")
        return node

    def _count_nodes(self, number: int, node: Node) -> None:
        self._count += number
        if self._count > NODES_MAX:
            raise _StopReadingError(_too_many(node.line, node.column))

    def _remember(self, anchor: str | None, node: Node) -> None:
        if anchor:
            self._anchors[anchor] = node

    def _alias(self, event: AliasEvent) -> Node:
        self._aliases += 1
        name = str(event.anchor)
        target = self._anchors.get(name)
        if target is None:  # unknown, or still open: it would contain itself
            message = f"alias {name!r} has no anchor before it"
            self._stop(event.start_mark, message, "")
            raise AssertionError
        if self._aliases > ALIASES_MAX:
            self._stop(event.start_mark, f"more than {ALIASES_MAX} aliases", "")
        if len(self._stack) + target.height > DEPTH_MAX:
            self._stop(event.start_mark, f"nested deeper than {DEPTH_MAX}", "")
        self._count_nodes(target.size, target)
        return target

    def _add(self, node: Node) -> None:
        if self._pending:
            self._pending[-1].append(node)
        else:
            self.root = node

    def _close(self) -> None:
        node, anchor = self._stack.pop()
        children = self._pending.pop()
        node.size = 1 + sum(child.size for child in children)
        node.height = 1 + max((child.height for child in children), default=0)
        if node.is_flow:
            children = self._mend(node.kind, children)
        if node.kind == "sequence":
            node.items = children
        else:
            node.entries = list(self._entries(children))
        self._remember(anchor, node)
        self._add(node)

    def _mend(self, kind: str, children: list[Node]) -> list[Node]:
        """Report amounts cut by a comma; join them, so the rest is judged as meant."""
        for pieces in comma_traps(kind, children):
            whole = ",".join(piece.text for piece in pieces)
            message = f"a comma ends a value inside {{}} and [], so {whole!r} was cut"
            self._problem(pieces[0], message, f'quote the amount: "{whole}"')
            start = children.index(pieces[0])
            pieces[0].text = whole
            tails = (len(pieces) - 1) * (2 if kind == "mapping" else 1)
            children = children[: start + 1] + children[start + 1 + tails :]
        return children

    def _entries(self, children: list[Node]) -> Iterator[tuple[Node, Node]]:
        """Pair keys with values; explicit keys win over merged ones."""
        seen: dict[str, Node] = {}
        merged: list[tuple[Node, Node]] = []
        for key, value in zip(children[::2], children[1::2], strict=True):
            if key.kind != "scalar":
                self._problem(key, "a key must be a single word")
            elif key.is_plain and key.text == _MERGE:
                merged += self._merged(value)
            elif key.text in seen:
                first = seen[key.text]
                message = f"key {key.text!r} is set twice, first on line {first.line}"
                self._problem(key, message, "remove one of them")
            else:
                seen[key.text] = key
                yield key, value
        for key, value in merged:
            if key.text not in seen:
                seen[key.text] = key
                yield key, value

    def _merged(self, value: Node) -> list[tuple[Node, Node]]:
        sources = value.items if value.kind == "sequence" else [value]
        entries: list[tuple[Node, Node]] = []
        for source in sources:
            if source.kind != "mapping":
                self._problem(source, "'<<' merges mappings only", "use an alias *name")
            entries += source.entries
        return entries
