"""Exact amounts of money and hourly rates in one currency.

An amount is a whole number of *nano-units* (1e-9 of the currency's unit), so sums
are exact in Python, SQLite and PostgreSQL alike. Some AWS prices are finer: they
are rounded half-even once, at ingestion. Floats never enter. Knows nothing of
where an amount comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction

from billing.core.errors import GpucostError

USD = "USD"
NANOS_PER_UNIT = 1_000_000_000
#: BIGINT holds this much; larger amounts are refused, not wrapped.
NANOS_MAX = 2**63 - 1

_MICROSECOND = timedelta(microseconds=1)
_MICROSECONDS_PER_HOUR = timedelta(hours=1) // _MICROSECOND
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "CNY": "CN¥", "JPY": "¥"}
#: Wide enough for any text that fits NANOS_MAX; traps what is wider, not rounding.
_CONTEXT = Context(prec=60, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation])
_NANO = Decimal("1E-9")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,12})?")
_CURRENCY = re.compile(r"[A-Z]{3}")
#: Currency codes found plausible before; amounts are made by the hundred thousand.
_CURRENCIES = {USD}


class InvalidAmountError(GpucostError, ValueError):
    """The text is not a finite decimal amount that fits the ledger."""

    code = "invalid_amount"

    def __init__(self, text: object) -> None:
        super().__init__(f"not a finite decimal amount: {text!r}")
        self.text = text


class MixedCurrencyError(GpucostError, ValueError):
    """Two currencies met in one sum; a ledger holds one billing currency."""

    code = "mixed_currency"
    hint = "keep each billing currency in a database of its own"

    def __init__(self, left: str, right: str) -> None:
        super().__init__(f"cannot add {right} to {left}")
        self.left = left
        self.right = right


def round_half_even(value: Fraction) -> int:
    """Round an exact fraction to the nearest integer, ties to even.

    >>> round_half_even(Fraction(5, 2)), round_half_even(Fraction(7, 2))
    (2, 4)
    """
    return round(value)


def nanos_from_text(text: str) -> int:
    """Read decimal text as AWS sends it, rounded half-even to a nano-unit.

    >>> nanos_from_text("0.0000166667"), nanos_from_text("-3.0E-7")
    (16667, -300)
    """
    if not isinstance(text, str):  # Decimal(0.1) would accept a float's error.
        raise InvalidAmountError(text)
    # Decimal also reads underscores and the digits of every script.
    if _DECIMAL.fullmatch(text.strip()) is None:
        raise InvalidAmountError(text)
    try:
        # Rounds once, straight from the text; what is too large for the context
        # fails at once instead of building a number of a billion digits.
        rounded = Decimal(text.strip()).quantize(_NANO, context=_CONTEXT)
    except InvalidOperation as error:
        raise InvalidAmountError(text) from error
    nanos = int(rounded.scaleb(9, _CONTEXT))
    if abs(nanos) > NANOS_MAX:
        raise InvalidAmountError(text)
    return nanos


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount in one currency; negative for credits and refunds.

    Attributes:
        nanos: Whole nano-units (1e-9 of the currency's unit).
        currency: ISO 4217 code, upper case.
    """

    nanos: int
    currency: str = USD

    def __post_init__(self) -> None:
        """Refuse anything but an exact integer and a plausible currency code."""
        if type(self.nanos) is not int:
            raise InvalidAmountError(self.nanos)
        if self.currency not in _CURRENCIES:
            if _CURRENCY.fullmatch(self.currency) is None:
                raise InvalidAmountError(self.currency)
            _CURRENCIES.add(self.currency)

    @classmethod
    def of(cls, text: str, currency: str = USD) -> Money:
        """Read decimal text, rounding half-even to a nano-unit.

        >>> Money.of("98.32") + Money.of("1.68")
        Money('100.00 USD')
        """
        return cls(nanos_from_text(text), currency)

    @classmethod
    def zero(cls, currency: str = USD) -> Money:
        """Return a known nothing (never the stand-in for an unknown amount)."""
        return cls(0, currency)

    def _other(self, other: Money) -> int:
        if other.currency != self.currency:
            raise MixedCurrencyError(self.currency, other.currency)
        return other.nanos

    def __add__(self, other: Money) -> Money:
        """Add exactly; both amounts must have one currency."""
        return Money(self.nanos + self._other(other), self.currency)

    def __sub__(self, other: Money) -> Money:
        """Subtract exactly; both amounts must have one currency."""
        return Money(self.nanos - self._other(other), self.currency)

    def __neg__(self) -> Money:
        """Return the amount with its sign turned."""
        return Money(-self.nanos, self.currency)

    def __mul__(self, count: int) -> Money:
        """Multiply by a whole number, exactly."""
        if type(count) is not int:
            raise InvalidAmountError(count)
        return Money(self.nanos * count, self.currency)

    def scaled(self, factor: Fraction) -> Money:
        """Multiply by an exact fraction, rounding half-even to a nano-unit."""
        return Money(round_half_even(self.nanos * factor), self.currency)

    def __lt__(self, other: Money) -> bool:
        """Compare amounts of one currency, unrounded."""
        return self.nanos < self._other(other)

    def __le__(self, other: Money) -> bool:
        """Compare amounts of one currency, unrounded."""
        return self.nanos <= self._other(other)

    def __gt__(self, other: Money) -> bool:
        """Compare amounts of one currency, unrounded."""
        return self.nanos > self._other(other)

    def __ge__(self, other: Money) -> bool:
        """Compare amounts of one currency, unrounded."""
        return self.nanos >= self._other(other)

    def text(self) -> str:
        """Return the plain decimal string of the contracts: 2 to 9 places, no exponent.

        >>> Money.of("19.99998998200").text(), Money.of("-5").text()
        ('19.999989982', '-5.00')
        """
        return plain_text(self.nanos)

    def __str__(self) -> str:
        """Return the amount for people, to the cent: ``-$1,234.50``."""
        return people_text(self.nanos, self.currency)

    def __repr__(self) -> str:
        """Return the exact amount with its currency."""
        return f"Money('{self.text()} {self.currency}')"


@dataclass(frozen=True, slots=True)
class Rate:
    """A price: what one unit of something costs for one hour.

    Attributes:
        nanos: Nano-units of ``currency`` per hour.
        currency: ISO 4217 code.
    """

    nanos: int
    currency: str = USD

    @classmethod
    def of(cls, text: str, currency: str = USD) -> Rate:
        """Read decimal text of an hourly price, rounded half-even."""
        return cls(nanos_from_text(text), currency)

    def cost_of(self, duration: timedelta) -> Money:
        """Cost of running for ``duration``, rounded half-even to a nano-unit.

        >>> Rate.of("98.32").cost_of(timedelta(minutes=30))
        Money('49.16 USD')
        """
        exact = Fraction(
            self.nanos * (duration // _MICROSECOND), _MICROSECONDS_PER_HOUR
        )
        return Money(round_half_even(exact), self.currency)

    def __mul__(self, count: int) -> Rate:
        """Price of ``count`` units, exactly."""
        return Rate(self.nanos * count, self.currency)

    def __add__(self, other: Rate) -> Rate:
        """Add rates of one currency, exactly."""
        if other.currency != self.currency:
            raise MixedCurrencyError(self.currency, other.currency)
        return Rate(self.nanos + other.nanos, self.currency)

    def scaled(self, factor: Fraction) -> Rate:
        """Multiply by an exact fraction, rounding half-even to a nano-unit."""
        return Rate(round_half_even(self.nanos * factor), self.currency)

    def text(self) -> str:
        """Return the plain decimal string of the contracts."""
        return plain_text(self.nanos)

    def __str__(self) -> str:
        """Return the rate for people: ``$98.32/h``."""
        return f"{people_text(self.nanos, self.currency)}/h"


def total(amounts: Iterable[Money], currency: str = USD) -> Money:
    """Sum amounts of one currency exactly; an empty sum is a known zero."""
    nanos = 0
    for amount in amounts:
        if amount.currency != currency:
            raise MixedCurrencyError(currency, amount.currency)
        nanos += amount.nanos
    return Money(nanos, currency)


def split(amount: Money, weights: Sequence[int]) -> tuple[Money, ...] | None:
    """Split by non-negative weights so that the parts sum to the whole exactly.

    Remaining nano-units go one each to the largest fractional parts, first come
    first on ties. Returns None when every weight is 0: nobody's share is known, so
    the caller must book the whole as unallocated. A negative weight is refused.

    >>> [str(part) for part in split(Money.of("10"), [2, 1, 1])]
    ['$5.00', '$2.50', '$2.50']
    """
    if any(weight < 0 for weight in weights):
        message = f"weights must not be negative, got {list(weights)!r}"
        raise ValueError(message)
    whole = sum(weights)
    if whole == 0:
        return None
    sign = -1 if amount.nanos < 0 else 1
    size = abs(amount.nanos)
    floors = [size * weight // whole for weight in weights]
    rests = [size * weight % whole for weight in weights]
    left = size - sum(floors)
    order = sorted(range(len(weights)), key=lambda index: (-rests[index], index))
    for index in order[:left]:
        floors[index] += 1
    return tuple(Money(sign * nanos, amount.currency) for nanos in floors)


def plain_text(nanos: int) -> str:
    """Return nano-units as a plain decimal: 2 to 9 places, ``-`` only, no exponent."""
    sign = "-" if nanos < 0 else ""
    whole, fraction = divmod(abs(nanos), NANOS_PER_UNIT)
    places = f"{fraction:09d}".rstrip("0").ljust(2, "0")
    return f"{sign}{whole}.{places}"


def people_text(nanos: int, currency: str = USD) -> str:
    """Return nano-units to the cent with separators, the sign first, never ``-$0.00``.

    >>> people_text(1_234_567_891_000_000), people_text(-12_500_000_000)
    ('$1,234,567.89', '-$12.50')
    >>> people_text(-9)
    '$0.00'
    """
    cents = round_half_even(Fraction(abs(nanos), NANOS_PER_UNIT // 100))
    sign = "-" if nanos < 0 and cents else ""
    symbol = _SYMBOLS.get(currency, f"{currency} ")
    return f"{sign}{symbol}{cents // 100:,}.{cents % 100:02d}"
