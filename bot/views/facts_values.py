"""What is known now of idle GPUs, commitments and checkpoints: values for the views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from billing.core.money import Money, Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleItem:
    """One GPU instance that runs, and whether its signals are quiet.

    Attributes:
        state: ``idle``, ``busy`` or ``unknown``; unknown is not idle.
        signals: Highest value of each signal in the window, by its name.
        busy: Signals beyond their limit.
        missing: What would have to be known to call it idle.
        quiet_for: How long every signal has been quiet; None when it is not, or unknown.
        rate: What it costs per hour; None when unknown.
    """

    resource_id: str
    account: str
    region: str
    instance_type: str
    lifecycle: str
    job: str
    team: str
    owner: str
    gpus: int | None
    state: str
    signals: Mapping[str, float]
    limits: Mapping[str, str]
    busy: tuple[str, ...]
    missing: tuple[str, ...]
    quiet_gpus: int
    quiet_for: timedelta | None
    running_since: datetime | None
    rate: Rate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleAnswer:
    """Running GPU instances, the idle ones first, dearest first.

    Attributes:
        window: How long every signal must have been quiet.
        failures: Scopes whose signals could not be read, in words.
        as_of: When the fleet was last read; None when never.
    """

    currency: str
    now: datetime
    window: timedelta
    items: tuple[IdleItem, ...]
    failures: tuple[str, ...] = ()
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageItem:
    """Commitments of one family over a window.

    Attributes:
        covered_pct: Covered share of eligible spend; None without eligible use.
        baseline_covered_pct: Of the use that is always there; None when unknown.
        utilization_pct: Used share of the commitments; None when there are none.
        open_: Eligible spend that no commitment covered.
    """

    family: str
    since: date
    until: date
    covered: Money
    eligible: Money
    open_: Money
    covered_pct: float | None
    baseline_covered_pct: float | None
    utilization_pct: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageAnswer:
    """Commitments by family; ``missing`` names families without any data."""

    currency: str
    now: datetime
    since: date
    until: date
    items: tuple[CoverageItem, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointItem:
    """The checkpoints of one job in one location.

    Attributes:
        per_month: Storage cost; None when a price is unknown.
        classes: Bytes by storage class.
        is_complete: False when the listing was cut or failed.
    """

    location: str
    folder: str
    job: str
    checkpoints: int
    objects: int
    size_bytes: int
    oldest_at: datetime
    newest_at: datetime
    first_step: int
    last_step: int
    classes: Mapping[str, int]
    per_month: Money | None
    is_complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsAnswer:
    """Checkpoints by job, largest first.

    Attributes:
        price: How ``per_month`` was priced, in words.
        locations: Where was looked.
    """

    currency: str
    now: datetime
    items: tuple[CheckpointItem, ...]
    locations: tuple[str, ...]
    price: str
    failures: tuple[str, ...] = ()
