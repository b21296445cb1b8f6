"""Answer what a run will cost, and whether a policy asks for approval of it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from billing.core.errors import GpucostError
from billing.core.estimate import EstimateRequest
from billing.core.prices import Purchase

COUNT_MAX = 100_000
HOURS_MAX = 24 * 366 * 3
EXPONENT_MAX = 12


class BadPlanError(GpucostError, ValueError):
    """A planned run has a part that cannot be estimated."""

    code = "bad_plan"
    exit_code = 2

    def __init__(self, message: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.suggestions = tuple(suggestions)


def plan_of(
    *,
    instance_type: str,
    count: int,
    hours: str,
    purchase: str,
    region: str,
    job: str,
    is_time_limit: bool,
) -> EstimateRequest:
    """Read a planned run from texts.

    Raises:
        BadPlanError: Naming the part, what was expected and what was given.
    """
    if not 1 <= count <= COUNT_MAX:
        raise BadPlanError(f"count must be 1 to {COUNT_MAX:,} instances, got {count}")
    try:
        bought = Purchase(purchase)
    except ValueError as error:
        names = [one.value for one in Purchase]
        raise BadPlanError(
            f"purchase must be one of {', '.join(names)}, got {purchase!r}"
        ) from error
    return EstimateRequest(
        instance_type=instance_type.strip().lower(),
        count=count,
        hours=_hours(hours),
        region=region,
        purchase=bought,
        job=job,
        is_time_limit=is_time_limit,
    )


def _hours(text: str) -> Fraction:
    bare = text.strip().lower().removesuffix("h")
    try:
        number = Decimal(bare)
        # A huge or tiny exponent would build a number of millions of digits.
        is_plain = number.is_finite() and abs(number.adjusted()) <= EXPONENT_MAX
        hours = Fraction(number) if is_plain else Fraction(0)
    except (InvalidOperation, ValueError) as error:
        raise BadPlanError(
            f"hours must be a number such as 72, got {text!r}"
        ) from error
    if not 0 < hours <= HOURS_MAX:
        raise BadPlanError(
            f"hours must be more than 0 and at most {HOURS_MAX:,}, got {text!r}"
        )
    return hours
