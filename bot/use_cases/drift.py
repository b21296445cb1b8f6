"""Let grants lapse whose job left its envelope, and ask again for what it is now.

Nothing that runs is stopped. The new request is filed first: a process that dies in
between leaves grants that the next look lets lapse, and equal requests are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.attribution import TagKeys
from billing.core.estimate import Estimate, EstimateRequest, NoPriceError
from billing.core.fleet import Lifecycle
from billing.core.gpus import gpu_count
from billing.core.money import Money
from billing.core.prices import Purchase
from billing.ports import JobRecord
from bot.ports import Store
from bot.use_cases.approvals import Ask, file_request
from bot.use_cases.approvals_moving import happen, tell_in_thread
from bot.use_cases.drift_facts import JobNow, Lookout
from bot.use_cases.estimate import BadPlanError, estimate_run
from bot.use_cases.pricing import OwnPrice, price_book
from bot.views.launches import grant_lapsed
from policies.core.approvals import (
    ApprovalRequest,
    ApprovalRule,
    RequestEvent,
    RequestState,
)
from policies.core.catalogue import Policy
from policies.core.rules import planned_job, rule_for

#: Who files what nobody asked for.
SELF = "gpucost"
_PURCHASES = {
    Lifecycle.SPOT: Purchase.SPOT,
    Lifecycle.CAPACITY_BLOCK: Purchase.CAPACITY_BLOCK,
    Lifecycle.TRAINING_PLAN: Purchase.TRAINING_PLAN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What looking after running jobs needs.

    Attributes:
        policies: Returns the policies in force.
        horizon: How long a job is taken to run on where nobody planned it.
        channel: Where approval cards go.
    """

    store: Store
    policies: Callable[[], Sequence[Policy]]
    keys: TagKeys
    own: Sequence[OwnPrice]
    horizon: timedelta
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapse:
    """What lapsed, why, and what asks again.

    Attributes:
        asks: The new requests; one that nobody must decide is approved already.
    """

    job: str
    told: str
    lapsed: tuple[ApprovalRequest, ...]
    asks: tuple[ApprovalRequest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a job runs on now, of one kind."""

    plan: EstimateRequest
    estimate: Estimate | None


def lapse_drifted(watch: Watch, now: datetime) -> tuple[Lapse, ...]:
    """Look at every job with a live grant; return what lapsed."""
    with watch.store.read() as unit:
        prices = price_book(unit.ledger, watch.own)
        lookout = Lookout(unit, prices, watch.keys)
        left = [
            found
            for job, grants in sorted(lookout.live(now).items())
            if (found := lookout.look(job, grants, now)).departures
        ]
    lapses = [_lapse(watch, one, now) for one in left]
    return tuple(one for one in lapses if one.lapsed)


def _lapse(watch: Watch, found: JobNow, now: datetime) -> Lapse:
    requests = _requests(watch.store, found)
    told = "; ".join(one.told for one in found.departures)
    asks = tuple(_ask_again(watch, found, requests, told, now))
    again = ", ".join(one.request_id for one in asks)
    lapsed = []
    for request in requests:
        with watch.store.write() as unit:
            current = unit.journal.request(request.request_id)
            if current is None or current.state is not RequestState.APPROVED:
                continue
            moved = happen(
                unit, current, RequestEvent.LAPSE, by="", channel=watch.channel,
                now=now, text=f"{told}; {again} asks again",
            )  # fmt: skip
            if moved is None:
                continue
            message = grant_lapsed(moved, found.departures, again)
            tell_in_thread(
                unit, moved, "lapse", message, channel=watch.channel, now=now
            )
            lapsed.append(moved)
    return Lapse(job=found.job, told=told, lapsed=tuple(lapsed), asks=asks)


def _requests(store: Store, found: JobNow) -> list[ApprovalRequest]:
    with store.read() as unit:
        known = [unit.journal.request(one.request_id) for one in found.grants]
    return [one for one in known if one is not None]


def _ask_again(
    watch: Watch,
    found: JobNow,
    requests: Sequence[ApprovalRequest],
    told: str,
    now: datetime,
) -> list[ApprovalRequest]:
    """File what the job is now, one request for each of its instance types."""
    shapes = shapes_now(watch, found, requests, now)
    highs = [one.estimate.high if one.estimate else None for one in shapes]
    rest = _sum(highs)
    total = _sum([rest, found.running.cost]) if found.running.cost else rest
    with watch.store.read() as unit:
        record = unit.ledger.job_record(found.job)
    first = requests[0]
    context = _context(found, rest, total)
    filed = []
    for shape in shapes:
        ask = Ask(
            plan=shape.plan, estimate=shape.estimate, requester=first.requester,
            caller=SELF, reason=f"job {found.job} left what was approved: {told}",
            context=context,
        )  # fmt: skip
        rule = rule_now(watch.policies(), shape.plan, record, total) or first.rule
        filed.append(
            file_request(
                watch.store, ask, rule, owner=first.owner, record=record,
                channel=watch.channel, now=now,
                passed_over=[one.request_id for one in requests],
            )
        )  # fmt: skip
    return filed


def shapes_now(
    watch: Watch, found: JobNow, requests: Sequence[ApprovalRequest], now: datetime
) -> list[Shape]:
    """Return what a job runs on, each with an estimate of what is still to come."""
    hours = _hours_left(requests, watch.horizon, now)
    shapes = []
    for instance_type, count in sorted(found.running.instances.items()):
        machine = next(one for one in found.machines if one.shape == instance_type)
        known = [
            one.envelope
            for one in requests
            if one.envelope.instance_type == instance_type
        ]
        plan = EstimateRequest(
            job=found.job,
            instance_type=instance_type,
            count=-(-count.numerator // count.denominator),
            hours=hours,
            purchase=known[0].purchase if known else purchase_of(machine.lifecycle),
            region=machine.region,
        )
        shapes.append(Shape(plan=plan, estimate=estimate_of(watch, plan)))
    return shapes


def estimate_of(watch: Watch, plan: EstimateRequest) -> Estimate | None:
    """Estimate a plan; None when nobody knows the price."""
    with watch.store.read() as unit:
        try:
            return estimate_run(plan, price_book(unit.ledger, watch.own))
        except (BadPlanError, NoPriceError):
            return None


def purchase_of(lifecycle: Lifecycle) -> Purchase:
    """Return how a machine that runs was bought."""
    return _PURCHASES.get(lifecycle, Purchase.ON_DEMAND)


def rule_now(
    policies: Sequence[Policy],
    plan: EstimateRequest,
    record: JobRecord | None,
    total: Money | None,
) -> ApprovalRule | None:
    """Return the rule that a running job falls under, by all it will have cost."""
    job = planned_job(
        job=plan.job,
        team=record.team if record else "",
        owner=record.owner if record else "",
        environment=record.environment if record else "",
        instance_type=plan.instance_type,
        count=plan.count,
        gpus=gpu_count(plan.instance_type),
        high=total,
    )
    nothing = Money.zero(total.currency) if total else Money.zero()
    return rule_for(policies, job, total, nothing)


def _hours_left(
    requests: Sequence[ApprovalRequest], horizon: timedelta, now: datetime
) -> Fraction:
    """Return how long the approved plan still runs, else as nobody planned it."""
    ends = [
        one.decided_at + timedelta(seconds=round(one.envelope.hours * 3600))
        for one in requests
        if one.decided_at is not None
    ]
    left = max(ends, default=now) - now
    chosen = left if left > timedelta(0) else horizon
    minutes = -(-chosen // timedelta(minutes=1))
    return Fraction(minutes, 60)


def _context(found: JobNow, rest: Money | None, whole: Money | None) -> tuple[str, ...]:
    """Say what was approved, what it is now, and what it may come to."""
    lines = [
        f"Approved {one.what}: {one.approved}; now: {one.now}; {one.difference}."
        for one in found.departures
    ]
    cost = found.running.cost
    spent = "unknown" if cost is None else str(cost)
    coming = "unknown" if rest is None else str(rest)
    lines.append(f"Cost since the day after the decision: {spent}.")
    lines.append(
        f"What is still to come: at most {coming}; together {whole or 'unknown'}."
    )
    lines.append("What runs is not stopped; nothing more is started until approved.")
    return tuple(lines)


def _sum(amounts: Sequence[Money | None]) -> Money | None:
    """Return a sum; None when any part is unknown."""
    known = [one for one in amounts if one is not None]
    if len(known) < len(amounts) or not known:
        return None
    result = known[0]
    for one in known[1:]:
        if one.currency != result.currency:
            return None
        result += one
    return result
