from __future__ import annotations

from dataclasses import replace

from billing.core.fleet import Lifecycle
from billing.core.prices import Purchase
from bot.use_cases.ingest import needed_keys, other_ways
from tests.builders import make_interval


def test_what_runs_on_demand_is_priced_on_spot_too() -> None:
    needed = needed_keys([make_interval(shape="p5.48xlarge")])

    ways = {(key.purchase, key.zone) for key in other_ways(needed)}

    assert ways == {(Purchase.ON_DEMAND, ""), (Purchase.SPOT, "")}


def test_a_capacity_block_has_no_hourly_price_to_miss() -> None:
    block = replace(make_interval(), lifecycle=Lifecycle.CAPACITY_BLOCK)

    assert needed_keys([block]) == set()
