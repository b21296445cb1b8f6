"""Turn groups of Cost Explorer into charges, page by page and quickly.

Pure: no calls. What a usage type means is looked up once per usage type, so that a
page of thousands of groups costs little more than making its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from billing.aws.ce_answers import (
    Amounts,
    CurrencySeen,
    DaySums,
    amount,
    groups_of,
    money,
    periods_of,
)
from billing.aws.ce_queries import QUANTITY, MetricNames
from billing.core.attribution import normalise_job
from billing.core.categories import Classified, classify
from billing.core.charges import Bucket, Charge, CostCategory, PricingCategory
from billing.core.money import Money

_TAG_SEPARATOR = "$"
_NO_UNIT = "N/A"
#: How usage is called when its record types were asked for together.
_USAGE = "Usage"


def job_of(group_key: str) -> str:
    """Return the job id in a tag group such as ``job-id$Job-123``; "" when untagged.

    >>> job_of("job-id$ Job-123 "), job_of("job-id$"), job_of("job-id$a$b")
    ('job-123', '', 'a$b')
    """
    return normalise_job(group_key.partition(_TAG_SEPARATOR)[2])


class RowMaker:
    """Makes the charges of one question; keeps its sums and the days it named.

    Args:
        width: How many groups the question asked for: the last is the usage type; the
            first, if there are two, the job tag or the record type.
        is_usage: True when the question was about usage.
    """

    def __init__(
        self,
        account: str,
        metrics: MetricNames,
        currency: CurrencySeen,
        *,
        width: int,
        is_usage: bool,
    ) -> None:
        self.days: set[date] = set()
        self.total = DaySums()
        self._account = account
        self._metrics = metrics
        self._currency = currency
        self._width = width
        self._is_usage = is_usage
        self._classes: dict[str, Classified] = {}

    def page(self, answer: Mapping[str, Any]) -> Iterator[Charge]:
        """Yield the charges of one page in its order."""
        for day, result in periods_of(answer):
            self.days.add(day)
            is_estimated = bool(result["Estimated"])
            for keys, metrics in groups_of(result, self._width):
                yield self._charge(day, keys, metrics, is_estimated=is_estimated)

    def _charge(
        self, day: date, keys: list[str], metrics: Amounts, *, is_estimated: bool
    ) -> Charge:
        usage_type = keys[-1]
        record_type = _USAGE if self._is_usage else keys[0]
        job = job_of(keys[0]) if self._is_usage and self._width > 1 else ""
        found = self._classified(record_type, usage_type)
        billed, effective = self._amounts(metrics)
        self.total.add(day, billed.nanos, effective.nanos)
        used = metrics[QUANTITY]
        return Charge(
            account=self._account,
            day=day,
            region=found.region,
            service="",
            usage_type=usage_type,
            record_type=record_type,
            category=found.category,
            pricing=found.pricing,
            cost_category=found.cost_category,
            bucket=Bucket.JOB if job else found.bucket,
            job=job,
            billed=billed,
            effective=effective,
            quantity=_quantity(used["Amount"]),
            unit="" if used["Unit"] == _NO_UNIT else used["Unit"],
            is_estimated=is_estimated,
            raw_billed=metrics[self._metrics.billed]["Amount"],
        )

    def _amounts(self, metrics: Amounts) -> tuple[Money, Money]:
        """Return billed and effective cost; most lines have one amount for both."""
        names, currency = self._metrics, self._currency
        billed = money(amount(metrics, names.billed, currency), currency)
        if metrics[names.effective] == metrics[names.billed]:
            return billed, billed
        return billed, money(amount(metrics, names.effective, currency), currency)

    def _classified(self, record_type: str, usage_type: str) -> Classified:
        key = f"{record_type}{_TAG_SEPARATOR}{usage_type}"
        found = self._classes.get(key)
        if found is None:
            found = classify(record_type, usage_type)
            if self._is_usage and _may_be_committed(found):
                found = replace(found, pricing=PricingCategory.OTHER)
            self._classes[key] = found
        return found


def _may_be_committed(found: Classified) -> bool:
    """Tell whether commitments may have covered it: the question mixes both."""
    is_spot = found.pricing is PricingCategory.DYNAMIC
    bought = {CostCategory.COMPUTE, CostCategory.MANAGED_SERVICE}
    return not is_spot and found.cost_category in bought


def _quantity(text: str) -> Decimal:
    try:
        quantity = Decimal(text)
    except InvalidOperation as error:
        message = f"not a quantity: {text!r}"
        raise ValueError(message) from error
    if not quantity.is_finite():
        message = f"not a finite quantity: {text!r}"
        raise ValueError(message)
    return quantity
