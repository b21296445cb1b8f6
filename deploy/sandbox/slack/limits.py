"""Slack's posting limit: about one message a second in a channel, with a burst.

Uses the system's monotonic clock, as the waiting caller does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic


@dataclass(slots=True)
class PostLimit:
    """A token bucket for each channel.

    Attributes:
        per_s: messages a second, or None for no limit at all.
        burst: messages that may come at once.
    """

    per_s: float | None = 1.0
    burst: int = 10
    now_s: Callable[[], float] = monotonic
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def retry_after_s(self, channel: str) -> int | None:
        """Take one token: None when the post may go, else whole seconds to wait."""
        if self.per_s is None:
            return None
        now_s = self.now_s()
        tokens, last_s = self._buckets.get(channel, (float(self.burst), now_s))
        tokens = min(float(self.burst), tokens + (now_s - last_s) * self.per_s)
        if tokens >= 1:
            self._buckets[channel] = (tokens - 1, now_s)
            return None
        self._buckets[channel] = (tokens, now_s)
        return max(1, math.ceil((1 - tokens) / self.per_s))
