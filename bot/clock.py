"""The only reader of the clock; knows nothing of what the time is used for.

Two clocks: ``system_now`` for signatures, leases, credentials and skew; ``Clock.now``
for rules and figures, which ``GPUCOST_NOW`` may set in a sandbox.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from billing.core.errors import GpucostError

Now = Callable[[], datetime]


class InvalidNowError(GpucostError, ValueError):
    """``GPUCOST_NOW`` holds something that is no instant."""

    code = "invalid_now"
    hint = (
        "set it to an instant such as 2026-11-30T09:00:00Z, or to file:PATH holding one"
    )

    def __init__(self, text: str) -> None:
        super().__init__(f"GPUCOST_NOW is not an RFC 3339 instant: {text!r}")


def system_now() -> datetime:
    """Return the system's time in UTC."""
    return datetime.now(UTC)


def parse_instant(text: str) -> datetime:
    """Read an RFC 3339 instant; one without a zone is refused."""
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidNowError(text) from error
    if instant.tzinfo is None:
        raise InvalidNowError(text)
    return instant.astimezone(UTC)


def clock(setting: str) -> Now:
    """Return the clock of rules and figures for a ``GPUCOST_NOW`` setting.

    "" is the system's time; ``file:PATH`` is read again at each use.
    """
    if not setting:
        return system_now
    if setting.startswith("file:"):
        path = Path(setting.removeprefix("file:"))
        return lambda: parse_instant(path.read_text(encoding="utf-8"))
    instant = parse_instant(setting)
    return lambda: instant
