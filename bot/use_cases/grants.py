"""Check launches against grants, and record what was started under them.

What a grant still covers follows from its launches on record and from what its job has
cost; nothing is kept that could disagree with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.core.attribution import TagKeys, normalise_job
from billing.core.estimate import EstimateRequest, NoPriceError
from billing.core.money import Money
from bot.ports import Store, UnitOfWork
from bot.use_cases.drift_facts import Lookout
from bot.use_cases.estimate import BadPlanError, estimate_run
from bot.use_cases.pricing import PriceBook
from policies.core.grants import (
    Grant,
    Launch,
    StartedLaunch,
    Usage,
    covers,
    crowded,
    disowned,
    usage_of,
)

#: A launcher says this often that its command still runs …
BEAT = timedelta(seconds=30)
#: … and is taken for dead, its instances for free, when not heard of for this long.
LEASE = timedelta(minutes=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One instant on both clocks.

    Attributes:
        now: Of rules and figures.
        system: Of leases.
    """

    now: datetime
    system: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What a launcher is told.

    Attributes:
        reason: Why the launch is not covered; "" when it is.
        launch_id: Of the launch that was recorded; None when none was.
        is_crowded: It would be covered, were it not for launches that run now.
        is_lapsed: It would be, were the job not running as nobody approved.
        running: Those launches.
    """

    request_id: str
    reason: str = ""
    launch_id: int | None = None
    is_crowded: bool = False
    is_lapsed: bool = False
    running: tuple[StartedLaunch, ...] = ()

    @property
    def is_covered(self) -> bool:
        """Tell whether the launch may start."""
        return not self.reason


def launch_of(plan: EstimateRequest, cost: Money | None = None) -> Launch:
    """Return a plan as a launch; ``cost`` is the high end of its estimate, if known."""
    return Launch(
        job=plan.job,
        instance_type=plan.instance_type,
        count=plan.count,
        hours=plan.hours,
        purchase=plan.purchase,
        region=plan.region,
        cost=cost,
    )


@dataclass(frozen=True, slots=True)
class Assessor:
    """Looks up in one unit of work what covering a launch depends on."""

    unit: UnitOfWork
    prices: PriceBook
    keys: TagKeys

    def _high(self, plan: EstimateRequest) -> Money | None:
        try:
            return estimate_run(plan, self.prices).high
        except (BadPlanError, NoPriceError):
            return None

    def assess(self, grant: Grant, plan: EstimateRequest, at: Moment) -> Coverage:
        """Tell whether a grant covers a launch; in a writing unit its request is held."""
        request = self.unit.journal.request(grant.request_id)
        launches = self.unit.journal.launches(grant.request_id)
        usage = self.usage(grant, launches, at)
        launch = launch_of(plan, self._high(plan))
        why = disowned(grant, request) or covers(grant, launch, usage, at.now)
        is_crowded = why is not None and why == crowded(grant, launch, usage)
        lapse = None if why else self._lapse(grant, at.now)
        return Coverage(
            request_id=grant.request_id,
            reason=why or lapse or "",
            is_crowded=is_crowded,
            is_lapsed=lapse is not None,
            running=tuple(one for one in launches if one.is_running(at.system)),
        )

    def usage(
        self, grant: Grant, launches: Sequence[StartedLaunch], at: Moment
    ) -> Usage:
        """Return what was used of a grant so far."""
        return usage_of(
            launches, now=at.now, system_now=at.system, cost=self._cost(grant, at.now)
        )

    def _cost(self, grant: Grant, now: datetime) -> Money | None:
        return self._lookout.cost_since(grant.envelope.job, grant.not_before, now)

    def _lapse(self, grant: Grant, now: datetime) -> str | None:
        """Return how the job left what was approved for it, all its grants together.

        Each look at running jobs lets such grants lapse for good; this is for launches
        before that.
        """
        job = normalise_job(grant.envelope.job)
        live = {one.request_id: one for one in self._lookout.live(now).get(job, ())}
        mine = {**live, grant.request_id: grant}
        found = self._lookout.look(job, tuple(mine.values()), now)
        if not found.departures:
            return None
        told = "; ".join(one.told for one in found.departures)
        return f"the grant lapsed: job {job!r} left it, {told}; ask again"

    @property
    def _lookout(self) -> Lookout:
        return Lookout(self.unit, self.prices, self.keys)


def start(
    assessor: Assessor, grant: Grant, plan: EstimateRequest, *, by: str, at: Moment
) -> Coverage:
    """Record a launch if its grant covers it, within a writing unit.

    Two at the same instant are judged one after the other, so both never take the same
    place.
    """
    unit = assessor.unit
    found = assessor.assess(grant, plan, at)
    if not found.is_covered:
        return found
    launch_id = unit.journal.add_launch(
        grant.request_id,
        grant.version,
        count=plan.count,
        by=by,
        now=at.now,
        lease_until=at.system + LEASE,
    )
    unit.audit.append(
        "launch_started",
        actor=by,
        subject=grant.request_id,
        data=_audit_data(plan) | {"launch": launch_id, "version": grant.version},
        now=at.now,
    )
    return Coverage(request_id=grant.request_id, launch_id=launch_id)


def refuse(
    store: Store, found: Coverage, plan: EstimateRequest, *, by: str, now: datetime
) -> None:
    """Put on record that a launch was not started, and why."""
    with store.write() as unit:
        unit.audit.append(
            "launch_refused",
            actor=by,
            subject=found.request_id,
            data=_audit_data(plan) | {"reason": found.reason},
            now=now,
        )


def beat(store: Store, launch_id: int, at: Moment) -> bool:
    """Record that a launch still runs; False when it was ended."""
    with store.write() as unit:
        return unit.journal.beat_launch(
            launch_id, now=at.now, lease_until=at.system + LEASE
        )


def end(
    store: Store, found: Coverage, *, exit_code: int, by: str, now: datetime
) -> None:
    """Record the end of a launch; its instances are free for a restart."""
    assert found.launch_id is not None
    with store.write() as unit:
        if not unit.journal.end_launch(found.launch_id, now=now, exit_code=exit_code):
            return
        unit.audit.append(
            "launch_ended",
            actor=by,
            subject=found.request_id,
            data={"launch": found.launch_id, "exit_code": exit_code},
            now=now,
        )


def _audit_data(plan: EstimateRequest) -> dict[str, object]:
    return {
        "job": plan.job,
        "instance_type": plan.instance_type,
        "count": plan.count,
        "hours": str(plan.hours),
        "purchase": plan.purchase.value,
        "region": plan.region,
    }
