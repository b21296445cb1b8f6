"""Limits of the HTTP side: how much a request may hold, and how many there may be.

Everything here runs on the event loop alone, so nothing is locked.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request

#: Buckets kept; the longest unused one is forgotten first.
BUCKETS_MAX = 10_000
_MINUTE_S = 60.0


async def bounded_body(request: Request, limit: int) -> bytes | None:
    """Read the body; None as soon as it passes the limit, whatever its length says."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            return None
        parts.append(part)
    return b"".join(parts)


@dataclass(slots=True)
class RateLimit:
    """So many requests a minute for each key, as many at once after a pause.

    Attributes:
        per_minute: Both the rate and the most that may come at once.
        clock: Seconds that only grow.
    """

    per_minute: int
    clock: Callable[[], float]
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait_s(self, key: str, *, cost: int = 1) -> float:
        """Count a request; return 0, or the seconds until one is allowed again."""
        now = self.clock()
        left, seen = self._buckets.pop(key, (float(self.per_minute), now))
        left += (now - seen) * self.per_minute / _MINUTE_S
        left = min(left, float(self.per_minute))
        is_allowed = left >= cost
        if is_allowed:
            left -= cost
        self._buckets[key] = (left, now)
        if len(self._buckets) > BUCKETS_MAX:
            self._buckets.popitem(last=False)
        missing = max(cost, 1) - left
        return 0.0 if is_allowed else missing * _MINUTE_S / self.per_minute
