"""Tell whether a grant covers a launch, against what is on record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from billing.core.estimate import EstimateRequest, NoPriceError
from billing.core.money import Money
from bot.ports import UnitOfWork
from bot.use_cases.estimate import BadPlanError, estimate_run
from bot.use_cases.pricing import PriceBook
from policies.core.grants import Grant, Launch, Usage, covers, disowned


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What a launcher is told.

    Attributes:
        reason: Why the launch is not covered; "" when it is.
    """

    request_id: str
    reason: str = ""

    @property
    def is_covered(self) -> bool:
        """Tell whether the launch may start."""
        return not self.reason


def launch_of(plan: EstimateRequest, prices: PriceBook) -> Launch:
    """Return a plan as a launch, with what it may cost at today's prices."""
    return Launch(
        job=plan.job,
        instance_type=plan.instance_type,
        count=plan.count,
        hours=plan.hours,
        purchase=plan.purchase,
        region=plan.region,
        cost=_high(plan, prices),
    )


def _high(plan: EstimateRequest, prices: PriceBook) -> Money | None:
    try:
        return estimate_run(plan, prices).high
    except (BadPlanError, NoPriceError):
        return None


def verify(
    unit: UnitOfWork, grant: Grant, launch: Launch, *, now: datetime
) -> Coverage:
    """Tell whether a grant covers a launch; nothing is started or recorded."""
    request = unit.journal.request(grant.request_id)
    why = disowned(grant, request) or covers(grant, launch, Usage(), now)
    return Coverage(request_id=grant.request_id, reason=why or "")
