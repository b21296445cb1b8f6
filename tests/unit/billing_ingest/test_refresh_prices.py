"""Prices are kept when believable; others are named and the last good ones stay."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from billing.core.money import Rate
from billing.core.prices import Price, PriceKey, Purchase
from billing.ingest import refresh_prices
from tests.builders import NOW
from tests.fakes.ledger import InMemoryLedgerStore
from tests.fakes.sources import InMemoryPriceSource

P5 = PriceKey(region="us-east-1", product="p5.48xlarge")
SPOT = replace(P5, purchase=Purchase.SPOT)


def priced(rate: str, key: PriceKey = P5, hours: int = 0) -> Price:
    at = NOW + timedelta(hours=hours)
    return Price(key=key, rate=Rate.of(rate), source="price list", as_of=at)


def test_an_implausible_price_is_refused_and_the_last_good_one_stays() -> None:
    store = InMemoryLedgerStore()
    refresh_prices(InMemoryPriceSource([priced("98.32")]), store, [P5], NOW)

    result = refresh_prices(
        InMemoryPriceSource([priced("9832", hours=1)]), store, [P5], NOW
    )

    assert [one.last_good for one in result.refused] == [priced("98.32")]
    assert store.ledger.prices == [priced("98.32")]


def test_a_zero_is_no_price() -> None:  # C038
    store = InMemoryLedgerStore()

    result = refresh_prices(InMemoryPriceSource([priced("0")]), store, [P5], NOW)

    assert (store.ledger.prices, len(result.refused)) == ([], 1)


def test_a_spot_key_is_answered_by_its_zones() -> None:
    zone = replace(SPOT, zone="us-east-1a")

    class Zones(InMemoryPriceSource):
        def prices(self, keys: object, now: object) -> list[Price]:
            return [priced("20", zone)]

    result = refresh_prices(Zones(), InMemoryLedgerStore(), [SPOT, P5], NOW)

    assert result.missing == (P5,)
