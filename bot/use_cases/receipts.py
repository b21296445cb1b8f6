"""The receipt of an approved run, in its card's thread, once its launches ended.

A restart that ends later gets a receipt of its own. What is not billed yet is in it as
an estimate; what is unknown is said to be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.core.attribution import TagKeys, normalise_job
from billing.core.leaks import Leak
from billing.core.periods import Period, day_of
from billing.core.usage import MACHINES, UsageInterval
from billing.ports import NeedsExportError
from bot.ports import Store, UnitOfWork
from bot.use_cases.cards import card_key, post
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.held_now import burn_of
from bot.use_cases.leaks import ask_leaks
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import PriceBook
from bot.views.leaks import LeakAnswer
from bot.views.receipt import Accruing, Receipt, receipt
from policies.core.approvals import ApprovalRequest, RequestState

#: Runs that ended longer ago get no receipt any more.
LOOK_BACK = timedelta(days=7)
#: A run that was started again by then has not ended.
SETTLES = timedelta(minutes=10)
_GRANTED = (RequestState.APPROVED, RequestState.CONSUMED, RequestState.LAPSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Till:
    """What a receipt is made out with."""

    prices: PriceBook
    keys: TagKeys
    channel: str


def send_receipts(
    store: Store,
    till_of: Callable[[UnitOfWork], Till],
    *,
    now: datetime,
    system_now: datetime,
) -> Sequence[str]:
    """Queue the receipts that are due; return the requests they are for."""
    with store.read() as unit:
        till = till_of(unit)
        due = [
            (request, key)
            for state in _GRANTED
            for request in unit.journal.requests(state=state)
            if (key := _due(unit, request, now=now, system_now=system_now))
        ]
        made = [
            (request, key, _receipt(unit, request, till, now)) for request, key in due
        ]
    for request, key, told in made:
        with store.write() as unit:
            message = receipt(told)
            effect = post(key, till.channel, message, thread_of=card_key(request))
            unit.outbox.put(effect, now)
    return [request.request_id for request, _, _ in made]


def _due(
    unit: UnitOfWork, request: ApprovalRequest, *, now: datetime, system_now: datetime
) -> str:
    """Return the key of a receipt that is due; "" when none is."""
    if unit.outbox.find(card_key(request)) is None:
        return ""
    launches = unit.journal.launches(request.request_id)
    if not launches or any(one.is_running(system_now) for one in launches):
        return ""
    ended = max(one.ended_at or one.last_at for one in launches)
    if not SETTLES <= now - ended <= LOOK_BACK:
        return ""
    card = card_key(request).removesuffix("card")
    key = f"{card}receipt:{max(one.launch_id for one in launches)}"
    return "" if unit.outbox.find(key) else key


def _receipt(
    unit: UnitOfWork, request: ApprovalRequest, till: Till, now: datetime
) -> Receipt:
    launches = unit.journal.launches(request.request_id)
    began = min(one.started_at for one in launches)
    answer = _answer(unit, request, till, since=began, now=now)
    idle = None
    if answer is not None:
        found = next((one for one in answer.leaks if one.leak is Leak.IDLE), None)
        idle = found.amount if found else None
    return Receipt(
        request=request,
        ended_at=max(one.ended_at or one.last_at for one in launches),
        launches=len(launches),
        actual=answer.cost.total if answer else None,
        provisional=answer.cost.provisional if answer else None,
        is_at_least=bool(answer and answer.cost.provisional_unknown),
        idle=idle,
        accruing=_accruing(unit, request.envelope.job, till.prices, now),
    )


def _answer(
    unit: UnitOfWork,
    request: ApprovalRequest,
    till: Till,
    *,
    since: datetime,
    now: datetime,
) -> LeakAnswer | None:
    question = CostQuestion(
        job=normalise_job(request.envelope.job), since=day_of(since)
    )
    try:
        return ask_leaks(
            unit.ledger, question, prices=till.prices, keys=till.keys, stale=(), now=now
        )
    except (UnknownJobError, NeedsExportError):
        return None


def _accruing(
    unit: UnitOfWork, job: str, prices: PriceBook, now: datetime
) -> Accruing | None:
    """Return what the inventory still sees of a job, and what that costs per hour."""
    held: list[UsageInterval] = [
        one
        for one in unit.ledger.intervals(Period(now, now), job=normalise_job(job))
        if one.ended_at is None
    ]
    if not held:
        return None
    machines = sum(one.kind in MACHINES for one in held)
    return Accruing(
        machines=machines, others=len(held) - machines, rate=burn_of(held, prices)
    )
