"""The bill: what ran, times its price, and everything else that AWS charges.

Usage of a day arrives in two parts: its first eight hours early the next day, the rest
that evening. So the last day and a half or so is never whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal

from deploy.sandbox.aws.builders import (
    EC2_OTHER,
    USAGE_PREFIXES,
    cost,
    gpu_hours,
    other_charge,
    savings_plan_fee,
    savings_plan_use,
    spot_hours,
    volume_cost,
)
from deploy.sandbox.aws.world import CommitmentDay, CostSeed
from deploy.sandbox.company.jobs import ACCOUNT, FIRST, STINTS, Stint
from deploy.sandbox.company.prices import (
    GP3_GIB_MONTH,
    MONTH_HOURS,
    ON_DEMAND,
    PLAN_NODES,
    PLAN_RATE,
    PLAN_SHAPE,
    VOLUME_GIB,
    spot_price,
)

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
#: The parts of a day: from, to, and when they arrive, each after the day's start.
PARTS = (
    (0 * HOUR, 8 * HOUR, 26 * HOUR),
    (8 * HOUR, 24 * HOUR, 44 * HOUR),
)
CENT = Decimal("0.01")
NANO = Decimal("0.000000001")
BUCKET_TAGS = {"job-id": "job-117", "team": "nlp"}


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of one billing day, and when the bill shows it."""

    day: date
    start: datetime
    end: datetime
    arrives: datetime

    def room(self, now: datetime) -> Decimal:
        """Return the instance hours that the plan covers within it, up to now."""
        span = max(min(self.end, now) - self.start, timedelta())
        return Decimal(span // timedelta(seconds=1) * PLAN_NODES) / 3600

    def hours(self, stint: Stint, now: datetime) -> Decimal:
        """Return the instance hours of a stint within it, exact."""
        start, end = max(stint.start, self.start), min(stint.until(now), self.end)
        seconds = max((end - start) // timedelta(seconds=1), 0)
        return Decimal(seconds * stint.count) / 3600


def bill(now: datetime) -> list[CostSeed]:
    """Return every line of the bill up to now; later ones are not yet charged."""
    lines: list[CostSeed] = []
    for day in _days(now):
        parts = _parts_of(day)
        for part in parts:
            lines += _arriving(_usage(part, now), part)
        lines += _arriving(_around(day.date()), parts[-1])
    return [*lines, *_others(now)]


def plan_days(now: datetime) -> list[CommitmentDay]:
    """Return how the plan was used, on each day that has ended."""
    return [_plan_day(day) for day in _days(now) if day + DAY <= now]


def _days(now: datetime) -> Iterator[datetime]:
    day = FIRST
    while day <= now:
        yield day
        day += DAY


def _parts_of(day: datetime) -> list[_Part]:
    return [
        _Part(day.date(), day + start, day + end, day + arrives)
        for start, end, arrives in PARTS
    ]


def _arriving(lines: Iterator[CostSeed], part: _Part) -> list[CostSeed]:
    return [replace(one, account=ACCOUNT, arrived_at=part.arrives) for one in lines]


def _usage(part: _Part, now: datetime) -> Iterator[CostSeed]:
    covered = Decimal(0)
    room = part.room(now)
    for stint in STINTS:
        hours = part.hours(stint, now)
        if not hours:
            continue
        yield _volume(stint, part.day, hours)
        if _is_eligible(stint) and covered < room:
            used = min(hours, room - covered)
            covered += used
            hours -= used
            yield from _covered(stint, part.day, used)
        if hours:
            yield _compute(stint, part.day, hours)
            yield _transfer(stint, part.day, hours)


def _is_eligible(stint: Stint) -> bool:
    """Tell whether the plan covers it."""
    return stint.shape == PLAN_SHAPE and not stint.is_spot


def _compute(stint: Stint, day: date, hours: Decimal) -> CostSeed:
    price = spot_price(stint.shape, day) if stint.is_spot else ON_DEMAND[stint.shape]
    build: Callable[..., CostSeed] = spot_hours if stint.is_spot else gpu_hours
    return build(
        day, stint.shape, hours=_text(hours), price=str(price),
        region=stint.region, tags=stint.tags,
    )  # fmt: skip


def _covered(stint: Stint, day: date, hours: Decimal) -> list[CostSeed]:
    return savings_plan_use(
        day,
        stint.shape,
        on_demand=_text(hours * ON_DEMAND[stint.shape]),
        effective=_text(hours * PLAN_RATE),
        hours=_text(hours),
        tags=stint.tags,
    )


def _volume(stint: Stint, day: date, hours: Decimal) -> CostSeed:
    amount = VOLUME_GIB[stint.shape] * hours * GP3_GIB_MONTH / MONTH_HOURS
    prefix = USAGE_PREFIXES[stint.region]
    return volume_cost(
        day,
        _text(amount.quantize(NANO)),
        usage_type=f"{prefix}EBS:VolumeUsage.gp3",
        region=stint.region,
        quantity=_text((VOLUME_GIB[stint.shape] * hours / MONTH_HOURS).quantize(NANO)),
        tags=stint.tags,
    )


def _transfer(stint: Stint, day: date, hours: Decimal) -> CostSeed:
    """Return traffic between zones, 40 GB for each instance hour at a cent."""
    gigabytes = hours * 40
    prefix = USAGE_PREFIXES[stint.region]
    return cost(
        day,
        _text(gigabytes * CENT),
        service=EC2_OTHER,
        usage_type=f"{prefix}DataTransfer-Regional-Bytes",
        operation="InterZone-In",
        region=stint.region,
        quantity=_text(gigabytes),
        unit="GB",
        tags=stint.tags,
    )


def _around(day: date) -> Iterator[CostSeed]:
    """Yield what is charged whether anything trains or not."""
    yield cost(
        day, "2.16", service=EC2_OTHER, usage_type="NatGateway-Hours",
        operation="NatGateway", quantity="48",
    )  # fmt: skip
    yield cost(
        day, "96.75", service=EC2_OTHER, usage_type="NatGateway-Bytes",
        operation="NatGateway", quantity="2150", unit="GB",
    )  # fmt: skip
    yield cost(
        day, "41.216667", service="Amazon Simple Storage Service",
        usage_type="TimedStorage-ByteHrs", operation="StandardStorage",
        quantity="1792.028", unit="GB-Mo", tags=BUCKET_TAGS,
    )  # fmt: skip
    yield cost(
        day, "6.40", service="AmazonCloudWatch", usage_type="CW:MetricMonitorUsage",
        operation="MetricStorage:AWS/Logs-EMF", quantity="21.333", unit="Metrics",
    )  # fmt: skip
    yield _fee(day)


def _fee(day: date) -> CostSeed:
    covered, _ = _plan_hours(datetime.combine(day, FIRST.timetz()))
    return savings_plan_fee(
        day, _text(PLAN_RATE * PLAN_NODES * 24), used=_text(covered * PLAN_RATE)
    )


def _plan_hours(day: datetime) -> tuple[Decimal, Decimal]:
    """Return the covered hours of one whole day, and all hours of what it may cover."""
    covered = total = Decimal(0)
    for part in _parts_of(day):
        ran = sum(
            (part.hours(one, part.end) for one in STINTS if _is_eligible(one)),
            Decimal(0),
        )
        total += ran
        covered += min(ran, part.room(part.end))
    return covered, total


def _plan_day(day: datetime) -> CommitmentDay:
    covered, total = _plan_hours(day)
    price = ON_DEMAND[PLAN_SHAPE]
    return CommitmentDay(
        day=day.date(),
        kind="savings-plan",
        account=ACCOUNT,
        family="p5",
        committed=_text(PLAN_RATE * PLAN_NODES * 24),
        used=_text(covered * PLAN_RATE),
        on_demand_equivalent=_text(covered * price),
        uncovered=_text((total - covered) * price),
    )


def _others(now: datetime) -> list[CostSeed]:
    """Return tax, support, a credit and a refund."""
    lines = [
        other_charge("2026-10-01", "Support", "2140.00"),
        other_charge("2026-11-01", "Support", "2890.00"),
        other_charge("2026-10-01", "Tax", "318.40"),
        other_charge("2026-11-01", "Tax", "402.75"),
        other_charge("2026-11-18", "Refund", "-412.37"),
        other_charge("2026-11-24", "Credit", "-1250.00"),
    ]
    dated = [replace(one, account=ACCOUNT) for one in lines]
    return [one for one in dated if one.day <= now.date()]


def _text(amount: Decimal) -> str:
    return format(amount.normalize(), "f")
