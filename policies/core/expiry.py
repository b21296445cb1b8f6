"""When something ends, as people write it in a tag: a duration or a date.

A date without a time ends at the end of that day in the policy's zone; a time without
a zone is read in the policy's zone. Each value is read by itself. Pure.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from billing.core.errors import GpucostError
from policies.core.quantities import QuantityError, parse_duration

TTL_TAG = "gpucost-ttl"
DAY = timedelta(days=1)
_DATE = re.compile(r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})")
_INSTANT = re.compile(
    r"(?P<day>[0-9]{4}[-/][0-9]{2}[-/][0-9]{2})[T ]"
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?"
    r"\s?(?P<zone>Z|UTC|[+-][0-9]{2}:?[0-9]{2})?"
)


class ExpiryError(GpucostError, ValueError):
    """A tag does not say when something ends."""

    code = "invalid_expiry"

    def __init__(self, text: str) -> None:
        super().__init__(
            f"expected a duration like 48h or a date like 2026-10-14, got {text[:40]!r}"
        )


def parse_expiry(text: str, started_at: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant a tag value means.

    >>> start = datetime(2026, 10, 1, tzinfo=UTC)
    >>> parse_expiry("2026-10-14", start, ZoneInfo("Europe/Berlin")).isoformat()
    '2026-10-14T22:00:00+00:00'
    """
    stripped = text.strip()
    try:
        return started_at + parse_duration(stripped)
    except QuantityError:
        pass
    try:
        if _DATE.fullmatch(stripped):
            after = _day(stripped) + DAY
            return datetime.combine(after, time(), tzinfo=zone).astimezone(UTC)
        match = _INSTANT.fullmatch(stripped)
        if match:
            return _instant(match, zone)
    except (ValueError, OverflowError):
        pass
    raise ExpiryError(text)


def _day(text: str) -> date:
    return date.fromisoformat(text.replace("/", "-"))


def _instant(match: re.Match[str], zone: ZoneInfo) -> datetime:
    clock = time(int(match["hour"]), int(match["minute"]), int(match["second"] or 0))
    written = match["zone"]
    if written is None:
        return datetime.combine(_day(match["day"]), clock, tzinfo=zone).astimezone(UTC)
    offset = "+00:00" if written in {"Z", "UTC"} else written
    text = f"{_day(match['day'])}T{clock.isoformat()}{offset}"
    return datetime.fromisoformat(text).astimezone(UTC)
