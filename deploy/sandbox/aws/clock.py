"""The clock of the AWS double: what its rules and figures call now.

It must not know any AWS service. The HTTP ``Date`` header and credential expiry keep
the system clock, as they do on the product's side.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

FILE_PREFIX = "file:"
EXPECTED = "expected an instant like '2026-03-01T12:00:00Z' or 'file:PATH'"


def parse_instant(text: str) -> datetime:
    """Return the aware UTC instant that an RFC 3339 text names."""
    try:
        value = datetime.fromisoformat(text.strip())
    except ValueError as error:
        message = f"cannot read the instant {text!r}: {EXPECTED}"
        raise ValueError(message) from error
    if value.tzinfo is None:
        message = f"the instant {text!r} has no time zone: add Z for UTC"
        raise ValueError(message)
    return value.astimezone(UTC)


class Clock:
    """Tell the sandbox's time from a callable, an instant or a file."""

    def __init__(
        self, source: str | datetime | Callable[[], datetime] | None = None
    ) -> None:
        """Follow `source`; None follows the system clock."""
        self.source = source

    def set(self, source: str | datetime | Callable[[], datetime] | None) -> None:
        """Follow another source from the next reading on."""
        self.source = source

    def now(self) -> datetime:
        """Return the current instant, aware and in UTC."""
        source = self.source
        if source is None:
            return datetime.now(UTC)
        if isinstance(source, datetime):
            return source.astimezone(UTC)
        if callable(source):
            return source().astimezone(UTC)
        if source.startswith(FILE_PREFIX):
            source = Path(source.removeprefix(FILE_PREFIX)).read_text(encoding="utf-8")
        return parse_instant(source)

    def now_naive(self) -> datetime:
        """Return the current instant without its zone, as moto keeps times."""
        return self.now().replace(tzinfo=None)

    def today(self) -> date:
        """Return the current UTC day."""
        return self.now().date()
