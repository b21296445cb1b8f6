"""Grants: what an approved request lets somebody start, and when it no longer does.

A grant only narrows: it covers its own job and envelope, restarts of that job while
count, hours and cost stay inside, and nothing else. It says nothing of how a token is
signed. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.attribution import normalise_job
from billing.core.money import Money
from billing.core.periods import rfc3339
from billing.core.prices import Purchase
from policies.core.approvals import (
    ApprovalRequest,
    Envelope,
    RequestEvent,
    RequestState,
)
from policies.core.quantities import money_text

#: An approved run may begin this long after the decision and still have all its hours.
START_WITHIN = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What an approval lets a launcher start.

    Attributes:
        not_before / expires_at: When it may be used, half-open.
        drift: Share by which a price may have risen since, or a running job may exceed
            the envelope, before people are asked again.
    """

    request_id: str
    version: int
    envelope: Envelope
    not_before: datetime
    expires_at: datetime
    drift: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What somebody is about to start.

    Attributes:
        cost: High end of its estimate now; None when nobody knows a price.
    """

    job: str
    instance_type: str
    count: int
    hours: Fraction
    purchase: Purchase
    region: str
    cost: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was started under a grant so far.

    Attributes:
        running: Instances of its launches that run now.
        instance_hours: Of all its launches together.
        cost: What its job is known to have cost since the decision; None when unknown.
    """

    running: int = 0
    instance_hours: Fraction = Fraction(0)
    cost: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedLaunch:
    """One launch under a grant, as it is on record.

    Attributes:
        last_at: When it was last known to run.
        lease_until: Taken for dead when not heard of until then, by the system's clock.
    """

    launch_id: int
    count: int
    started_at: datetime
    last_at: datetime
    lease_until: datetime
    ended_at: datetime | None = None

    def is_running(self, system_now: datetime) -> bool:
        """Tell whether it runs as far as anybody knows."""
        return self.ended_at is None and system_now < self.lease_until


# --------------------------------------------------------------------------- granting


def ends_at(request: ApprovalRequest) -> datetime | None:
    """Return when an approved run must be over: a day to start it, then its hours."""
    if request.state is not RequestState.APPROVED or request.decided_at is None:
        return None
    seconds = round(request.envelope.hours * 3600)
    return request.decided_at + START_WITHIN + timedelta(seconds=seconds)


def grant_of(request: ApprovalRequest) -> Grant | None:
    """Return the grant of a request; None while it is not approved."""
    ends = ends_at(request)
    if ends is None or request.decided_at is None:
        return None
    drift = request.rule.drift if request.rule else None
    return Grant(
        request_id=request.request_id,
        version=request.version,
        envelope=request.envelope,
        not_before=request.decided_at,
        expires_at=ends,
        drift=drift or Fraction(0),
    )


def disowned(grant: Grant, request: ApprovalRequest | None) -> str | None:
    """Return why what is on record does not stand behind a grant; None when it does."""
    if request is None:
        return f"there is no approval request {grant.request_id!r}"
    if request.version != grant.version:
        return (
            f"request {grant.request_id} changed since: this grant is of version"
            f" {grant.version}, it stands at {request.version}"
        )
    if request.state is RequestState.LAPSED and (why := lapsed_why(request)):
        return f"the grant of {grant.request_id} lapsed: {why}"
    if request.state is not RequestState.APPROVED:
        return f"request {grant.request_id} is {request.state.value}"
    if grant_of(request) != grant:
        return f"request {grant.request_id} was approved for something else"
    return None


def lapsed_why(request: ApprovalRequest) -> str:
    """Return how a job left what was approved; "" when its grant lapsed otherwise."""
    told = [one.text for one in request.history if one.event is RequestEvent.LAPSE]
    return told[-1] if told else ""


# --------------------------------------------------------------------------- covering


def covers(grant: Grant, launch: Launch, usage: Usage, now: datetime) -> str | None:
    """Return why a grant does not cover a launch; None when it does.

    A restart asks for what the run was planned with: its hours are the plan's, and
    count as long as any hour of the envelope is left.
    """
    return (
        _out_of_time(grant, now)
        or _of_something_else(grant.envelope, launch)
        or _too_much(grant, launch)
        or used_up(grant, usage)
        or crowded(grant, launch, usage)
    )


def _out_of_time(grant: Grant, now: datetime) -> str | None:
    if now < grant.not_before:
        return f"the grant holds only from {rfc3339(grant.not_before)}"
    if now >= grant.expires_at:
        return f"the grant ended at {rfc3339(grant.expires_at)}; ask again"
    return None


def _of_something_else(envelope: Envelope, launch: Launch) -> str | None:
    if normalise_job(launch.job) != normalise_job(envelope.job):
        return f"the grant is of job {envelope.job!r}, not of {launch.job!r}"
    parts = (
        ("instance type", launch.instance_type, envelope.instance_type),
        ("purchase", launch.purchase.value, envelope.purchase.value),
        ("region", launch.region, envelope.region),
    )
    return next(
        (
            f"{what} {asked!r} was not approved, {approved!r} was"
            for what, asked, approved in parts
            if asked != approved
        ),
        None,
    )


def _too_much(grant: Grant, launch: Launch) -> str | None:
    envelope = grant.envelope
    if launch.count < 1 or launch.hours <= 0:
        return "a launch has at least one instance and more than no time"
    if launch.count > envelope.count:
        return f"{launch.count} instances are more than the {envelope.count} approved"
    if launch.hours > envelope.hours:
        return (
            f"{_hours(launch.hours)} h are more than the {_hours(envelope.hours)} h"
            " approved"
        )
    if _is_over(launch.cost, envelope.cost_ceiling, 1 + grant.drift):
        return (
            f"it may cost {_money(launch.cost)} by now, more than the"
            f" {_money(envelope.cost_ceiling)} approved; ask again"
        )
    return None


def used_up(grant: Grant, usage: Usage) -> str | None:
    """Return why nothing of a grant is left; None when something is."""
    envelope = grant.envelope
    approved = envelope.count * envelope.hours
    if usage.instance_hours >= approved:
        return f"all {_hours(approved)} instance hours of the grant are used; ask again"
    if _is_over(usage.cost, envelope.cost_ceiling, Fraction(1)):
        return (
            f"job {envelope.job!r} has cost {_money(usage.cost)} since, more than the"
            f" {_money(envelope.cost_ceiling)} approved; ask again"
        )
    return None


def crowded(grant: Grant, launch: Launch, usage: Usage) -> str | None:
    """Return why a launch does not fit beside those that run; None when it does."""
    envelope = grant.envelope
    if usage.running + launch.count <= envelope.count:
        return None
    return (
        f"{usage.running} of {envelope.count} approved instances run already, so"
        f" {launch.count} more do not fit"
    )


def usage_of(
    launches: Iterable[StartedLaunch],
    *,
    now: datetime,
    system_now: datetime,
    cost: Money | None = None,
) -> Usage:
    """Sum what launches hold and have used; one that died used what it was seen to."""
    running, used = 0, Fraction(0)
    for one in launches:
        ends = one.ended_at or one.last_at
        if one.is_running(system_now):
            running += one.count
            ends = max(now, one.last_at)
        used += one.count * _length(ends - one.started_at)
    return Usage(running=running, instance_hours=used, cost=cost)


def _length(span: timedelta) -> Fraction:
    """Return a span in hours, never below nothing: clocks of machines differ."""
    return Fraction(max(span, timedelta(0)) // timedelta(microseconds=1), 3_600_000_000)


def _is_over(amount: Money | None, ceiling: Money | None, most: Fraction) -> bool:
    """Tell whether a known amount is strictly more than a share of a known ceiling."""
    if amount is None or ceiling is None or amount.currency != ceiling.currency:
        return False
    return amount.nanos > ceiling.nanos * most


def _money(amount: Money | None) -> str:
    return money_text(amount) if amount else "an unknown amount"


def _hours(hours: Fraction) -> str:
    """Return hours as people write them, at most to the hundredth.

    >>> _hours(Fraction(72)), _hours(Fraction(5, 2)), _hours(Fraction(1, 3))
    ('72', '2.5', '0.33')
    """
    return f"{float(hours):.2f}".rstrip("0").rstrip(".")
