"""Prices per hour: the Price List for what is on demand, history for spot, plans.

One question per type and region, filtered by region code (names of places change). Must
not know which prices are believable; a price that is missing, 0 or ambiguous is left
out. All three services are free.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from billing.aws.calls import Call, Place, pages, whole
from billing.aws.scopes import WORKERS_MAX
from billing.aws.session import AwsClients
from billing.core.charges import Source
from billing.core.money import Rate
from billing.core.periods import utc
from billing.core.plan_rates import TENANCIES, PlanKind, choose_rates, has_plans
from billing.core.price_list import (
    AmbiguousPriceError,
    choose_price,
    filters,
    service_code,
)
from billing.core.prices import Price, PriceKey, Purchase

SOURCE = Source.PRICES.value
SPOT_SOURCE = "spot price history"
#: The Price List answers from a few regions, for all of them.
PRICING_REGION = "us-east-1"
PAGE_SIZE = 100
SPOT_PAGE_SIZE = 1_000
PLAN_PAGE_SIZE = 1_000
#: How far back spot prices are read; AWS keeps 90 days.
SPOT_WINDOW = timedelta(days=7)

PRODUCTS = Call(
    source=SOURCE,
    method="get_products",
    permission="pricing:GetProducts",
    required=("PriceList",),
    page_in="NextToken",
    page_out="NextToken",
)
SPOT_HISTORY = Call(
    source=SOURCE,
    method="describe_spot_price_history",
    permission="ec2:DescribeSpotPriceHistory",
    required=("SpotPriceHistory",),
    page_in="NextToken",
    page_out="NextToken",
)
PLAN_RATES = Call(
    source=SOURCE,
    method="describe_savings_plans_offering_rates",
    permission="savingsplans:DescribeSavingsPlansOfferingRates",
    required=("searchResults",),
    page_in="nextToken",
    page_out="nextToken",
)
PERMISSIONS = (PRODUCTS.permission, SPOT_HISTORY.permission, PLAN_RATES.permission)


class AwsPriceSource:
    """Reads list prices and spot prices with the caller's own credentials.

    Attributes:
        ambiguous: Keys for which more than one product was left, with the reason.
    """

    def __init__(self, clients: AwsClients) -> None:
        self._clients = clients
        self.ambiguous: dict[PriceKey, str] = {}

    def prices(self, keys: Iterable[PriceKey], now: datetime) -> Sequence[Price]:
        """Return known prices for the keys (a spot key may give a series); no zeros.

        A spot key without a zone gives the series of every zone of its region, a
        Savings Plan's without one the rates of every plan on offer.
        """
        wanted = sorted(set(keys))
        plans = [key for key in wanted if key.purchase is Purchase.SAVINGS_PLAN]
        listed = [key for key in wanted if filters(key) is not None]
        spot = [key for key in wanted if key.purchase is Purchase.SPOT]
        with ThreadPoolExecutor(WORKERS_MAX, thread_name_prefix=SOURCE) as pool:
            found = [one for one in pool.map(self._listed, listed) if one is not None]
            for series in pool.map(lambda key: self._spot(key, now), spot):
                found += series
            for rates in pool.map(lambda key: self._plans(key, now), plans):
                found += rates
        return found

    def _listed(self, key: PriceKey) -> Price | None:
        wanted = filters(key) or {}
        client = self._clients.client("pricing", region=PRICING_REGION)
        asked = {
            "ServiceCode": service_code(key),
            "Filters": [
                {"Type": "TERM_MATCH", "Field": name, "Value": value}
                for name, value in wanted.items()
            ],
            "MaxResults": PAGE_SIZE,
        }
        products: list[dict[str, Any]] = []
        for answer in pages(client, PRODUCTS, asked):
            with whole(PRODUCTS):
                products += [json.loads(text) for text in answer["PriceList"]]
        try:
            with whole(PRODUCTS):
                return choose_price(products, key)
        except AmbiguousPriceError as error:
            self.ambiguous[key] = str(error)
            return None

    def _plans(self, key: PriceKey, now: datetime) -> Sequence[Price]:
        if not has_plans(key):
            return ()
        client = self._clients.client("savingsplans", region=PRICING_REGION)
        asked = {
            "savingsPlanTypes": [kind.value for kind in PlanKind],
            "products": ["EC2"],
            "serviceCodes": ["AmazonEC2"],
            "filters": [
                {"name": "region", "values": [key.region]},
                {"name": "instanceType", "values": [key.product]},
                {"name": "productDescription", "values": [key.platform]},
                {"name": "tenancy", "values": [TENANCIES[key.tenancy]]},
            ],
            "maxResults": PLAN_PAGE_SIZE,
        }
        answered: list[dict[str, Any]] = []
        for answer in pages(client, PLAN_RATES, asked):
            answered += answer["searchResults"]
        with whole(PLAN_RATES):
            found = choose_rates(answered, key, now)
        if found.ambiguous:
            self.ambiguous[key] = "; ".join(found.ambiguous)
        return found.prices

    def _spot(self, key: PriceKey, now: datetime) -> list[Price]:
        client = self._clients.client("ec2", region=key.region)
        asked: dict[str, Any] = {
            "InstanceTypes": [key.product],
            "ProductDescriptions": [key.platform],
            "StartTime": now - SPOT_WINDOW,
            "EndTime": now,
            "MaxResults": SPOT_PAGE_SIZE,
        }
        if key.zone:
            asked["AvailabilityZone"] = key.zone
        place = Place(region=key.region)
        found = []
        for answer in pages(client, SPOT_HISTORY, asked, place=place):
            with whole(SPOT_HISTORY, place):
                found += list(_spot_prices(key, answer["SpotPriceHistory"]))
        return sorted(found, key=lambda one: (one.key.zone, one.as_of))


def _spot_prices(key: PriceKey, history: Sequence[dict[str, Any]]) -> Iterator[Price]:
    """Yield the history's prices under the zone each was for; zeros are no prices."""
    for entry in history:
        zone = entry["AvailabilityZone"]
        at = utc(entry["Timestamp"])
        rate = Rate.of(entry["SpotPrice"])
        if rate.nanos <= 0 or (key.zone and zone != key.zone):
            continue
        yield Price(
            key=PriceKey(
                region=key.region,
                product=key.product,
                purchase=Purchase.SPOT,
                platform=key.platform,
                tenancy=key.tenancy,
                zone=zone,
            ),
            rate=rate,
            source=SPOT_SOURCE,
            as_of=at,
            effective_from=at,
        )
