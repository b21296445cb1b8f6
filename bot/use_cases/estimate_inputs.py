"""Planned runs as people type them: texts in, a plan or everything wrong with it out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from billing.core.estimate_request import (
    EstimateRequest,
    Stage,
    Terms,
    unknown_type,
)
from billing.core.gpus import gpu_types_known
from billing.core.periods import start_of
from billing.core.prices import Purchase
from bot.use_cases.estimate_options import (
    COMPARED,
    MANAGED,
    ON_PREMISES,
    BadPlanError,
    PlanTexts,
    Reading,
    read_checkpoints,
    read_per_year,
    read_rate,
    read_servers,
)

COUNT_MAX = 100_000
HOURS_MAX = 24 * 366 * 3
EXPONENT_MAX = 12
_DAY = "2026-12-05"


def with_options(texts: PlanTexts, options: Iterable[tuple[str, str]]) -> PlanTexts:
    """Return texts with options by their names on the command line; a flag has ""."""
    given = dict(options)
    flags = {"interruptible"} & set(given)
    values: dict[str, Any] = {
        key.replace("-", "_"): value for key, value in given.items() if key not in flags
    }
    return replace(texts, is_interruptible=bool(flags), **values)


def read_plan(texts: PlanTexts, now: datetime | None = None) -> EstimateRequest:
    """Read a planned run.

    Args:
        texts: What was typed.
        now: A deadline must be later; None: it is not checked.

    Raises:
        BadPlanError: Naming each part that is wrong, what was expected and given.
    """
    reading = Reading()
    if not 1 <= texts.count <= COUNT_MAX:
        reading.problems.append(
            f"count must be 1 to {COUNT_MAX:,} instances, got {texts.count}"
        )
    plan = EstimateRequest(
        instance_type=texts.instance_type.strip().lower(),
        count=texts.count,
        hours=reading.of(read_hours, texts.hours, Fraction(1)),
        region=texts.region,
        purchase=reading.of(_purchase, texts.purchase, Purchase.ON_DEMAND),
        job=texts.job,
        is_time_limit=texts.is_time_limit,
        terms=_terms(texts, reading, now),
    )
    if reading.problems and plan.instance_type not in gpu_types_known():
        # Told with the rest; alone it is told when it is estimated.
        found = unknown_type(plan.instance_type, gpu_types_known())
        reading.problems.append(found.message)
        reading.suggestions += found.suggestions
    reading.finish()
    return plan


def _terms(texts: PlanTexts, reading: Reading, now: datetime | None) -> Terms:
    compared = [name for name in texts.compare.replace(",", " ").split() if name]
    strange = [name for name in compared if name not in COMPARED]
    if strange:
        reading.problems.append(
            f"compare must be {' or '.join(COMPARED)}, got {strange[0]!r}"
        )
    wants_own = ON_PREMISES in compared or bool(texts.on_premises)
    return Terms(
        deadline=reading.of(lambda text: _deadline(text, now), texts.deadline, None),
        is_interruptible=texts.is_interruptible,
        stage=reading.of(_stage, texts.stage, None),
        checkpoints=read_checkpoints(texts, reading),
        quoted=reading.of(read_rate, texts.quoted_price, None),
        per_year=reading.of(read_per_year, texts.retrain_per_year, None),
        servers=read_servers(texts.on_premises, reading) if wants_own else None,
        is_managed_compared=MANAGED in compared,
    )


def _purchase(text: str) -> Purchase:
    try:
        return Purchase(text)
    except ValueError as error:
        names = ", ".join(one.value for one in Purchase)
        raise BadPlanError(f"purchase must be one of {names}, got {text!r}") from error


def _stage(text: str) -> Stage | None:
    try:
        return Stage(text.strip().lower()) if text else None
    except ValueError as error:
        names = " or ".join(one.value for one in Stage)
        raise BadPlanError(f"stage must be {names}, got {text!r}") from error


def _deadline(text: str, now: datetime | None) -> datetime | None:
    if not text:
        return None
    try:
        if len(text) == len(_DAY):
            found = start_of(date.fromisoformat(text))
        else:
            parsed = datetime.fromisoformat(text)
            found = (
                parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
            ).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadPlanError(
            f"deadline must be a day such as {_DAY} or an instant, got {text!r}"
        ) from error
    if now is not None and found <= now:
        raise BadPlanError(f"deadline must be later than now, got {text!r}")
    return found


def read_hours(text: str) -> Fraction:
    """Read hours, exactly; an ``h`` may follow.

    Raises:
        BadPlanError: It is no sensible number of hours.
    """
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
