"""What a digest says besides cost, out of one snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from billing.core.attribution import TagKeys
from billing.core.estimate_history import PastEstimate, score
from billing.core.fleet import Lifecycle
from billing.core.leaks import LeakFound
from billing.core.money import Money
from billing.core.periods import Period, start_of
from billing.core.usage import UsageInterval
from billing.ports import BillLedger
from bot.ports import UnitOfWork
from bot.use_cases.digest import DigestScope
from bot.use_cases.held_now import burn_of
from bot.use_cases.leaks_of_many import ask_leaks_of_many
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import PriceBook
from bot.views.digest_values import DigestExtras, Saved
from policies.core.actions import Action, ActionState
from policies.core.waivers import Waiver, WaiverState

#: Nobody knows how long a machine would have gone on: a day is all that counts.
SAVED_MAX = timedelta(hours=24)
#: An action is planned at most this long before it is done.
_PLANNED_BEFORE = timedelta(days=8)
_ACTIONS_MAX = 2_000
#: Capacity that is paid for whether it runs or not saves nothing by being stopped.
_UNCOVERED = frozenset({Lifecycle.ON_DEMAND, Lifecycle.SPOT})


def digest_extras(
    unit: UnitOfWork,
    scope: DigestScope,
    *,
    past: Sequence[PastEstimate],
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> DigestExtras:
    """Gather what a digest says besides cost."""
    span = Period(start_of(scope.since), start_of(scope.until))
    said = unit.alerts.feedback(span.start, span.end)
    jobs = _jobs_of(unit.ledger, scope.team)
    question = CostQuestion(team=scope.team, since=scope.since, until=scope.until)
    leaks = ask_leaks_of_many(
        unit.ledger, question, prices=prices, keys=keys, stale=(), now=now
    ).leaks
    return DigestExtras(
        leaks=_dearest(leaks),
        leaks_missing=sum(1 for one in leaks if one.missing),
        waivers=_in_force(unit.journal.waivers(since=now), jobs),
        denied=sum(1 for one in said if jobs is None or one.job in jobs),
        saved=saved_by_actions(unit, span, prices=prices, jobs=jobs, now=now),
        score=None if scope.team else score(past),
    )


def _jobs_of(ledger: BillLedger, team: str) -> frozenset[str] | None:
    """Return a team's jobs; None for everything."""
    if not team:
        return None
    return frozenset(one.job for one in ledger.job_records() if one.team == team)


def _dearest(leaks: Iterable[LeakFound]) -> tuple[LeakFound, ...]:
    known = [one for one in leaks if one.amount is not None and one.amount.nanos > 0]
    return tuple(
        sorted(known, key=lambda one: -(one.amount.nanos if one.amount else 0))
    )


def _in_force(
    waivers: Iterable[Waiver], jobs: frozenset[str] | None
) -> tuple[Waiver, ...]:
    return tuple(
        one
        for one in waivers
        if one.state is WaiverState.GRANTED and (jobs is None or one.subject in jobs)
    )


def saved_by_actions(
    unit: UnitOfWork,
    span: Period,
    *,
    prices: PriceBook,
    jobs: frozenset[str] | None,
    now: datetime,
) -> Saved:
    """Estimate what stopped machines would have cost until they came back, or a day.

    Machines on committed capacity count nothing, nor does what somebody called Not idle.
    """
    planned = unit.journal.recent_actions(span.start - _PLANNED_BEFORE, _ACTIONS_MAX)
    done = [
        one
        for one in planned
        if one.state is ActionState.DONE
        and one.ended_at is not None
        and one.ended_at in span
        and (jobs is None or one.job in jobs)
    ]
    denials = unit.alerts.feedback(span.start - _PLANNED_BEFORE, now + SAVED_MAX)
    denied = {(one.fingerprint, one.opened_at) for one in denials}
    amount, unpriced, refused = Money.zero(prices.currency), 0, 0
    for action in done:
        if (action.fingerprint, action.opened_at) in denied:
            refused += 1
            continue
        found = _spared(unit.ledger, action, prices, now)
        if found is None:
            unpriced += 1
        else:
            amount += found
    return Saved(amount=amount, actions=len(done), denied=refused, unpriced=unpriced)


def _spared(
    ledger: BillLedger, action: Action, prices: PriceBook, now: datetime
) -> Money | None:
    """Return what one action spared; None when a price is unknown."""
    assert action.ended_at is not None
    at, until = action.ended_at, min(action.ended_at + SAVED_MAX, now)
    if until <= at:
        return Money.zero(prices.currency)
    near = ledger.intervals(Period(at - SAVED_MAX, until))
    stopped = _last_runs(near, action, at)
    uncovered = [
        one
        for one in stopped.values()
        if one.lifecycle in _UNCOVERED and not one.reservation_id
    ]
    total = Money.zero(prices.currency)
    for run in uncovered:
        rate = burn_of([run], prices)
        if rate is None:
            return None
        back = [
            one.started_at
            for one in near
            if one.resource_id == run.resource_id and one.started_at >= at
        ]
        total += rate.cost_of(min([until, *back]) - at)
    return total if len(stopped) == len(action.targets) else None


def _last_runs(
    near: Sequence[UsageInterval], action: Action, at: datetime
) -> Mapping[str, UsageInterval]:
    """Return the run of each target that the action ended."""
    wanted = {one.resource_id for one in action.targets}
    found: dict[str, UsageInterval] = {}
    for one in sorted(near, key=lambda each: each.started_at):
        if one.resource_id in wanted and one.started_at < at:
            found[one.resource_id] = one
    return found
