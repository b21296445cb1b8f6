"""What somebody plans to run, and everything that may be wrong with it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from billing.core.attribution import nearest
from billing.core.break_even import Servers
from billing.core.checkpoints_size import CheckpointPlan
from billing.core.errors import GpucostError
from billing.core.money import Rate
from billing.core.prices import Purchase


class Stage(StrEnum):
    """How settled a run is."""

    EXPERIMENT = "experiment"
    PRODUCTION = "production"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a run can bear, as its owner says.

    Attributes:
        deadline: When it must be done; None when any time will do.
        is_interruptible: It can be taken back at any time and goes on from a checkpoint.
        stage: None when nobody said.
        checkpoints: What it saves; None when nobody said.
        quoted: Price of one instance and hour as AWS quoted it, for what has no list
            price (capacity blocks, training plans).
        per_year: How often it is run in a year; None when nobody said.
        servers: Servers of one's own to compare with.
        is_managed_compared: SageMaker and HyperPod are compared with.
    """

    deadline: datetime | None = None
    is_interruptible: bool = False
    stage: Stage | None = None
    checkpoints: CheckpointPlan | None = None
    quoted: Rate | None = None
    per_year: int | None = None
    servers: Servers | None = None
    is_managed_compared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRequest:
    """What somebody plans to run.

    Attributes:
        hours: Planned productive hours; wall-clock limit when ``is_time_limit``.
        is_time_limit: The scheduler ends it at ``hours``: factor 1, and the high end.
    """

    instance_type: str
    count: int
    hours: Fraction
    region: str
    purchase: Purchase = Purchase.ON_DEMAND
    job: str = ""
    is_time_limit: bool = False
    terms: Terms = field(default_factory=Terms)

    @property
    def can_be_interrupted(self) -> bool:
        """Tell whether losing an instance is part of the plan: who buys spot says so."""
        return self.terms.is_interruptible or self.purchase is Purchase.SPOT


class NoPriceError(GpucostError):
    """Nobody knows what the planned capacity costs; an estimate of $0 would be a lie."""

    code = "no_price"
    hint = "choose another region or purchase option, or set a price under `prices`"

    def __init__(self, request: EstimateRequest) -> None:
        super().__init__(
            f"no {request.purchase} price is known for {request.instance_type!r}"
            f" in {request.region!r}"
        )
        self.request = request


@dataclass(frozen=True, slots=True, kw_only=True)
class InputProblem:
    """One thing that is wrong with a planned run.

    Attributes:
        field: Name of the part, such as ``count``.
        suggestions: Near names of an unknown instance type, best first.
    """

    field: str
    message: str
    suggestions: tuple[str, ...] = ()


def problems(
    request: EstimateRequest, known_types: Iterable[str] = ()
) -> tuple[InputProblem, ...]:
    """Return everything that is wrong with a planned run; empty when nothing is.

    The instance type is only looked at when known types are given.
    """
    found = []
    if request.count < 1:
        message = f"count must be 1 or more, got {request.count}"
        found.append(InputProblem(field="count", message=message))
    if request.hours <= 0:
        message = f"hours must be more than 0, got {number(request.hours)}"
        found.append(InputProblem(field="hours", message=message))
    names = frozenset(known_types)
    if names and request.instance_type not in names:
        found.append(unknown_type(request.instance_type, names))
    return tuple(found)


def unknown_type(instance_type: str, known: Iterable[str]) -> InputProblem:
    """Return the problem of an instance type nobody knows, with near names."""
    return InputProblem(
        field="instance_type",
        message=f"instance type {instance_type!r} is not known",
        suggestions=nearest(instance_type, known),
    )


def number(value: Fraction) -> str:
    """Return a number for people, to ten digits.

    >>> number(Fraction(7, 2)), number(Fraction(72))
    ('3.5', '72')
    """
    return f"{float(value):.10g}"
