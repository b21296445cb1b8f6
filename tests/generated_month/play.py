"""Play a generated month into a ledger: polls, events, prices, and in the end the bill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zlib import crc32

from billing.core.charges import PricingCategory
from billing.core.fleet import Instance, InstanceState, Lifecycle
from billing.core.fleet_events import FleetEvent, FleetState
from billing.core.prices import Price
from tests.builders import (
    ACCOUNT,
    REGION,
    make_charge,
    make_instance,
    make_observation,
    make_price,
    make_spot_price,
)
from tests.builders_store import import_charges
from tests.generated_month.month import (
    CUT,
    FIRST,
    LAST,
    PRICES,
    SPOT_STEPS,
    Line,
    Month,
    Node,
    Run,
)

if TYPE_CHECKING:
    from billing.core.charges import Charge
    from bot.unit_of_work import SqlStore

POLL = timedelta(minutes=5)
#: EC2 shows an ended instance for about an hour.
SHOWN = timedelta(hours=1)
NOW = LAST + timedelta(days=5)


def play(
    store: SqlStore, month: Month, *, has_events: bool, lost_percent: int = 0
) -> None:
    """Let a store see the month as it happened, and then its bill.

    Some events may be lost: EventBridge promises best effort.
    """
    with store.write() as unit:
        unit.ledger.record_prices(list(_prices()), FIRST)
    for instant in polls(month):
        seen = [one for node in month.nodes for one in _seen(node, instant)]
        with store.write() as unit:
            unit.ledger.apply_observation(make_observation(*seen, observed=instant))
            if has_events:
                unit.ledger.apply_events(_events(month, instant, lost_percent))
    import_charges(store, [_charge(line) for line in month.lines], now=NOW)
    with store.write() as unit:
        unit.ledger.set_billed_through(ACCOUNT, LAST, NOW)


def polls(month: Month) -> Sequence[datetime]:
    """Return the polls, every five minutes, that can tell anything.

    One that saw what the polls beside it saw teaches nothing and is left out.
    """
    told = {FIRST}
    for node in month.nodes:
        moments = [since for since, _ in node.tags]
        for run in node.runs:
            moments += [run.launched, run.running, run.ended]
        for moment in moments:
            before = moment - (moment - FIRST) % POLL
            told |= {before, before + POLL}
    return sorted(told)


def _seen(node: Node, instant: datetime) -> Iterator[Instance]:
    """Yield an instance as EC2 describes it at an instant, while it does."""
    runs = [run for run in node.runs if run.launched <= instant]
    if not runs:
        return
    run = runs[-1]
    is_last = run is node.runs[-1]
    if is_last and instant >= run.ended + SHOWN:
        return
    state = _state(run, instant, is_last=is_last)
    is_over = state not in {InstanceState.PENDING, InstanceState.RUNNING}
    job = node.job_at(instant)
    yield make_instance(
        resource_id=node.id,
        instance_type=node.kind,
        state=state,
        lifecycle=Lifecycle.SPOT if node.is_spot else Lifecycle.ON_DEMAND,
        launched=run.launched,
        ended=run.ended if is_over and run.says_when else None,
        tags={"job-id": job} if job else {},
    )


def _state(run: Run, instant: datetime, *, is_last: bool) -> InstanceState:
    if instant < run.running:
        return InstanceState.PENDING
    if instant < run.ended:
        return InstanceState.RUNNING
    return InstanceState.TERMINATED if is_last else InstanceState.STOPPED


def _events(month: Month, instant: datetime, lost_percent: int) -> list[FleetEvent]:
    """Return what happened in ten minutes before an instant: late, twice, newest first."""
    found = []
    for node in month.nodes:
        for run in node.runs:
            ending = FleetState.SHUTTING_DOWN
            if run is not node.runs[-1]:
                ending = FleetState.STOPPING
            for at, state in (
                (run.launched, FleetState.PENDING),
                (run.running, FleetState.RUNNING),
                (run.ended, ending),
            ):
                is_lost = crc32(f"{node.id}{at}".encode()) % 100 < lost_percent
                if not is_lost and instant - 2 * POLL <= at < instant:
                    found.append(
                        FleetEvent(
                            resource_id=node.id,
                            account=ACCOUNT,
                            region=REGION,
                            state=state,
                            at=at,
                        )
                    )
    return sorted(found, key=lambda one: one.at, reverse=True)


def _prices() -> Iterator[Price]:
    for kind, (before, after) in PRICES.items():
        yield make_price(before, product=kind, as_of=FIRST - timedelta(days=3))
        if after != before:
            yield make_price(after, product=kind, as_of=CUT)
    for text, day in SPOT_STEPS:
        began = FIRST + timedelta(days=day)
        yield make_spot_price(text, since=began, product="g5.xlarge")


def _charge(line: Line) -> Charge:
    what = "SpotUsage" if line.is_spot else "BoxUsage"
    return make_charge(
        on=line.day.isoformat(),
        job=line.job,
        billed=f"{line.cost:.9f}",
        usage_type=f"{what}:{line.kind}",
        pricing=(PricingCategory.DYNAMIC if line.is_spot else PricingCategory.STANDARD),
        quantity=f"{line.hours:.10f}",
    )
