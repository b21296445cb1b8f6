"""How a Block Kit problem is said: text lengths, ids, JSON pointers.

The pieces that the checks of blocks and of elements share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

ID_CHARS_MAX = 255
URL_CHARS_MAX = 3000
ALT_TEXT_CHARS_MAX = 2000
TEXT_TYPES = frozenset({"plain_text", "mrkdwn"})


@dataclass(slots=True)
class Findings:
    """The problems of one `blocks` array, in Slack's words, and the ids seen."""

    messages: list[str] = field(default_factory=list)
    block_ids: set[str] = field(default_factory=set)
    action_ids: set[tuple[str, str]] = field(default_factory=set)

    def add(self, problem: str, pointer: str) -> None:
        """Record one problem at a JSON pointer."""
        self.messages.append(f"[ERROR] {problem} [json-pointer:{pointer}]")

    def chars(self, value: object, pointer: str, *, most: int, least: int = 1) -> None:
        """Require a text of `least` to `most` characters."""
        if not isinstance(value, str):
            self.add("must be a string", pointer)
        elif len(value) < least:
            self.add(f"must be more than {least - 1} characters", pointer)
        elif len(value) > most:
            self.add(f"must be less than {most + 1} characters", pointer)

    def maybe_chars(
        self, holder: dict[str, Any], key: str, pointer: str, *, most: int
    ) -> None:
        """Limit a text that may be absent."""
        if holder.get(key) is not None:
            self.chars(holder[key], f"{pointer}/{key}", most=most, least=0)

    def items(
        self, value: object, pointer: str, *, most: int, least: int = 1
    ) -> Sequence[Any]:
        """Require a list of `least` to `most` items and return what may be read."""
        if not isinstance(value, list):
            self.add("must be an array", pointer)
            return ()
        if len(value) < least:
            self.add(f"must have at least {least} items", pointer)
        if len(value) > most:
            self.add(f"no more than {most} items allowed", pointer)
        return value

    def mapping(self, value: object, pointer: str) -> dict[str, Any] | None:
        """Require a JSON object."""
        if isinstance(value, dict):
            return value
        self.add("must provide an object", pointer)
        return None

    def text(
        self,
        value: object,
        pointer: str,
        *,
        most: int,
        kinds: frozenset[str] = TEXT_TYPES,
    ) -> None:
        """Require a text object of an allowed type and length."""
        holder = self.mapping(value, pointer)
        if holder is None:
            return
        if holder.get("type") not in kinds:
            expected = " or ".join(sorted(kinds))
            self.add(f"must be of type {expected}", f"{pointer}/type")
        self.chars(holder.get("text"), f"{pointer}/text", most=most)

    def plain(self, value: object, pointer: str, *, most: int) -> None:
        """Require a `plain_text` object."""
        self.text(value, pointer, most=most, kinds=frozenset({"plain_text"}))

    def block_id(self, block: dict[str, Any], pointer: str) -> None:
        """Require a block id that is short enough and not used before."""
        value = block.get("block_id")
        if value is None:
            return
        self.chars(value, f"{pointer}/block_id", most=ID_CHARS_MAX)
        if value in self.block_ids:
            self.add(f"`block_id` {value} already exists", f"{pointer}/block_id")
        self.block_ids.add(str(value))

    def action_id(self, element: dict[str, Any], pointer: str) -> None:
        """Require an action id that is short enough and unique in its block."""
        value = element.get("action_id")
        if value is None:
            return
        self.chars(value, f"{pointer}/action_id", most=ID_CHARS_MAX)
        block = pointer.split("/elements", maxsplit=1)[0]
        if (block, str(value)) in self.action_ids:
            self.add(f"`action_id` {value} already exists", f"{pointer}/action_id")
        self.action_ids.add((block, str(value)))
