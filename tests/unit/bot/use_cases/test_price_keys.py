from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from billing.core.fleet import Lifecycle
from billing.core.prices import PriceKey, Purchase
from billing.core.usage import ResourceKind
from billing.ports import SourceUnavailableError
from bot.use_cases.ingest import ingest_prices, needed_keys, other_ways, plan_ways
from tests.builders import NOW, REGION, make_interval, make_price
from tests.builders_use_cases import runs
from tests.fakes.sources import InMemoryPriceSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from billing.core.prices import Price
    from tests.builders_use_cases import Company


def test_what_runs_on_demand_is_priced_on_spot_too() -> None:
    needed = needed_keys([make_interval(shape="p5.48xlarge")])

    ways = {(key.purchase, key.zone) for key in other_ways(needed)}

    assert ways == {(Purchase.ON_DEMAND, ""), (Purchase.SPOT, "")}


def test_a_capacity_block_has_no_hourly_price_to_miss() -> None:
    block = replace(make_interval(), lifecycle=Lifecycle.CAPACITY_BLOCK)

    assert needed_keys([block]) == set()


def test_what_runs_is_priced_under_every_savings_plan_on_offer() -> None:
    gpu = make_interval(shape="p5.48xlarge")
    disk = replace(make_interval(shape="gp3"), kind=ResourceKind.VOLUME, size_gib=8)
    needed = needed_keys([gpu, disk])

    ways = [(key.product, key.purchase) for key in plan_ways(needed)]

    assert ways == [("p5.48xlarge", Purchase.SAVINGS_PLAN)]


class NoPlans(InMemoryPriceSource):
    """A source that may read everything but Savings Plans."""

    def prices(self, keys: Iterable[PriceKey], now: datetime) -> Sequence[Price]:
        wanted = list(keys)
        if any(key.purchase is Purchase.SAVINGS_PLAN for key in wanted):
            raise SourceUnavailableError("prices", "savingsplans: access denied")
        return InMemoryPriceSource.prices(self, wanted, now)


def test_refused_plan_rates_leave_the_other_prices_and_are_named(
    company: Company,
) -> None:
    company.is_watched(runs())
    key = PriceKey(region=REGION, product="p5.48xlarge")
    known = replace(make_price("12", key=key), as_of=NOW + timedelta(minutes=1))

    found = ingest_prices(NoPlans([known]), company.store, now=NOW)

    assert found.notes[0] == "prices: 1 recorded"
    assert [one.message for one in found.errors] == ["savingsplans: access denied"]
    with company.store.read() as unit:
        assert unit.ledger.latest_prices([known.key])[known.key].rate == known.rate
