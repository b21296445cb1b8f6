"""The facts a policy may look at: frozen values gathered before evaluation.

Everything unknown is None or absent, never zero. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from billing.core.anomalies import Anomaly
from billing.core.fleet import Instance
from billing.core.money import Money, Rate
from billing.core.resources import Reservation
from billing.ports import (
    CommitmentFacts,
    MetricSeries,
    OwnedPlan,
    StoredObject,
    UnfinishedUpload,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFacts:
    """One live instance with what surrounds it.

    Attributes:
        job: Normalised job id; "" when untagged.
        gpus: GPUs of the instance type; None when the type is unknown.
        rate: Price per hour it is really paying; None when unknown.
        running_since: Start of its current running interval; None when unknown.
        job_since: Since when it works for its job; None when always, or untagged.
        series: Signals over the look-back window, by nothing but their own names.
        series_complete: False when the metric source failed for its scope.
    """

    instance: Instance
    job: str
    team: str
    owner: str
    environment: str
    gpus: int | None
    rate: Rate | None
    running_since: datetime | None
    job_since: datetime | None = None
    series: tuple[MetricSeries, ...] = ()
    series_complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """One job: what it has cost, what it costs now, what was approved.

    Attributes:
        spent: Total so far before credits; None when unknown.
        rate: Burn rate per hour of what runs now; None when any part is unknown.
        predicted: High estimate of the total cost; None when unknown.
        ended_at: When the scheduler said it ended; None while running or unknown.
        approved_ceiling: Cost that was approved for it, all requests; None without any.
        progressed_at: When a counter it reports last grew; None when it reports none.
    """

    job: str
    team: str
    owner: str
    environment: str
    spent: Money | None
    rate: Rate | None
    predicted: Money | None
    instance_types: tuple[str, ...]
    instances: int
    gpus: int | None
    since: datetime | None
    ended_at: datetime | None = None
    has_grant: bool = False
    grant_ends_at: datetime | None = None
    approved_ceiling: Money | None = None
    progressed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointFacts:
    """One listing of one checkpoint location.

    Attributes:
        location: The policy's location template that was listed.
        objects: Every version of every object under the fixed prefix of the template.
        is_complete: False when a page failed; then nothing may be proposed.
        prices: Price per GB-month by storage class; a class left out is unknown.
        tags: Tags by key, of the objects they were read for; None when nobody reads
            tags.
        uploads: Uploads that were never completed; None when they are unknown.
    """

    location: str
    objects: tuple[StoredObject, ...]
    is_complete: bool
    prices: Mapping[str, Money] = field(default_factory=dict)
    tags: Mapping[str, Mapping[str, str]] | None = None
    uploads: tuple[UnfinishedUpload, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamMonth:
    """One team's current calendar month (UTC).

    Attributes:
        since: First day of the month.
        spent: Total so far before credits; None when any part is unknown.
        forecast: Expected total of the month; None when unknown.
        budget: The team's budget in the configuration; None when it has none.
    """

    team: str
    since: date
    spent: Money | None
    forecast: Money | None = None
    budget: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFacts:
    """One start of a job's machines, and how soon the last of them was gone.

    Attributes:
        gpus: None when any instance type is unknown.
        ended_at: None while any of them runs.
        cost: What it cost; None when any price is unknown.
    """

    job: str
    team: str
    owner: str
    instances: int
    gpus: int | None
    started_at: datetime
    ended_at: datetime | None
    cost: Money | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWork:
    """What one counter of a running job says, and what a unit of it cost.

    Attributes:
        over: Window that was looked at.
        counter: ``steps``, ``samples`` or ``tokens``.
        per_unit: Of a step, a thousand samples or a million tokens; None with
            ``missing``.
        done: Counted in the window, without what was lost.
    """

    job: str
    over: timedelta
    counter: str
    per_unit: Money | None
    done: int
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTransfer:
    """What the bill of whole days says a job paid for traffic.

    Attributes:
        over: Window that was asked for; ``[since, until)`` are its days.
        total: Everything the job paid in it.
        paid: By sort of traffic; a sort it paid nothing for is left out.
    """

    job: str
    over: timedelta
    since: date
    until: date
    total: Money
    paid: Mapping[str, Money]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything gathered for one evaluation.

    Attributes:
        plans: Savings Plans that are owned; None when they are unknown.
        as_of: When each source was read; a missing source is absent.
        stale_scopes: ``(account, region)`` whose facts are old; nothing there is acted on.
    """

    currency: str
    instances: tuple[InstanceFacts, ...] = ()
    jobs: tuple[JobFacts, ...] = ()
    checkpoints: tuple[CheckpointFacts, ...] = ()
    commitments: tuple[CommitmentFacts, ...] = ()
    commitments_known: bool = False
    plans: tuple[OwnedPlan, ...] | None = None
    team_months: tuple[TeamMonth, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    reservations_known: bool = False
    anomalies: tuple[Anomaly, ...] = ()
    anomalies_known: bool = False
    work: tuple[JobWork, ...] = ()
    transfers: tuple[JobTransfer, ...] = ()
    as_of: Mapping[str, datetime] = field(default_factory=dict)
    stale_scopes: frozenset[tuple[str, str]] = frozenset()
    today: date | None = None
