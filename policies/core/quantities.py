"""Amounts as people write them: money, durations, percentages, limits, steps.

Strict on purpose: what could be read in two ways is refused with a hint, since a
comma in the wrong place is an error of a thousandfold. Used for policy files and for
commands typed in Slack or a shell; knows of neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

from billing.core.errors import GpucostError
from billing.core.money import NANOS_MAX, NANOS_PER_UNIT, USD, Money, people_text

TEXT_MAX = 64
DURATION_MAX = timedelta(days=3650)

_PLAIN = r"[0-9]+(?:_[0-9]+)*"
_GROUPED = r"[0-9]{1,3}(?:,[0-9]{3})+"
_NUMBER = re.compile(
    rf"(?P<whole>{_GROUPED}|{_PLAIN})(?:\.(?P<part>[0-9]+))?"
    r"(?:[eE](?P<power>[+-]?[0-9]{1,2})|\s?(?P<scale>[kKmM]))?"
)
_SCALES = {"k": 1_000, "m": 1_000_000}
_SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP"}
_AMOUNT = re.compile(
    r"(?P<symbol>[$€£])?\s?(?P<number>[0-9].*?)(?:\s?(?P<code>[A-Z]{3}))?"
)
_NEGATIVE = re.compile(r"[$€£]?\s?[-−–]")  # noqa: RUF001 (typed by phones)
_UNITS = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
}
_DURATION = re.compile(
    r"(?:([0-9]{1,6})w)?(?:([0-9]{1,6})d)?(?:([0-9]{1,6})h)?"
    r"(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?"
)
_WORDY = re.compile(
    r"([0-9]{1,6})\s*(weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[wdhms])"
)
_BYTE_RATES = {
    "B/s": 1,
    "kB/s": 10**3,
    "KB/s": 10**3,
    "MB/s": 10**6,
    "GB/s": 10**9,
    "KiB/s": 2**10,
    "MiB/s": 2**20,
    "GiB/s": 2**30,
}
_COMPARISON = re.compile(r"(<=|>=|<|>)\s*(\S.*)")
_RATE = re.compile(r"([0-9.,_]+)\s*([kKMG]?i?B/s)")


class QuantityError(GpucostError, ValueError):
    """A quantity cannot be read, or only in more than one way."""

    code = "invalid_quantity"

    def __init__(self, text: object, expected: str, hint: str = "") -> None:
        super().__init__(f"expected {expected}, got {text!r}")
        self.text = text
        self.expected = expected
        self.hint = hint


# --------------------------------------------------------------------------- numbers


def _number(text: str, expected: str) -> Fraction:
    """Read an exact decimal number; commas only in groups of three."""
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > TEXT_MAX:
        raise QuantityError(text[:TEXT_MAX], expected, _number_hint(text))
    whole = match["whole"].replace(",", "").replace("_", "")
    value = Fraction(f"{whole}.{match['part'] or 0}")
    if match["power"]:
        value *= Fraction(10) ** int(match["power"])
    if match["scale"]:
        value *= _SCALES[match["scale"].lower()]
    return value


def _number_hint(text: str) -> str:
    if "," in text and re.fullmatch(r"[0-9.,]+", text):
        if re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3})*,[0-9]{1,2}", text):
            plain = text.replace(".", "").replace(",", ".")
            return f"write {plain} if the comma is a decimal point"
        return "a comma separates groups of three digits, a point the decimals"
    if text.count(".") > 1:
        return "write thousands with a comma or without any separator"
    return ""


def parse_count(text: str, *, least: int = 0) -> int:
    """Read a whole number.

    >>> parse_count("10_000"), parse_count("10k")
    (10000, 10000)
    """
    expected = f"a whole number of at least {least}"
    value = _number(text.strip(), expected)
    if value.denominator != 1 or value < least or value > NANOS_MAX:
        raise QuantityError(text, expected)
    return int(value)


# ----------------------------------------------------------------------------- money


def parse_money(text: str, *, currency: str = USD, least: Money | None = None) -> Money:
    """Read an amount of money that is not negative.

    >>> [parse_money(text).text() for text in ("$10,000", "10K", "10000 USD", "1e4")]
    ['10000.00', '10000.00', '10000.00', '10000.00']
    """
    expected = "an amount like $10,000"
    stripped = text.strip()
    if _NEGATIVE.match(stripped):
        raise QuantityError(text, expected, "an amount cannot be negative here")
    match = _AMOUNT.fullmatch(stripped)
    if match is None:
        raise QuantityError(text[:TEXT_MAX], expected)
    try:
        value = _number(match["number"], expected)
    except QuantityError as error:
        raise QuantityError(text[:TEXT_MAX], expected, error.hint) from None
    amount = _money(value, _currency(text, match, currency), text)
    if least is not None and amount < least:
        raise QuantityError(text, f"an amount of at least {money_text(least)}")
    return amount


def _currency(text: str, match: re.Match[str], default: str) -> str:
    named = _SYMBOLS.get(match["symbol"] or "", "")
    code = match["code"] or named or default
    if named and code != named:
        raise QuantityError(text, "one currency", f"write {named} or {code}, not both")
    return code


def _money(value: Fraction, currency: str, text: str) -> Money:
    nanos = value * NANOS_PER_UNIT
    if nanos.denominator != 1:
        raise QuantityError(text, "an amount with at most 9 decimals")
    if nanos > NANOS_MAX:
        raise QuantityError(text, "an amount that fits the ledger (under $9 billion)")
    return Money(int(nanos), currency)


def money_text(amount: Money) -> str:
    """Return an amount as people write it, exactly, without empty cents.

    >>> money_text(Money.of("10000")), money_text(Money.of("10000.004"))
    ('$10,000', '$10,000.004')
    """
    whole, fraction = divmod(abs(amount.nanos), NANOS_PER_UNIT)
    shown = people_text(whole * NANOS_PER_UNIT, amount.currency).removesuffix(".00")
    sign = "-" if amount.nanos < 0 else ""
    if not fraction:
        return f"{sign}{shown}"
    places = f"{fraction:09d}".rstrip("0").ljust(2, "0")
    return f"{sign}{shown}.{places}"


# -------------------------------------------------------------------------- durations


def parse_duration(text: str, *, allow_zero: bool = False) -> timedelta:
    """Read a duration such as ``30m``, ``24h``, ``7d`` or ``1h30m``.

    >>> parse_duration("1h30m")
    datetime.timedelta(seconds=5400)
    """
    expected = "a duration like 30m, 24h, 7d or 1h30m"
    stripped = text.strip()
    match = _DURATION.fullmatch(stripped)
    if not stripped or match is None:
        raise QuantityError(text[:TEXT_MAX], expected, _duration_hint(stripped))
    parts = zip(match.groups(), _UNITS.values(), strict=True)
    length = sum((int(n) * unit for n, unit in parts if n), timedelta())
    if length > DURATION_MAX:
        raise QuantityError(text, "a duration of at most 3650d")
    if not length and not allow_zero:
        raise QuantityError(text, f"{expected}, longer than zero")
    return length


def _duration_hint(text: str) -> str:
    if re.fullmatch(r"[0-9]+", text):
        return f"add a unit: {text}m, {text}h or {text}d"
    wordy = _WORDY.fullmatch(text.lower())
    if wordy:
        return f"write {wordy[1]}{wordy[2][0]}"
    if re.fullmatch(r"[0-9]+\.[0-9]+\s*[a-z]+", text.lower()):
        return "write fractions in the next smaller unit, such as 1h30m"
    return ""


def duration_text(length: timedelta) -> str:
    """Return the canonical spelling of a duration; days from two days on.

    >>> [duration_text(timedelta(hours=hours)) for hours in (24, 36, 168, 1.5)]
    ['24h', '36h', '7d', '1h30m']
    """
    seconds = int(length.total_seconds())
    if seconds < 0:
        return f"-{duration_text(-length)}"
    days, rest = divmod(seconds, 86_400)
    if days < 2 or (rest and days < 4):  # noqa: PLR2004 (36h reads better than 1d12h)
        days, rest = 0, seconds
    hours, rest = divmod(rest, 3_600)
    minutes, second = divmod(rest, 60)
    parts = ((days, "d"), (hours, "h"), (minutes, "m"), (second, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"


# ------------------------------------------------------------------------ percentages


def parse_percent(text: str, *, most: int = 100) -> Fraction:
    """Read a percentage as an exact share of one.

    >>> parse_percent("12.5%")
    Fraction(1, 8)
    """
    expected = f"a percentage like 20%, from 0% to {most}%"
    stripped = text.strip()
    number = stripped.removesuffix("%").rstrip()
    if number == stripped:
        try:
            _number(number, expected)
        except QuantityError:
            raise QuantityError(text[:TEXT_MAX], expected) from None
        raise QuantityError(text[:TEXT_MAX], expected, f"write {number}%")
    value = _number(number, expected) / 100
    if value > Fraction(most, 100):
        raise QuantityError(text, expected)
    return value


def percent_text(share: Fraction) -> str:
    """Return a share as a percentage with as many decimals as it needs (at most 2).

    >>> percent_text(Fraction(1, 5)), percent_text(Fraction(1, 8))
    ('20%', '12.5%')
    """
    text = f"{float(share * 100):.2f}".rstrip("0").rstrip(".")
    return f"{text}%"


@dataclass(frozen=True, slots=True)
class PercentRange:
    """A band of shares, both ends inside."""

    low: Fraction
    high: Fraction

    def __str__(self) -> str:
        """Return the canonical spelling, such as ``60%..70%``."""
        return f"{percent_text(self.low)}..{percent_text(self.high)}"


def parse_percent_range(text: str) -> PercentRange:
    """Read a band such as ``60%..70%``.

    >>> str(parse_percent_range("60% .. 70%"))
    '60%..70%'
    """
    low, dots, high = text.partition("..")
    if not dots:
        raise QuantityError(
            text[:TEXT_MAX], "a range like 60%..70%", "write two dots between"
        )
    band = PercentRange(parse_percent(low), parse_percent(high))
    if band.high < band.low:
        raise QuantityError(text, "a range that starts at its lower end")
    return band


# ------------------------------------------------------------------------ comparisons


@dataclass(frozen=True, slots=True)
class Limit:
    """A comparison with a fixed value, such as ``< 5%`` or ``< 1 MB/s``.

    Attributes:
        op: ``<``, ``<=``, ``>`` or ``>=``.
        value: In percent (0-100) or bytes per second.
        unit: ``%`` or ``B/s``.
        text: Canonical spelling.
    """

    op: str
    value: float
    unit: str
    text: str

    def holds(self, sample: float) -> bool:
        """Tell whether a sample satisfies the comparison."""
        if self.op == "<":
            return sample < self.value
        if self.op == "<=":
            return sample <= self.value
        return sample > self.value if self.op == ">" else sample >= self.value

    def __str__(self) -> str:
        """Return the canonical spelling."""
        return self.text


def parse_limit(text: str, *, unit: str) -> Limit:
    """Read a comparison whose value must be of a unit (``%`` or ``B/s``).

    >>> parse_limit("< 1 MB/s", unit="B/s").value
    1000000.0
    """
    example = "< 5%" if unit == "%" else "< 1 MB/s"
    expected = f"a comparison like {example!r}"
    match = _COMPARISON.fullmatch(text.strip())
    if match is None:
        raise QuantityError(text[:TEXT_MAX], expected, "start it with <, <=, > or >=")
    op, value = match[1], match[2]
    if unit == "%":
        share = parse_percent(value)
        return Limit(op, float(share * 100), unit, f"{op} {percent_text(share)}")
    rate = _RATE.fullmatch(value)
    if rate is None or rate[2] not in _BYTE_RATES:
        raise QuantityError(
            text[:TEXT_MAX], expected, "units are B/s, kB/s, MB/s, GB/s"
        )
    number = _number(rate[1], expected)
    return Limit(
        op, float(number * _BYTE_RATES[rate[2]]), unit, f"{op} {rate[1]} {rate[2]}"
    )


def parse_steps(text: str) -> int:
    """Read a number of training steps such as ``10000 steps``.

    >>> parse_steps("10,000 steps")
    10000
    """
    number, _, unit = text.strip().rpartition(" ")
    if unit not in {"step", "steps"} or not number:
        raise QuantityError(text[:TEXT_MAX], "a number of steps like '10000 steps'")
    return parse_count(number, least=1)
