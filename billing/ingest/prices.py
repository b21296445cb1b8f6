"""Read prices and keep those that are believable; the others are named.

Knows no AWS: what is implausible is decided in `billing.core.price_list`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from billing.core.price_list import plausible
from billing.core.prices import Price, PriceKey, RefusedPrice
from billing.ports import LedgerStore, PriceSource


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRefresh:
    """What one reading of prices gave.

    Attributes:
        kept: Prices that were stored.
        refused: Prices that were not believed; the last good ones stay.
        missing: Keys that the source has no price for.
    """

    kept: tuple[Price, ...]
    refused: tuple[RefusedPrice, ...]
    missing: tuple[PriceKey, ...]


def refresh_prices(
    source: PriceSource, store: LedgerStore, keys: Iterable[PriceKey], now: datetime
) -> PriceRefresh:
    """Read the keys' prices and store those within reach of the last good ones."""
    wanted = sorted(set(keys))
    found = source.prices(wanted, now)
    kept: list[Price] = []
    refused: list[RefusedPrice] = []
    with store.write() as unit:
        good = dict(unit.ledger.latest_prices({price.key for price in found}))
        for price in sorted(found, key=_in_time):
            last_good = good.get(price.key)
            reason = plausible(price, last_good)
            if reason is None:
                kept.append(price)
                good[price.key] = price
            else:
                refused.append(
                    RefusedPrice(price=price, reason=reason, last_good=last_good)
                )
        unit.ledger.record_prices(kept, now)
    # A spot key without a zone is answered by the keys of its zones.
    answered = {price.key for price in found}
    answered |= {replace(key, zone="") for key in answered}
    missing = tuple(key for key in wanted if key not in answered)
    return PriceRefresh(kept=tuple(kept), refused=tuple(refused), missing=missing)


def _in_time(price: Price) -> tuple[PriceKey, datetime]:
    return price.key, price.effective_from or price.as_of
