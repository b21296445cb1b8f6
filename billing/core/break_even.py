"""Buying servers against renting them: the month in which buying has paid. Pure.

Only the price of a server has no default: it differs too much to be guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from billing.core.money import Money, Rate, round_half_even

HOURS_PER_MONTH = 730
MONTHS_MAX = 120
#: Assumed where nothing is said; an answer states them.
PER_KWH = Money.of("0.10")
STAFF_PER_MONTH = Money.of("5000")


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """What stands for one rented instance when it is bought.

    Attributes:
        price: One server with its network, installed.
        power_kw: What it draws at full load: 10.2 kW is what NVIDIA states for a server
            of 8 H100 (https://docs.nvidia.com/dgx/dgxh100-user-guide/).
        cooling: Power drawn in all per power of the servers: 1.56 is the mean of the
            Uptime Institute's survey of 2024.
        per_kwh: Price of a kilowatt-hour.
        staff_per_month: People who keep them running, for all servers together.
        failures: Share of the price that replacements cost in a year.
        utilisation: Share of all hours in which they work; what is rented instead is
            rented for those hours only.
    """

    price: Money
    power_kw: Fraction = Fraction(102, 10)
    cooling: Fraction = Fraction(156, 100)
    per_kwh: Money = PER_KWH
    staff_per_month: Money = STAFF_PER_MONTH
    failures: Fraction = Fraction(5, 100)
    utilisation: Fraction = Fraction(60, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """How buying compares.

    Attributes:
        month: First month at whose end buying has cost less; None: not within 10 years.
        capital: What is paid at once.
        owned_per_month / rented_per_month: Running cost of each way.
    """

    month: int | None
    capital: Money
    owned_per_month: Money
    rented_per_month: Money


def break_even(servers: Servers, rate: Rate, count: int) -> BreakEven:
    """Compare buying servers for a number of instances with renting them at a rate."""
    capital = servers.price * count
    energy = (
        servers.power_kw
        * servers.cooling
        * HOURS_PER_MONTH
        * count
        * servers.utilisation
    )
    owned = (
        servers.per_kwh.scaled(energy)
        + servers.staff_per_month
        + capital.scaled(servers.failures / 12)
    )
    hours = HOURS_PER_MONTH * count * servers.utilisation
    rented = Money(round_half_even(rate.nanos * hours), rate.currency)
    saved = rented.nanos - owned.nanos
    month = -(-capital.nanos // saved) if saved > 0 else None
    return BreakEven(
        month=month if month is not None and month <= MONTHS_MAX else None,
        capital=capital,
        owned_per_month=owned,
        rented_per_month=rented,
    )
