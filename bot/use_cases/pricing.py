"""The prices a use case works with: the ledger's, else the shipped snapshot's.

The organisation's own overrides and discounts come on top of list prices. A price
nobody knows is None, never zero; so is one in another currency than the bill's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from billing.core.gpus import snapshot_price
from billing.core.money import USD, Rate
from billing.core.periods import Period
from billing.core.prices import Price, PriceKey, Purchase
from billing.ports import BillLedger, PriceLedger


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPrice:
    """One price or discount of the organisation's own; "" matches everything.

    Attributes:
        rate: Replaces the list price.
        discount: Share taken off the list price, 0 to 1.
    """

    instance_type: str = ""
    region: str = ""
    rate: Rate | None = None
    discount: Fraction = Fraction(0)

    def fits(self, key: PriceKey) -> bool:
        """Tell whether it speaks of a key."""
        return self.instance_type in {"", key.product} and self.region in {
            "",
            key.region,
        }


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Answers what things cost per hour, out of one unit of work.

    Attributes:
        own: Overrides first; the first that fits wins.
    """

    ledger: PriceLedger
    own: Sequence[OwnPrice] = field(default_factory=tuple)
    currency: str = USD
    _asked: dict[PriceKey, Price | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def list_price(self, key: PriceKey) -> Price | None:
        """Return the public price of a key, with its source; None when nobody knows."""
        return self.list_prices([key]).get(key)

    def list_prices(self, keys: Iterable[PriceKey]) -> Mapping[PriceKey, Price]:
        """Return the public prices of keys; a key nobody knows is absent.

        Each key is looked up once: an answer asks for every running instance's.
        """
        wanted = list(dict.fromkeys(keys))
        new = [key for key in wanted if key not in self._asked]
        stored = self.ledger.latest_prices(new) if new else {}
        for key in new:
            found = stored.get(key) or snapshot_price(key)
            self._asked[key] = found if self._speaks(found) else None
        known = ((key, self._asked[key]) for key in wanted)
        return {key: price for key, price in known if price is not None}

    def _speaks(self, price: Price | None) -> bool:
        """Tell whether a price is in the ledger's currency: another one is unknown."""
        return price is not None and price.rate.currency == self.currency

    def yours(self, price: Price) -> Rate:
        """Return the organisation's own rate for a public price."""
        if price.key.purchase is not Purchase.ON_DEMAND:
            return price.rate
        for own in self.own:
            is_foreign = own.rate is not None and own.rate.currency != self.currency
            if is_foreign or not own.fits(price.key):
                continue
            return own.rate or price.rate.scaled(1 - own.discount)
        return price.rate

    def over(
        self, keys: Iterable[PriceKey], period: Period
    ) -> Mapping[PriceKey, list[Price]]:
        """Return each key's own prices over a period, for accrual; unknown ones are absent.

        Spot moves with its history; everything else is taken at its newest price.
        """
        wanted = list(dict.fromkeys(keys))
        newest = self.list_prices(wanted)
        series: dict[PriceKey, list[Price]] = {}
        for key in wanted:
            known = [newest[key]] if key in newest else []
            if key.purchase is Purchase.SPOT:
                history = self.ledger.price_history(key, period)
                known = [one for one in history if self._speaks(one)] or known
            if known:
                series[key] = [replace(one, rate=self.yours(one)) for one in known]
        return series


def price_book(ledger: BillLedger, own: Sequence[OwnPrice]) -> PriceBook:
    """Return the prices of one unit of work, in the ledger's currency."""
    return PriceBook(ledger, own, ledger.currency() or USD)
