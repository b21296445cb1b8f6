"""Running intervals from events: any order, twice, late, between polls."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from billing.core.event_runs import refine, runs_of
from billing.core.fleet import FleetObservation, InstanceState, Lifecycle
from billing.core.fleet_events import FleetEvent, FleetState
from billing.core.usage import EndBasis
from tests.builders import ACCOUNT, REGION, at, make_instance, make_observation
from tests.fakes.history import History

MINUTE = timedelta(minutes=1)


def event(state: FleetState, when: str | datetime, name: str = "i-1") -> FleetEvent:
    return FleetEvent(
        resource_id=name,
        account=ACCOUNT,
        region=REGION,
        state=state,
        at=at(when) if isinstance(when, str) else when,
    )


def test_an_instance_that_lived_between_two_polls_has_an_exact_interval() -> None:
    described = make_instance(
        launched="2026-11-30T08:01Z", state=InstanceState.TERMINATED, ended=None
    )
    events = [
        event(FleetState.RUNNING, "2026-11-30T08:02Z"),
        event(FleetState.SHUTTING_DOWN, "2026-11-30T08:04Z"),
    ]

    (found,) = refine(
        [], events, seen=described, seen_at=at("2026-11-30T08:05Z")
    ).stored

    assert (found.started_at, found.ended_at) == (
        at("2026-11-30T08:02Z"),
        at("2026-11-30T08:04Z"),
    )
    assert found.end_basis is EndBasis.EXACT


def test_an_instance_that_nothing_described_is_not_guessed() -> None:
    events = [event(FleetState.RUNNING, "2026-11-30T08:02Z")]

    assert refine([], events).stored == ()


def test_time_before_running_is_not_counted() -> None:
    history = History()
    history.see(make_observation(make_instance(launched="2026-11-30T08:00Z")))

    history.hear(event(FleetState.RUNNING, "2026-11-30T08:03Z"))

    (found,) = history.of("i-1")
    assert found.started_at == at("2026-11-30T08:03Z")
    assert found.ended_at is None


def test_a_warned_end_in_the_first_hour_was_reclaimed() -> None:
    spot = make_instance(launched="2026-11-30T08:00Z", lifecycle=Lifecycle.SPOT)
    history = History()
    history.see(make_observation(spot, observed="2026-11-30T08:05Z"))

    history.hear(
        event(FleetState.SHUTTING_DOWN, "2026-11-30T08:30Z"),
        event(FleetState.INTERRUPTION_WARNING, "2026-11-30T08:28Z"),
    )

    (found,) = history.of("i-1")
    assert (found.ended_at, found.is_reclaimed) == (at("2026-11-30T08:30Z"), True)


def test_a_poll_may_still_tell_who_ended_it() -> None:
    history = History()
    history.see(make_observation(make_instance(launched="2026-11-30T08:00Z")))
    history.hear(event(FleetState.SHUTTING_DOWN, "2026-11-30T09:30Z"))

    gone = make_instance(
        launched="2026-11-30T08:00Z", state=InstanceState.TERMINATED, is_reclaimed=True
    )
    history.see(make_observation(gone, observed="2026-11-30T09:35Z"))

    (found,) = history.of("i-1")
    assert (found.ended_at, found.is_reclaimed) == (at("2026-11-30T09:30Z"), True)


def test_a_poll_from_before_an_event_does_not_undo_it() -> None:
    history = History()
    running = make_instance(launched="2026-11-30T08:00Z")
    history.see(make_observation(running, observed="2026-11-30T08:05Z"))
    history.hear(
        event(FleetState.STOPPING, "2026-11-30T08:07Z"),
        event(FleetState.RUNNING, "2026-11-30T08:12Z"),
    )

    history.see(make_observation(running, observed="2026-11-30T08:10Z"))

    assert [(one.started_at, one.ended_at) for one in history.of("i-1")] == [
        (at("2026-11-30T08:00Z"), at("2026-11-30T08:07Z")),
        (at("2026-11-30T08:12Z"), None),
    ]


def test_a_lost_end_is_bounded_by_the_next_start() -> None:
    runs = runs_of(
        [
            event(FleetState.RUNNING, "2026-11-30T08:00Z"),
            event(FleetState.PENDING, "2026-11-30T09:00Z"),
            event(FleetState.RUNNING, "2026-11-30T09:01Z"),
        ]
    )

    assert [(run.ended_at, run.ended_by) for run in runs] == [
        (None, at("2026-11-30T09:00Z")),
        (None, None),
    ]


def test_stopped_after_stopping_is_one_end() -> None:
    (run,) = runs_of(
        [
            event(FleetState.STOPPED, "2026-11-30T08:31Z"),
            event(FleetState.RUNNING, "2026-11-30T08:00Z"),
            event(FleetState.STOPPING, "2026-11-30T08:30Z"),
        ]
    )

    assert run.ended_at == at("2026-11-30T08:30Z")


# A true life: minutes of (pending, running, stopped) for each run.
lives = st.lists(
    st.tuples(st.integers(1, 5), st.integers(2, 60), st.integers(2, 60)),
    min_size=1,
    max_size=4,
)


@given(life=lives, minutes=st.sets(st.integers(0, 400), max_size=8), data=st.data())
def test_events_in_any_order_between_any_polls_end_in_the_true_intervals(
    life: list[tuple[int, int, int]], minutes: set[int], data: st.DataObject
) -> None:
    start = at("2026-11-30T00:00Z")
    phases = _phases(start, life)
    last = phases[-1][2] + MINUTE
    polls = sorted({min(start + minute * MINUTE, last) for minute in minutes})
    steps: list[FleetObservation | FleetEvent] = [
        _look(one, phases, names_end=data.draw(st.booleans())) for one in polls
    ]
    events = _events(phases)
    for one in data.draw(st.permutations([*events, *events[:3]])):
        steps.insert(data.draw(st.integers(0, len(steps))), one)
    history = History()

    for step in steps:
        if isinstance(step, FleetEvent):
            history.hear(step)
        else:
            history.see(step)
    history.see(_look(last, phases, names_end=False))

    assert [(one.started_at, one.ended_at) for one in history.of("i-1")] == [
        (began, ended) for _, began, ended in phases
    ]


def _phases(
    start: datetime, life: list[tuple[int, int, int]]
) -> list[tuple[datetime, datetime, datetime]]:
    """Return when each run was launched, began to run and was stopped."""
    phases = []
    for pending, running, stopped in life:
        began = start + pending * MINUTE
        ended = began + running * MINUTE
        phases.append((start, began, ended))
        start = ended + stopped * MINUTE
    return phases


def _events(phases: list[tuple[datetime, datetime, datetime]]) -> list[FleetEvent]:
    return [
        event(state, when)
        for launched, began, ended in phases
        for state, when in (
            (FleetState.PENDING, launched),
            (FleetState.RUNNING, began),
            (FleetState.STOPPING, ended),
            (FleetState.STOPPED, ended + MINUTE),
        )
    ]


def _look(
    instant: datetime,
    phases: list[tuple[datetime, datetime, datetime]],
    *,
    names_end: bool,
) -> FleetObservation:
    launched, began, ended = max(one for one in phases if one[0] <= instant)
    state = InstanceState.PENDING
    if instant >= began:
        state = InstanceState.RUNNING if instant < ended else InstanceState.STOPPED
    is_named = names_end and instant >= ended
    seen = make_instance(
        launched=launched, state=state, ended=ended if is_named else None
    )
    return make_observation(seen, observed=instant)
