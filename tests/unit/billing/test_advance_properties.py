"""Intervals and tags over any sequence of polls."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from billing.core.advance import Changes
from billing.core.fleet import Instance, InstanceState
from tests.builders import (
    at,
    make_instance,
    make_observation,
)
from tests.fakes.history import History

STOPPED = InstanceState.STOPPED
TERMINATED = InstanceState.TERMINATED


states = st.sampled_from(
    [InstanceState.PENDING, InstanceState.RUNNING, STOPPED, TERMINATED]
)
minutes = st.integers(min_value=0, max_value=300)


@st.composite
def fleets(draw: st.DrawFn) -> list[Instance]:
    """Draw a few instances in any state, some repeated by a shifting page."""
    found = []
    for number in range(draw(st.integers(min_value=0, max_value=5))):
        launched = at("2026-11-30T00:00Z") + timedelta(minutes=draw(minutes))
        ended = launched + timedelta(minutes=draw(minutes))
        instance = make_instance(
            resource_id=f"i-{number % 4}",
            state=draw(states),
            launched=launched,
            ended=ended if draw(st.booleans()) else None,
            tags={"job-id": draw(st.sampled_from(["a", "b"]))},
        )
        found += [instance] * draw(st.integers(min_value=1, max_value=2))
    return found


@settings(max_examples=80)
@given(st.lists(fleets(), min_size=1, max_size=4), st.randoms())
def test_order_within_a_poll_and_repeated_polls_do_not_matter(
    polls: list[list[Instance]], random: object
) -> None:
    once, again = History(), History()

    for number, fleet in enumerate(polls):
        observed = at("2026-11-30T06:00Z") + timedelta(minutes=5 * number)
        shuffled = list(fleet)
        random.shuffle(shuffled)  # type: ignore[attr-defined]
        once.see(make_observation(*fleet, observed=observed))
        again.see(make_observation(*shuffled, observed=observed))
        assert again.see(make_observation(*shuffled, observed=observed)) == Changes()

    assert once.intervals == again.intervals
    assert once.tags == again.tags


@settings(max_examples=80)
@given(st.lists(fleets(), min_size=1, max_size=4))
def test_intervals_of_a_resource_never_overlap_and_one_is_open(
    polls: list[list[Instance]],
) -> None:
    history = History()

    for number, fleet in enumerate(polls):
        observed = at("2026-11-30T06:00Z") + timedelta(minutes=5 * number)
        history.see(make_observation(*fleet, observed=observed))

    for resource_id in {key[0] for key in history.intervals}:
        found = history.of(resource_id)
        assert all(one.ended_at is not None for one in found[:-1])
        assert all(
            one.ended_at is None or one.ended_at >= one.started_at for one in found
        )
