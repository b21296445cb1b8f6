"""The kind `capacity`: reserved capacity that is paid and not used, or about to end.

On-demand capacity reservations cost the on-demand price while nothing runs in them; a
Capacity Block was paid at purchase, so that using it is all that can be saved. Names
the on-demand jobs that could move in. It tells, and never acts.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field, field_validator

from billing.core.fleet import InstanceState, Lifecycle
from billing.core.periods import DAY, rfc3339
from billing.core.resources import Reservation
from policies.core.document import PolicyBase
from policies.core.fields import Account, Duration
from policies.core.finding import (
    Evidence,
    Finding,
    PlannedAction,
    Severity,
    Subject,
    Unknown,
)
from policies.core.judging import Judgement, message_of, plural
from policies.core.quantities import QuantityError, duration_text
from policies.core.view import View

_LIVE = frozenset({"active"})


class CapacityPolicy(PolicyBase):
    """Reserved capacity that is paid and not used, or about to end."""

    kind: Literal["capacity"] = "capacity"
    accounts: tuple[Account, ...] = Field((), description="account ids; empty: all")
    ends_within: tuple[Duration, ...] = Field(
        (timedelta(hours=24), timedelta(hours=4), timedelta(minutes=40)),
        description="tell this long before capacity that was paid ahead ends",
    )

    @field_validator("ends_within")
    @classmethod
    def _falling(cls, steps: tuple[timedelta, ...]) -> tuple[timedelta, ...]:
        if list(steps) != sorted(set(steps), reverse=True):
            shown = ", ".join(duration_text(one) for one in steps)
            raise QuantityError(f"[{shown}]", "times that fall, such as [24h, 4h, 40m]")
        return steps

    @property
    def needs_reservations(self) -> bool:
        """Tell that reservations are looked at."""
        return True


def judge(policy: CapacityPolicy, view: View, now: datetime) -> Judgement:
    """Return reservations with unused capacity, and those that end soon."""
    facts = view.facts
    if not facts.reservations_known:
        subject = Subject(type="capacity", id="reservations")
        missing = "capacity reservations"
        unknown = Unknown(policy=policy.name, subject=subject, missing=missing)
        return Judgement(unknown=(unknown,))
    held = [
        one
        for one in sorted(facts.reservations, key=lambda one: one.reservation_id)
        if one.state in _LIVE
        and (not policy.accounts or one.account in policy.accounts)
        and (one.ends_at is None or one.ends_at > now)
    ]
    findings: list[Finding] = []
    lacking: list[Unknown] = []
    for one in held:
        if one.available is None:
            lacking.append(
                Unknown(
                    policy=policy.name,
                    subject=_subject(one),
                    missing="what it holds free",
                )
            )
        elif one.available > 0:
            findings.append(_unused(policy, one, one.available, view, now))
        findings += _ending(policy, one, now)
    return Judgement(
        findings=tuple(findings), unknown=tuple(lacking), in_scope=len(held)
    )


def _subject(one: Reservation) -> Subject:
    return Subject(
        type="capacity",
        id=one.reservation_id,
        account=one.account,
        region=one.region,
    )


def _unused(
    policy: CapacityPolicy, one: Reservation, free: int, view: View, now: datetime
) -> Finding:
    movers = sorted(_could_move(one, view))
    rate = one.rate
    a_day = rate.cost_of(DAY * free) if rate is not None else None
    paid = (
        "It was paid at purchase: using it is all that can be saved."
        if one.is_prepaid
        else "It costs the on-demand price whether anything runs in it or not."
    )
    could = (
        f"Jobs on demand that could run in it: {', '.join(movers[:5])}."
        if movers
        else "Nothing that runs on demand in its zone could use it."
    )
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=_subject(one),
        job="",
        severity=Severity.WARNING,
        clause="unused capacity",
        since=one.starts_at,
        cost_at_stake=a_day,
        evidence=(
            Evidence(
                name="unused instances",
                value=str(free),
                threshold=f"0 of {one.count}",
                as_of=now,
            ),
        ),
        explanation=(
            (
                f"{free} of {plural(one.count, 'instance')} of {one.instance_type} in "
                f"{one.zone or one.region} {'is' if free == 1 else 'are'} unused."
            ),
            paid,
            could,
        ),
        actions=(PlannedAction(do="warn", at=now),),
    )


def _could_move(one: Reservation, view: View) -> Iterator[str]:
    """Yield jobs (or instances without one) that run the same on demand there."""
    for some in view.facts.instances:
        instance = some.instance
        if (
            instance.state is InstanceState.RUNNING
            and instance.lifecycle is Lifecycle.ON_DEMAND
            and not instance.capacity_reservation_id
            and instance.instance_type == one.instance_type
            and instance.account == one.account
            and instance.zone == one.zone
            and instance.platform == one.platform
        ):
            yield some.job or instance.resource_id


def _ending(policy: CapacityPolicy, one: Reservation, now: datetime) -> list[Finding]:
    if one.ends_at is None or not one.is_prepaid:
        return []
    left = one.ends_at - now
    passed = [step for step in policy.ends_within if left <= step]
    if not passed:
        return []
    return [
        Finding(
            policy=policy.name,
            kind=policy.kind,
            mode=str(policy.mode),
            subject=_subject(one),
            job="",
            severity=Severity.WARNING,
            clause=f"ends within {duration_text(passed[-1])}",
            since=one.ends_at - passed[-1],
            cost_at_stake=None,
            evidence=(Evidence(name="end", value=rfc3339(one.ends_at), as_of=now),),
            explanation=(
                f"It ends at {rfc3339(one.ends_at)}; AWS ends what runs in it then.",
                f"It holds {plural(one.count, 'instance')} of {one.instance_type}.",
            ),
            actions=(PlannedAction(do="warn", at=now),),
        )
    ]


def message(finding: Finding) -> str:
    """Return the message for whoever buys capacity."""
    what = "is not used" if finding.clause == "unused capacity" else "ends soon"
    return message_of(
        finding, f"capacity {finding.subject.id} {what} ({finding.policy})"
    )
