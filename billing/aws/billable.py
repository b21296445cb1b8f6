"""What AWS charges for being asked, counted on every try of every request.

Must not know who keeps the count; it calls a hook before a request leaves. Prices:
https://aws.amazon.com/aws-cost-management/aws-cost-explorer/pricing/,
https://aws.amazon.com/cloudwatch/pricing/ and https://aws.amazon.com/s3/pricing/
(us-east-1, read 2026-11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

from billing.core.money import Money

#: Called before each billable request; raising stops the request.
BillableHook = Callable[[str, Money], None]

#: event prefix -> (name of the service in IAM, operations; "" stands for every other)
_PRICES: dict[str, tuple[str, dict[str, Money]]] = {
    "cost-explorer": ("ce", {"": Money.of("0.01")}),
    "cloudwatch": (
        "cloudwatch",
        {"GetMetricData": Money.of("0.00001"), "ListMetrics": Money.of("0.00001")},
    ),
    "s3": (
        "s3",
        {
            "ListObjectsV2": Money.of("0.000005"),
            "ListObjectVersions": Money.of("0.000005"),
            "ListMultipartUploads": Money.of("0.000005"),
            "ListParts": Money.of("0.000005"),
            "GetObjectTagging": Money.of("0.0000004"),
        },
    ),
}

_UNITS: ContextVar[int] = ContextVar("billable_units", default=1)


def ignore(operation: str, cost: Money) -> None:
    """Count nothing."""


@contextmanager
def billable_units(count: int) -> Iterator[None]:
    """Price each request of this context as ``count`` units (metrics asked for)."""
    token = _UNITS.set(count)
    try:
        yield
    finally:
        _UNITS.reset(token)


class Tally:
    """Counts billable requests by service and passes each to a hook."""

    def __init__(self, hook: BillableHook = ignore) -> None:
        self._hook = hook
        self._lock = Lock()
        self._spent: dict[str, tuple[int, Money]] = {}

    def spent(self, service: str) -> tuple[int, Money]:
        """Return how many billable requests a service got, and their price."""
        with self._lock:
            return self._spent.get(service, (0, Money.zero()))

    def attach(self, client: Any) -> None:
        """Count every try of every request of a boto3 client."""
        prefix = client.meta.service_model.service_id.hyphenize()
        if prefix in _PRICES:
            client.meta.events.register(f"before-send.{prefix}", self._before_send)

    def _before_send(self, event_name: str, **_: Any) -> None:
        prefix, operation = event_name.split(".")[1:3]
        service, prices = _PRICES[prefix]
        price = prices.get(operation) or prices.get("")
        if price is None:
            return
        cost = price * _UNITS.get()
        self._hook(f"{service}:{operation}", cost)
        with self._lock:
            requests, before = self._spent.get(service, (0, Money.zero()))
            self._spent[service] = (requests + 1, before + cost)
