"""The clock of the sandbox: what Slack believes the time is.

Timestamps and expiries follow it, so that a demo can live in another month.
Signatures and rate limits do not: they use the system clock.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

Clock = Callable[[], datetime]

_FILE_PREFIX = "file:"


def system_clock() -> datetime:
    """Return the present instant."""
    return datetime.now(UTC)


def clock_from(text: str | None) -> Clock:
    """Build a clock from an RFC 3339 instant, `file:PATH` holding one, or None.

    A file is read again at each use; an instant stands still.
    """
    if not text:
        return system_clock
    if text.startswith(_FILE_PREFIX):
        path = Path(text.removeprefix(_FILE_PREFIX))
        return lambda: parse_instant(path.read_text(encoding="utf-8"))
    instant = parse_instant(text)
    return lambda: instant


def parse_instant(text: str) -> datetime:
    """Parse an RFC 3339 instant with its offset.

    Raises:
        ValueError: the text is no instant, or names no offset.
    """
    instant = datetime.fromisoformat(text.strip())
    if instant.tzinfo is None:
        message = f"instant {text.strip()!r} has no offset: end it with 'Z'"
        raise ValueError(message)
    return instant.astimezone(UTC)


class TsSource:
    """Issue message timestamps that are unique and increase.

    Not thread-safe: its owner holds the lock.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_us = 0

    def next(self) -> str:
        """Return the next `ts`: seconds and six digits, as Slack writes them."""
        now = self._clock()
        now_us = int(now.timestamp()) * 1_000_000 + now.microsecond
        self._last_us = max(now_us, self._last_us + 1)
        return f"{self._last_us // 1_000_000}.{self._last_us % 1_000_000:06d}"
