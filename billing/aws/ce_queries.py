"""The questions put to Cost Explorer: metrics, filters and groups.

Pure: builds parameters. At most two groups fit in a question, so usage is grouped by
job tag and usage type (one question for each tag key that may name the job), and
everything that is not usage by record type and usage type. `End` is exclusive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

Params = dict[str, Any]

#: Record types that can carry a resource's tag.
USAGE_RECORD_TYPES = ("Usage", "DiscountedUsage", "SavingsPlanCoveredUsage")
QUANTITY = "UsageQuantity"
UNBLENDED = "UnblendedCost"
AMORTIZED = "AmortizedCost"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricNames:
    """Which Cost Explorer metrics stand for billed and for effective cost."""

    billed: str
    effective: str
    label: str

    @property
    def detail(self) -> tuple[str, str, str]:
        """Return the metrics of a detailed question."""
        return (self.billed, self.effective, QUANTITY)

    @property
    def control(self) -> tuple[str, ...]:
        """Return the metrics of a control question, each once."""
        names = (self.billed, self.effective, UNBLENDED, AMORTIZED, QUANTITY)
        return tuple(dict.fromkeys(names))


NET = MetricNames(billed="NetUnblendedCost", effective="NetAmortizedCost", label="net")
#: For accounts that Cost Explorer holds no net amounts for (they have no discounts).
PLAIN = MetricNames(billed=UNBLENDED, effective=AMORTIZED, label="plain")


def period(since: date, until: date) -> Params:
    """Return ``[since, until)`` as a TimePeriod; an empty one is never asked."""
    if since >= until:
        message = f"Cost Explorer needs at least one day, got {since} to {until}"
        raise ValueError(message)
    return {"Start": since.isoformat(), "End": until.isoformat()}


def control(
    since: date,
    until: date,
    *,
    metrics: MetricNames,
    accounts: Sequence[str] | None,
    by_account: bool,
) -> Params:
    """Ask for daily totals, ungrouped or by account; None means every account."""
    asked: Params = {
        "TimePeriod": period(since, until),
        "Granularity": "DAILY",
        "Metrics": list(metrics.control),
    }
    if accounts is not None:
        asked["Filter"] = _dimension("LINKED_ACCOUNT", accounts)
    if by_account:
        asked["GroupBy"] = [_by("LINKED_ACCOUNT")]
    return asked


def usage(
    account: str,
    since: date,
    until: date,
    *,
    metrics: MetricNames,
    key: str,
    absent: Sequence[str],
    is_present: bool = False,
) -> Params:
    """Ask for usage by one tag key (none when "") where earlier keys are absent.

    With ``is_present`` only what carries the key is asked for, whatever its value.
    """
    lacking = [_lacks(one) for one in absent]
    if is_present:
        lacking.append({"Not": _lacks(key)})
    groups = [{"Type": "TAG", "Key": key}] if key else []
    return {
        "TimePeriod": period(since, until),
        "Granularity": "DAILY",
        "Metrics": list(metrics.detail),
        "Filter": _all_of(_of_account(account), _is_usage(), *lacking),
        "GroupBy": [*groups, _by("USAGE_TYPE")],
    }


def other(account: str, since: date, until: date, *, metrics: MetricNames) -> Params:
    """Ask for everything that is not usage: fees, tax, commitments, credits."""
    return {
        "TimePeriod": period(since, until),
        "Granularity": "DAILY",
        "Metrics": list(metrics.detail),
        "Filter": _all_of(_of_account(account), {"Not": _is_usage()}),
        "GroupBy": [_by("RECORD_TYPE"), _by("USAGE_TYPE")],
    }


def _lacks(key: str) -> Params:
    return {"Tags": {"Key": key, "MatchOptions": ["ABSENT"]}}


def _of_account(account: str) -> Params:
    return _dimension("LINKED_ACCOUNT", [account])


def _is_usage() -> Params:
    return _dimension("RECORD_TYPE", USAGE_RECORD_TYPES)


def _dimension(key: str, values: Sequence[str]) -> Params:
    return {"Dimensions": {"Key": key, "Values": list(values)}}


def _all_of(*parts: Mapping[str, Any]) -> Params:
    return {"And": list(parts)}


def _by(dimension: str) -> Params:
    return {"Type": "DIMENSION", "Key": dimension}
