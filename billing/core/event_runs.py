"""What events about one instance say of when it ran, beside what polls have seen.

Events name the instants at which billed time begins (``running``) and ends
(``stopping``, ``shutting-down``); polls name the launch and, often, the end. Whatever comes
first, late, or twice, the intervals that are left in the end are the same. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from billing.core.fleet import Instance, InstanceState
from billing.core.fleet_events import FleetEvent, FleetState
from billing.core.seen import instance_interval
from billing.core.usage import EndBasis, UsageInterval

#: AWS takes a spot instance back two minutes after its warning; some take longer to end.
WARNED_WITHIN = timedelta(minutes=10)
_ENDS = frozenset(
    {
        FleetState.STOPPING,
        FleetState.STOPPED,
        FleetState.SHUTTING_DOWN,
        FleetState.TERMINATED,
    }
)
_ORDER = {state: place for place, state in enumerate(FleetState)}
_ALIVE = frozenset({InstanceState.PENDING, InstanceState.RUNNING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One stretch of running as events tell it.

    Attributes:
        started_at / ended_at: None where no event told it.
        ended_by: Latest possible end where none was told; None when it may still run.
        is_reclaimed: True when AWS had warned; None when nobody did.
    """

    started_at: datetime | None
    ended_at: datetime | None = None
    ended_by: datetime | None = None
    is_reclaimed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """What changes in the intervals of one instance.

    Attributes:
        removed: Intervals that were known under another start.
        stored: Intervals as they are now.
    """

    removed: tuple[UsageInterval, ...] = ()
    stored: tuple[UsageInterval, ...] = ()


def runs_of(events: Iterable[FleetEvent]) -> list[Run]:
    """Return the runs that events of one instance tell, in time order."""
    runs: list[Run] = []
    current: Run | None = None
    warned_at: datetime | None = None
    is_ended = False
    for event in sorted(events, key=lambda one: (one.at, _ORDER[one.state])):
        at = event.at
        if event.state is FleetState.INTERRUPTION_WARNING:
            warned_at = at
        elif event.state in _ENDS:
            if current is not None or not is_ended:
                started_at = current.started_at if current else None
                is_warned = warned_at is not None and at - warned_at <= WARNED_WITHIN
                reclaimed = True if is_warned else None
                runs.append(
                    Run(started_at=started_at, ended_at=at, is_reclaimed=reclaimed)
                )
            current, is_ended = None, True
        else:  # Pending or running: whatever ran before has ended, unheard of.
            if current is not None:
                runs.append(replace(current, ended_by=at))
            is_running = event.state is FleetState.RUNNING
            current, is_ended = Run(started_at=at) if is_running else None, False
    return [*runs, current] if current is not None else runs


def refine(
    known: Sequence[UsageInterval],
    events: Iterable[FleetEvent],
    *,
    seen: Instance | None = None,
    seen_at: datetime | None = None,
) -> Refined:
    """Bring the intervals of one instance to what its events say.

    Args:
        known: Every interval of the instance.
        events: Every event about it that was kept.
        seen: The instance as it was described, for one never seen running.
        seen_at: When it was described.
    """
    before = {one.started_at: one for one in known}
    now = dict(before)
    runs = runs_of(events)
    for number, run in enumerate(runs):
        since = runs[number - 1].ended_at if number else None
        match = _match(list(now.values()), run, since)
        if match is not None:
            changed = _told(match, run)
            del now[match.started_at]
            now[changed.started_at] = changed
        elif run.started_at is not None:
            fresh = _fresh(list(now.values()), run, seen=seen, seen_at=seen_at)
            if fresh is not None:
                now[fresh.started_at] = fresh
    removed = [before[at] for at in sorted(before.keys() - now.keys())]
    stored = [now[at] for at in sorted(now) if now[at] != before.get(at)]
    return Refined(removed=tuple(removed), stored=tuple(stored))


def _match(
    known: Sequence[UsageInterval], run: Run, since: datetime | None
) -> UsageInterval | None:
    """Return the known interval that is this run; None when it is not known.

    ``since`` is the end of the run before: an interval from before it is another run.
    """
    instant = run.started_at or run.ended_at
    if instant is None:
        return None
    fitting = [
        one
        for one in known
        if one.started_at <= instant
        and (since is None or since <= one.started_at)
        and _may_run_at(one, instant)
    ]
    return max(fitting, key=lambda one: one.started_at, default=None)


def _may_run_at(interval: UsageInterval, instant: datetime) -> bool:
    if interval.ended_at is None:
        return True
    latest = interval.ended_by or interval.ended_at
    return instant <= latest


def _told(interval: UsageInterval, run: Run) -> UsageInterval:
    """Return a known interval with the bounds that its run was told to have."""
    start = max(interval.started_at, run.started_at or interval.started_at)
    told = replace(interval, started_at=start)
    if told.last_seen_at < start:
        told = replace(told, last_seen_at=start)
    if run.ended_at is not None:
        known = told.is_reclaimed
        return replace(
            told,
            ended_at=max(run.ended_at, start),
            end_basis=EndBasis.EXACT,
            ended_by=None,
            is_reclaimed=run.is_reclaimed if known is None else known,
        )
    if run.ended_by is not None and told.ended_at is None:
        return _bounded(told, run.ended_by)
    if told.ended_at is not None and told.ended_at < start:
        return replace(told, ended_at=start)
    return told


def _fresh(
    known: Sequence[UsageInterval],
    run: Run,
    *,
    seen: Instance | None,
    seen_at: datetime | None,
) -> UsageInterval | None:
    """Return a run that no poll saw, in the shape of its neighbour or of a description."""
    start = run.started_at
    shape = _neighbour(known, start) if start is not None else None
    if shape is None and seen is not None:
        shape = instance_interval(seen, seen.launched_at)
    if shape is None or start is None:
        return None
    fresh = replace(
        shape,
        started_at=start,
        last_seen_at=start,
        ended_at=None,
        end_basis=EndBasis.OPEN,
        ended_by=None,
        is_reclaimed=run.is_reclaimed,
    )
    if run.ended_at is not None:
        return replace(fresh, ended_at=run.ended_at, end_basis=EndBasis.EXACT)
    later = min(
        (one.started_at for one in known if one.started_at > start), default=None
    )
    is_over = seen is not None and seen.state not in _ALIVE
    by = run.ended_by or later or (seen_at if is_over else None)
    return fresh if by is None else _bounded(fresh, by)


def _neighbour(
    known: Sequence[UsageInterval], instant: datetime
) -> UsageInterval | None:
    """Return the interval before an instant, else the first after it."""
    before = [one for one in known if one.started_at <= instant]
    if before:
        return max(before, key=lambda one: one.started_at)
    return min(known, key=lambda one: one.started_at, default=None)


def _bounded(interval: UsageInterval, by: datetime) -> UsageInterval:
    ended_at = max(min(interval.last_seen_at, by), interval.started_at)
    return replace(
        interval,
        ended_at=ended_at,
        end_basis=EndBasis.BOUNDED,
        ended_by=max(by, ended_at),
    )
