"""The arguments of one Web API call, however the client sent them.

A form carries everything as text, JSON carries values; both mean the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeVar

from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.model import Json

Item = TypeVar("Item")

_TRUE = frozenset({"1", "true", "True"})
LIMIT_MAX = 1000


class Args:
    """Typed access to the arguments of one call."""

    def __init__(self, values: Json) -> None:
        self.values = values

    def has(self, key: str) -> bool:
        """Tell whether an argument was given at all."""
        return self.values.get(key) is not None

    def text(self, key: str) -> str:
        """Return a text, empty when absent."""
        value = self.values.get(key)
        return "" if value is None else str(value)

    def required(self, key: str) -> str:
        """Return a text that must be there."""
        value = self.text(key)
        if not value:
            raise SlackApiProblem(
                "invalid_arguments",
                messages=(f"[ERROR] missing required field: {key}",),
            )
        return value

    def flag(self, key: str) -> bool:
        """Return a boolean, false when absent."""
        value = self.values.get(key)
        return value is True or str(value) in _TRUE

    def number(self, key: str, default: int) -> int:
        """Return a whole number."""
        value = self.text(key)
        if not value:
            return default
        if not value.lstrip("-").isdigit():
            problem = f"[ERROR] must be an integer [json-pointer:/{key}]"
            raise SlackApiProblem("invalid_arguments", messages=(problem,))
        return int(value)

    def parsed(self, key: str, error: str) -> object:
        """Return a JSON value, read from text when it came in a form."""
        value = self.values.get(key)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            parsed: object = json.loads(value)
        except ValueError:
            raise SlackApiProblem(error) from None
        return parsed

    def items(self, key: str, error: str) -> list[Json] | None:
        """Return a list of objects, or None when absent."""
        value = self.parsed(key, error)
        if value is None:
            return None
        if not isinstance(value, list):
            raise SlackApiProblem(error)
        return value


def paginate(
    args: Args, rows: Sequence[tuple[str, Item]], *, default: int, backwards: bool
) -> tuple[list[Item], Json]:
    """Cut one page out of rows that are sorted by their key.

    The cursor names the key of the next row, so a row that comes or goes between
    two pages neither repeats nor hides another. `backwards`: keys fall.
    """
    limit = args.number("limit", default)
    if not 1 <= limit <= LIMIT_MAX:
        raise SlackApiProblem("invalid_limit")
    start = _start(args.text("cursor"), [key for key, _ in rows], backwards=backwards)
    page = [item for _, item in rows[start : start + limit]]
    more = start + limit < len(rows)
    cursor = f"next:{rows[start + limit][0]}" if more else ""
    return page, {"next_cursor": cursor}


def _start(cursor: str, keys: Sequence[str], *, backwards: bool) -> int:
    if not cursor:
        return 0
    prefix, _, wanted = cursor.partition(":")
    if prefix != "next" or not wanted:
        raise SlackApiProblem("invalid_cursor")
    for index, key in enumerate(keys):
        if key == wanted or (key < wanted if backwards else key > wanted):
            return index
    return len(keys)
