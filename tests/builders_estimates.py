"""Past estimates and finished runs, as tests need them."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.core.estimate_history import FinishedRun, PastEstimate
from billing.core.money import Money
from billing.core.prices import Purchase
from tests.builders import NOW, REGION

if TYPE_CHECKING:
    from datetime import datetime


def make_past(
    job: str = "llm-1",
    *,
    base: str = "1000",
    actual: str | None = "1300",
    count: int = 4,
    instance_type: str = "p5.48xlarge",
    purchase: Purchase = Purchase.ON_DEMAND,
    made_at: datetime = NOW,
    expected: str | None = None,
) -> PastEstimate:
    """Make an estimate whose range is the quote times 1, 1.3 and 1.5."""
    quote = Money.of(base)
    return PastEstimate(
        estimate_id=0,
        job=job,
        instance_type=instance_type,
        count=count,
        hours=Fraction(10),
        purchase=purchase,
        region=REGION,
        base=quote,
        low=quote,
        expected=Money.of(expected) if expected else quote.scaled(Fraction(13, 10)),
        high=quote.scaled(Fraction(3, 2)),
        made_at=made_at,
        actual=None if actual is None else Money.of(actual),
    )


def make_finished(
    job: str = "llm-1",
    *,
    count: int = 4,
    hours: str = "10",
    cost: str = "1300",
    instance_type: str = "p5.48xlarge",
    started_at: datetime = NOW,
) -> FinishedRun:
    """Make a run that is over."""
    return FinishedRun(
        job=job,
        instance_type=instance_type,
        count=count,
        hours=Fraction(hours),
        cost=Money.of(cost),
        started_at=started_at,
        finished_at=started_at + timedelta(hours=float(Fraction(hours))),
    )
