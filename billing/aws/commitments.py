"""How much of an instance family's use commitments cover, and how used they are.

Cost Explorer refuses today in these questions. Amounts are summed over the answer's
rows and divided once; percentages of rows are never averaged. No rows is not 0 %. Must
not know targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from billing.aws.calls import Call, ask, pages, whole
from billing.aws.ce_calls import REGION
from billing.aws.session import AwsClients
from billing.core.charges import Source
from billing.core.money import USD, Money, nanos_from_text
from billing.core.periods import day_of, utc
from billing.ports import CommitmentFacts, OwnedPlan, SourceUnavailableError

SOURCE = Source.COMMITMENTS.value
EC2 = "Amazon Elastic Compute Cloud - Compute"

PLAN_COVERAGE = Call(
    source=SOURCE,
    method="get_savings_plans_coverage",
    permission="ce:GetSavingsPlansCoverage",
    required=("SavingsPlansCoverages",),
    page_in="NextToken",
    page_out="NextToken",
)
RESERVATION_COVERAGE = Call(
    source=SOURCE,
    method="get_reservation_coverage",
    permission="ce:GetReservationCoverage",
    required=("CoveragesByTime",),
    page_in="NextPageToken",
    page_out="NextPageToken",
)
PLAN_UTILIZATION = Call(
    source=SOURCE,
    method="get_savings_plans_utilization",
    permission="ce:GetSavingsPlansUtilization",
    required=("Total",),
)
PLANS = Call(
    source=SOURCE,
    method="describe_savings_plans",
    permission="savingsplans:DescribeSavingsPlans",
    required=("savingsPlans",),
    page_in="nextToken",
    page_out="nextToken",
)
PERMISSIONS = (
    PLANS.permission,
    PLAN_COVERAGE.permission,
    RESERVATION_COVERAGE.permission,
    PLAN_UTILIZATION.permission,
)
_NO_DATA = "DataUnavailableException"


@dataclass(slots=True)
class _Sums:
    """Covered and uncovered spend of one family, in nano-units.

    Attributes:
        is_known: False when no row tells the on-demand price of reserved hours.
    """

    covered: int = 0
    uncovered: int = 0
    is_known: bool = True


class CostExplorerCommitments:
    """Reads Savings Plans and EC2 reservations as Cost Explorer sums them up."""

    def __init__(self, clients: AwsClients, *, clock: Callable[[], datetime]) -> None:
        self._clients = clients
        self._clock = clock

    def facts(
        self, families: Sequence[str], since: date, until: date
    ) -> Sequence[CommitmentFacts]:
        """Return coverage per family; a family without data is left out."""
        until = min(until, day_of(self._clock()))
        if since >= until or not families:
            return ()
        period = {"Start": since.isoformat(), "End": until.isoformat()}
        sums: dict[str, _Sums] = {}
        self._add_plans(sums, period)
        self._add_reservations(sums, period)
        used = self._utilization(period)
        return [
            CommitmentFacts(
                family=family,
                since=since,
                until=until,
                covered=Money(sums[family].covered),
                eligible=Money(sums[family].covered + sums[family].uncovered),
                utilization_pct=used,
            )
            for family in sorted(set(families))
            if family in sums and sums[family].is_known
        ]

    def plans(self) -> Sequence[OwnedPlan]:
        """Return active plans of the account that is asked for the bill, by end."""
        client = self._clients.client("savingsplans", region=REGION)
        found = []
        for answer in pages(client, PLANS, {"states": ["active"]}):
            with whole(PLANS):
                found += [_plan(raw) for raw in answer["savingsPlans"]]
        return sorted(found, key=lambda one: (one.ends_at, one.plan_id))

    def _add_plans(self, sums: dict[str, _Sums], period: dict[str, str]) -> None:
        """Add covered spend by family; the question cannot be limited to families."""
        asked = {
            "TimePeriod": period,
            "GroupBy": [{"Type": "DIMENSION", "Key": "INSTANCE_FAMILY"}],
            "Metrics": ["SpendCoveredBySavingsPlans"],
        }
        for row in self._rows(PLAN_COVERAGE, asked, "SavingsPlansCoverages"):
            with whole(PLAN_COVERAGE):
                family = _attribute(row, "instancefamily")
                coverage = row["Coverage"]
                found = sums.setdefault(family, _Sums())
                found.covered += _nanos(coverage["SpendCoveredBySavingsPlans"])
                found.uncovered += _nanos(coverage["OnDemandCost"])

    def _add_reservations(self, sums: dict[str, _Sums], period: dict[str, str]) -> None:
        """Add reserved hours at the on-demand price that the uncovered hours show."""
        asked = {
            "TimePeriod": period,
            "GroupBy": [{"Type": "DIMENSION", "Key": "INSTANCE_TYPE"}],
            "Filter": _only("SERVICE", [EC2]),
            "Metrics": ["Hour", "Cost"],
        }
        for result in self._rows(RESERVATION_COVERAGE, asked, "CoveragesByTime"):
            with whole(RESERVATION_COVERAGE):
                for group in result["Groups"]:
                    _add_reserved(sums, group)

    def _utilization(self, period: dict[str, str]) -> float | None:
        """Return the used share of all Savings Plans; None when there are none."""
        client = self._clients.client("ce", region=REGION)
        try:
            answer = ask(client, PLAN_UTILIZATION, {"TimePeriod": period})
        except SourceUnavailableError as error:
            if error.cause == _NO_DATA:
                return None
            raise
        with whole(PLAN_UTILIZATION):
            used = answer["Total"]["Utilization"]
            committed = _nanos(used["TotalCommitment"])
            spent = _nanos(used["UsedCommitment"])
        return float(Fraction(100 * spent, committed)) if committed else None

    def _rows(
        self, call: Call, asked: Mapping[str, Any], member: str
    ) -> Iterator[Mapping[str, Any]]:
        client = self._clients.client("ce", region=REGION)
        for answer in pages(client, call, asked):
            yield from answer[member]


def _plan(raw: Mapping[str, Any]) -> OwnedPlan:
    return OwnedPlan(
        plan_id=raw["savingsPlanId"],
        kind=raw["savingsPlanType"],
        family=raw.get("ec2InstanceFamily", ""),
        region=raw.get("region", ""),
        hourly=Money(nanos_from_text(raw["commitment"]), raw.get("currency", USD)),
        ends_at=utc(datetime.fromisoformat(raw["end"])),
    )


def _add_reserved(sums: dict[str, _Sums], group: Mapping[str, Any]) -> None:
    family = _attribute(group, "instancetype").partition(".")[0]
    hours = group["Coverage"]["CoverageHours"]
    reserved = _nanos(hours["ReservedHours"])
    if not reserved:
        return
    on_demand = _nanos(hours["OnDemandHours"])
    cost = _nanos(group["Coverage"]["CoverageCost"]["OnDemandCost"])
    found = sums.setdefault(family, _Sums())
    if not (on_demand and cost):
        found.is_known = False
        return
    found.covered += round(Fraction(reserved * cost, on_demand))


def _attribute(row: Mapping[str, Any], name: str) -> str:
    """Return what a row was grouped by; AWS spells the name in several ways."""
    found = {
        key.replace("_", "").lower(): value for key, value in row["Attributes"].items()
    }
    return str(found[name])


def _only(key: str, values: Sequence[str]) -> dict[str, Any]:
    return {"Dimensions": {"Key": key, "Values": list(values)}}


def _nanos(text: str) -> int:
    """Read an amount or hours; AWS's NaN and negative values are refused."""
    nanos = nanos_from_text(text)
    if nanos < 0:
        message = f"expected an amount of 0 or more, got {text!r}"
        raise ValueError(message)
    return nanos
