"""Test values of what policies watch: starts, reservations, unusual days."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

from billing.core.anomalies import Anomaly, Cause
from billing.core.money import Money
from billing.core.resources import Reservation, ReservationKind
from policies.core.facts import JobTransfer, JobWork, LaunchFacts
from tests.builders_policies import ACCOUNT, NOW, REGION


def make_launch(
    job: str = "job-123",
    *,
    ago: timedelta = timedelta(hours=3),
    lasted: timedelta | None = timedelta(minutes=6),
    gpus: int | None = 64,
    cost: str | None = "78.66",
) -> LaunchFacts:
    """Return a start some time ago that lasted so long; None: it still runs."""
    started = NOW - ago
    return LaunchFacts(
        job=job,
        team="nlp",
        owner="ada",
        instances=8,
        gpus=gpus,
        started_at=started,
        ended_at=None if lasted is None else started + lasted,
        cost=None if cost is None else Money.of(cost),
    )


def make_reservation(
    reservation_id: str = "cr-1",
    *,
    kind: ReservationKind = ReservationKind.CAPACITY_BLOCK,
    count: int = 4,
    available: int | None = 2,
    state: str = "active",
    ends_in: timedelta | None = timedelta(days=3),
    fee: str | None = "24000",
    instance_type: str = "p5.48xlarge",
) -> Reservation:
    return Reservation(
        reservation_id=reservation_id,
        kind=kind,
        account=ACCOUNT,
        region=REGION,
        zone=f"{REGION}a",
        instance_type=instance_type,
        count=count,
        available=available,
        state=state,
        starts_at=NOW - timedelta(days=2),
        ends_at=None if ends_in is None else NOW + ends_in,
        fee=None if fee is None else Money.of(fee),
    )


def make_anomaly(
    series: str = "team nlp", *, excess: str = "4000", is_open: bool = False
) -> Anomaly:
    usual = Money.of("6000")
    return Anomaly(
        series=series,
        day=date(2026, 11, 28),
        cost=usual + Money.of(excess),
        usual=usual,
        excess=Money.of(excess),
        deviations=Fraction(7),
        causes=(Cause(key="job-123", cost=Money.of("5000"), usual=Money.of("1500")),),
        is_open=is_open,
    )


WEEK = timedelta(days=7)


def make_work(
    per_unit: str | None = "3.10",
    *,
    job: str = "job-123",
    counter: str = "tokens",
    over: timedelta = WEEK,
    missing: str = "",
) -> JobWork:
    return JobWork(
        job=job,
        over=over,
        counter=counter,
        per_unit=None if per_unit is None else Money.of(per_unit),
        done=12_000_000_000,
        missing=missing,
    )


def make_transfer(
    cost: str = "812.40",
    *,
    sort: str = "between zones",
    total: str = "9000",
    job: str = "job-123",
    over: timedelta = WEEK,
) -> JobTransfer:
    return JobTransfer(
        job=job,
        over=over,
        since=date(2026, 11, 23),
        until=date(2026, 11, 30),
        total=Money.of(total),
        paid={sort: Money.of(cost)},
    )
