"""Figures in words: amounts, durations, days and instants as people read them.

Amounts carry their period, days are UTC billing days, durations have units. Knows
nothing of Slack; the terminal may use it too.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from billing.core.money import NANOS_PER_UNIT, Money, people_text

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
#: Below this an amount is said as "less than a cent".
_CENT_NANOS = NANOS_PER_UNIT // 100
_PERCENT_MAX = 999
BINARY = 1024


def plural(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun in the right number.

    >>> plural(1, "day"), plural(1200, "GPU"), plural(2, "query", "queries")
    ('1 day', '1,200 GPUs', '2 queries')
    """
    noun = one if count == 1 else (many or f"{one}s")
    return f"{count:,} {noun}"


def amount(money: Money) -> str:
    """Return an amount to the cent; a real amount below half a cent is not ``$0.00``.

    >>> amount(Money.of("1234.5")), amount(Money.of("0.004")), amount(Money.of("-12.5"))
    ('$1,234.50', 'less than $0.01', '-$12.50')
    """
    if money.nanos and abs(money.nanos) * 2 < _CENT_NANOS:
        least = people_text(_CENT_NANOS, money.currency)
        return f"less than {least}" if money.nanos > 0 else f"more than -{least}"
    return str(money)


def whole(money: Money) -> str:
    """Return an amount to the unit, for charts and long lists.

    >>> whole(Money.of("1234.5")), whole(Money.of("0.4"))
    ('$1,234', 'under $1')
    """
    units = round(Fraction(money.nanos, NANOS_PER_UNIT))
    if units == 0 and money.nanos:
        least = people_text(NANOS_PER_UNIT, money.currency).removesuffix(".00")
        return f"under {least}"
    text = people_text(units * NANOS_PER_UNIT, money.currency)
    return text.removesuffix(".00")


def binary_size(size: int) -> str:
    """Return a number of bytes in the unit that people read.

    >>> binary_size(900), binary_size(4_200_000_000_000), binary_size(1024**3)
    ('900 B', '3.8 TiB', '1 GiB')
    """
    units = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
    value, step = Fraction(size), 0
    while value >= BINARY and step < len(units) - 1:
        value, step = value / BINARY, step + 1
    return f"{float(value):.1f}".removesuffix(".0") + f" {units[step]}"


def share(part: Money, of: Money) -> str:
    """Return a part as a percentage of a positive whole; "" when there is none.

    >>> share(Money.of("1"), Money.of("3")), share(Money.of("1"), Money.of("0"))
    ('33 %', '')
    """
    if of.nanos <= 0:
        return ""
    percent = Fraction(part.nanos * 100, of.nanos)
    if part.nanos > 0 and percent < 1:
        return "<1 %"
    return f"{round(percent)} %"


def change(now: Money, before: Money | None) -> str:
    """Say how an amount moved; nothing before, or zero before, has no percentage.

    >>> change(Money.of("430"), Money.of("0")), change(Money.of("430"), None)
    ('new (was $0)', 'no earlier figure')
    >>> change(Money.of("110"), Money.of("100")), change(Money.of("0"), Money.of("0"))
    ('up 10 % from $100.00', 'no change')
    """
    if before is None:
        return "no earlier figure"
    if now.nanos == before.nanos:
        return "no change"
    if before.nanos == 0:
        return "new (was $0)"
    if before.nanos < 0:
        return f"was {before}"
    percent = round(Fraction((now.nanos - before.nanos) * 100, before.nanos))
    if percent == 0:
        return f"about the same as {before}"
    if percent > _PERCENT_MAX:
        times = round(Fraction(now.nanos, before.nanos))
        return f"{times:,} times {before}"
    way = "up" if percent > 0 else "down"
    return f"{way} {abs(percent)} % from {before}"


def duration(length: timedelta) -> str:
    """Return a duration in its two largest units.

    >>> duration(timedelta(hours=51)), duration(timedelta(minutes=1))
    ('2 days 3 hours', '1 minute')
    >>> duration(timedelta(seconds=20)), duration(timedelta(hours=3))
    ('under a minute', '3 hours')
    """
    if length < MINUTE:
        return "under a minute"
    days, rest = divmod(length, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes = rest // MINUTE
    parts = ((days, "day"), (hours, "hour"), (minutes, "minute"))
    first = next(index for index, (count, _) in enumerate(parts) if count)
    shown = [plural(count, noun) for count, noun in parts[first : first + 2] if count]
    return " ".join(shown)


def hours(value: Fraction) -> str:
    """Return a number of hours, exact to a minute.

    >>> hours(Fraction(24)), hours(Fraction(3, 2)), hours(Fraction(1))
    ('24 hours', '1.5 hours', '1 hour')
    """
    if value.denominator == 1:
        return plural(value.numerator, "hour")
    return f"{float(value):,.2f}".rstrip("0").rstrip(".") + " hours"


def ago(instant: datetime, now: datetime) -> str:
    """Say how long ago an instant was.

    >>> now = datetime(2026, 11, 30, 16, tzinfo=UTC)
    >>> ago(now - timedelta(hours=2), now), ago(now, now)
    ('2 hours ago', 'just now')
    """
    passed = now - instant
    return "just now" if passed < MINUTE else f"{duration(passed)} ago"


def day(value: date) -> str:
    """Return a day with its weekday.

    >>> day(date(2026, 11, 30))
    'Mon 30 Nov'
    """
    return f"{value:%a} {value.day} {value:%b}"


def short_day(value: date) -> str:
    """Return a day without its weekday.

    >>> short_day(date(2026, 11, 3))
    '3 Nov'
    """
    return f"{value.day} {value:%b}"


def instant(value: datetime) -> str:
    """Return an instant of UTC time to the minute.

    >>> instant(datetime(2026, 11, 30, 9, 5, tzinfo=UTC))
    '30 Nov 2026 09:05 UTC'
    """
    moment = value.astimezone(UTC)
    return f"{moment.day} {moment:%b %Y %H:%M} UTC"


def days_of(since: date, until: date) -> str:
    """Return a half-open span of days as people say it, both ends included.

    >>> days_of(date(2026, 11, 23), date(2026, 11, 30))
    '23 to 29 Nov 2026'
    >>> days_of(date(2026, 11, 23), date(2026, 11, 24))
    '23 Nov 2026'
    >>> days_of(date(2026, 12, 28), date(2027, 1, 4))
    '28 Dec 2026 to 3 Jan 2027'
    """
    last = max(since, until - DAY)
    end = f"{last.day} {last:%b %Y}"
    if last == since:
        return end
    if (last.year, last.month) == (since.year, since.month):
        return f"{since.day} to {end}"
    if last.year == since.year:
        return f"{since.day} {since:%b} to {end}"
    return f"{since.day} {since:%b %Y} to {end}"


def window(since: datetime, until: datetime) -> str:
    """Return a half-open window of time: whole days as days, else to its last instant.

    >>> start = datetime(2026, 11, 1, tzinfo=UTC)
    >>> window(start, datetime(2026, 11, 8, tzinfo=UTC))
    '1 to 7 Nov 2026'
    >>> window(start, datetime(2026, 11, 30, 16, 5, tzinfo=UTC))
    '1 Nov to 30 Nov 2026 16:05 UTC'
    """
    first, last = since.astimezone(UTC), until.astimezone(UTC)
    if (first.hour, first.minute) != (0, 0):
        return f"{instant(first)} to {instant(last)}"
    if (last.hour, last.minute, last.second) == (0, 0, 0):
        return days_of(first.date(), last.date())
    year = "" if first.year == last.year else f" {first.year}"
    return f"{short_day(first)}{year} to {instant(last)}"


def listed(items: tuple[str, ...], *, most: int = 5) -> str:
    """Join items, saying how many were left out.

    >>> listed(("a", "b", "c"), most=2), listed(("a", "b"))
    ('a, b and 1 more', 'a, b')
    """
    shown = ", ".join(items[:most])
    left = len(items) - most
    return f"{shown} and {left:,} more" if left > 0 else shown
