"""Opaque page tokens, each bound to the parameters of the request that got it.

It must not know what is on a page.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from deploy.sandbox.aws.errors import AwsError

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a token leads: an offset in the answer to one request."""

    fingerprint: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRules:
    """How one operation names its token, and its errors about tokens."""

    field: str
    unknown_code: str = "InvalidNextTokenException"
    unknown_text: str = "Invalid next token"
    changed_code: str = "ValidationException"
    #: Parameters that may differ between pages.
    free: tuple[str, ...] = ()


class Pages:
    """Issue tokens and find the place that each one leads to."""

    def __init__(self) -> None:
        """Start without tokens."""
        self._places: dict[str, Place] = {}
        self._lock = threading.Lock()

    def offset(self, params: Mapping[str, Any], rules: PageRules) -> int:
        """Return where the asked page starts, or refuse its token."""
        token = params.get(rules.field)
        if token is None:
            return 0
        place = self._places.get(str(token))
        if place is None:
            raise AwsError(rules.unknown_code, rules.unknown_text)
        if place.fingerprint != fingerprint(params, rules):
            text = (
                "Your request parameters changed between pages. Try again with the "
                "old parameters or without a pagination token."
            )
            raise AwsError(rules.changed_code, text)
        return place.offset

    def issue(self, params: Mapping[str, Any], rules: PageRules, offset: int) -> str:
        """Return a new token for the page that starts at `offset`."""
        token = base64.b64encode(f"{uuid4()}:{offset}".encode()).decode()
        place = Place(fingerprint=fingerprint(params, rules), offset=offset)
        with self._lock:
            self._places[token] = place
        return token

    def cut(
        self,
        items: Sequence[Item],
        params: Mapping[str, Any],
        *,
        rules: PageRules,
        size: int,
    ) -> tuple[Sequence[Item], str | None]:
        """Return one page of the items, and the token of the next one."""
        start = self.offset(params, rules)
        end = start + size
        token = self.issue(params, rules, end) if end < len(items) else None
        return items[start:end], token


def fingerprint(params: Mapping[str, Any], rules: PageRules) -> str:
    """Return a text that is equal for pages of the same request."""
    left_out = {rules.field, *rules.free}
    kept = {key: value for key, value in params.items() if key not in left_out}
    return json.dumps(kept, sort_keys=True, default=str)
