"""From sources into the ledger: one reading at a time, whole or not at all.

Knows ports and cores only: no adapter, no clock.
"""

from __future__ import annotations

from billing.ingest.costs import IngestResult, import_costs
from billing.ingest.fleet import observe_fleet
from billing.ingest.prices import PriceRefresh, refresh_prices

__all__ = [
    "IngestResult",
    "PriceRefresh",
    "import_costs",
    "observe_fleet",
    "refresh_prices",
]
