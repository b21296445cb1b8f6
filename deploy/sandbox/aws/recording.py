"""The list of every request that the AWS double answered.

It must not know how requests are read or answered. Headers, signatures and object
bodies are never kept.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request: who asked which service for what, and how it ended."""

    at: datetime
    service: str
    operation: str
    region: str
    account: str
    parameters: Mapping[str, Any]
    status: int
    error_code: str | None = None
    fault: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the request as JSON values."""
        return asdict(self) | {"at": self.at.isoformat().replace("+00:00", "Z")}


class Requests:
    """A list of recorded requests that several threads may write."""

    def __init__(self) -> None:
        """Start empty."""
        self._items: list[RecordedRequest] = []
        self._lock = threading.Lock()

    def add(self, request: RecordedRequest) -> None:
        """Append one request."""
        with self._lock:
            self._items.append(request)

    def clear(self) -> None:
        """Forget every request."""
        with self._lock:
            self._items.clear()

    def of(
        self, operation: str, *, service: str | None = None
    ) -> list[RecordedRequest]:
        """Return the requests for one operation, oldest first."""
        return [
            request
            for request in self
            if request.operation == operation
            and (service is None or request.service == service)
        ]

    def count(self, operation: str, *, service: str | None = None) -> int:
        """Return how often one operation was called."""
        return len(self.of(operation, service=service))

    def counts(self) -> dict[str, int]:
        """Return the number of calls per `service:Operation`."""
        counter = Counter(f"{item.service}:{item.operation}" for item in self)
        return dict(sorted(counter.items()))

    def to_json(self) -> dict[str, Any]:
        """Return every request and the counts as JSON values."""
        return {"requests": [r.to_json() for r in self], "counts": self.counts()}

    def __iter__(self) -> Iterator[RecordedRequest]:
        """Iterate over a copy, oldest first."""
        with self._lock:
            return iter(list(self._items))

    def __len__(self) -> int:
        """Return the number of recorded requests."""
        return len(self._items)

    def __getitem__(self, index: int) -> RecordedRequest:
        """Return one request by its place."""
        return self._items[index]
