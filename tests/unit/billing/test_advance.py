"""Observations become intervals and tag history."""

from __future__ import annotations

from dataclasses import replace

import pytest

from billing.core.advance import Changes, advance
from billing.core.fleet import InstanceState, Lifecycle
from billing.core.usage import EndBasis
from tests.builders import (
    ACCOUNT,
    at,
    make_instance,
    make_interval,
    make_observation,
    make_tag_span,
    make_volume,
    make_volume_interval,
)
from tests.fakes.history import History

STOPPED = InstanceState.STOPPED
TERMINATED = InstanceState.TERMINATED


def test_running_instance_opens_an_interval_at_its_launch() -> None:
    instance = make_instance(launched="2026-11-30T08:00:13Z")

    changes = advance([], [], make_observation(instance, observed="2026-11-30T09:00Z"))

    (interval,) = changes.opened
    assert interval.started_at == at("2026-11-30T08:00:13Z")
    assert interval.ended_at is None
    assert interval.last_seen_at == at("2026-11-30T09:00Z")
    assert interval.shape == "p5.48xlarge"


def test_pending_time_is_free() -> None:
    instance = make_instance(state=InstanceState.PENDING)

    assert advance([], [], make_observation(instance)).opened == ()


def test_pending_ends_no_interval_of_the_same_launch() -> None:
    known = make_interval(start="2026-11-30T08:00Z", last_seen="2026-11-30T08:30Z")
    pending = make_instance(
        state=InstanceState.PENDING, launched="2026-11-30T08:00Z", tags={}
    )

    assert advance([known], [], make_observation(pending)) == Changes()


def test_running_again_only_extends() -> None:
    interval = make_interval(start="2026-11-30T00:00Z", last_seen="2026-11-30T08:55Z")

    changes = advance([interval], [], make_observation(make_instance(tags={})))

    assert changes == Changes(
        extended=(replace(interval, last_seen_at=at("2026-11-30T09:00Z")),)
    )


def test_restart_between_polls_opens_a_second_interval() -> None:
    # LaunchTime resets at each start; nobody knows when the first run ended.
    interval = make_interval(start="2026-11-30T00:00Z", last_seen="2026-11-30T08:00Z")
    restarted = make_instance(launched="2026-11-30T08:30Z", tags={})

    changes = advance([interval], [], make_observation(restarted))

    (ended,) = changes.ended
    assert ended.end_basis is EndBasis.BOUNDED
    assert ended.ended_at == at("2026-11-30T08:00Z")
    assert ended.ended_by == at("2026-11-30T08:30Z")
    assert [opened.started_at for opened in changes.opened] == [at("2026-11-30T08:30Z")]


def test_stop_time_named_by_aws_ends_exactly() -> None:  # C147
    interval = make_interval(start="2026-03-01T09:00Z", last_seen="2026-03-01T10:00Z")
    stopped = make_instance(
        state=STOPPED, launched="2026-03-01T09:00Z", ended="2026-03-01T10:05Z", tags={}
    )

    changes = advance([interval], [], make_observation(stopped, observed="2026-03-02"))

    (ended,) = changes.ended
    assert ended.ended_at == at("2026-03-01T10:05Z")
    assert ended.end_basis is EndBasis.EXACT
    assert ended.ended_by is None


def test_stop_without_a_time_is_bounded_by_the_polls() -> None:  # C147
    interval = make_interval(start="2026-03-01T09:00Z", last_seen="2026-03-01T10:00Z")
    stopped = make_instance(state=STOPPED, launched="2026-03-01T09:00Z", tags={})

    changes = advance([interval], [], make_observation(stopped, observed="2026-03-02"))

    (ended,) = changes.ended
    assert ended.ended_at == at("2026-03-01T10:00Z")
    assert ended.ended_by == at("2026-03-02")
    assert ended.end_basis is EndBasis.BOUNDED


def test_transition_before_the_start_is_not_its_end() -> None:
    interval = make_interval(start="2026-11-30T08:00Z", last_seen="2026-11-30T08:30Z")
    stopped = make_instance(
        state=STOPPED, launched="2026-11-30T08:00Z", ended="2026-11-29T08:00Z", tags={}
    )

    (ended,) = advance([interval], [], make_observation(stopped)).ended

    assert ended.end_basis is EndBasis.BOUNDED


def test_exact_time_that_comes_later_corrects_a_bound() -> None:
    interval = make_interval(
        start="2026-11-30T00:00Z",
        end="2026-11-30T08:00Z",
        end_basis=EndBasis.BOUNDED,
        ended_by="2026-11-30T08:05Z",
    )
    gone = make_instance(state=TERMINATED, ended="2026-11-30T08:03Z", tags={})

    (ended,) = advance([interval], [], make_observation(gone)).ended

    assert (ended.ended_at, ended.end_basis) == (
        at("2026-11-30T08:03Z"),
        EndBasis.EXACT,
    )


def test_absence_in_a_read_scope_ends_between_the_polls() -> None:  # C150
    first = make_interval(start="2026-11-30T08:00Z", last_seen="2026-11-30T12:00Z")
    replacement = make_instance(
        resource_id="i-2", launched="2026-11-30T12:40Z", tags={}
    )
    poll = make_observation(replacement, observed="2026-11-30T13:00Z")

    changes = advance([first], [], poll)

    (ended,) = changes.ended
    assert ended.ended_at == at("2026-11-30T12:00Z")
    assert ended.ended_by == at("2026-11-30T13:00Z")
    assert [opened.resource_id for opened in changes.opened] == ["i-2"]


def test_failed_scope_changes_nothing() -> None:  # C070
    known = make_interval(resource_id="i-9", region="eu-north-1")
    span = make_tag_span(resource_id="i-9")
    poll = make_observation(failed=[(ACCOUNT, "eu-north-1")])

    assert advance([known], [span], poll) == Changes()


def test_instance_that_came_and_went_between_polls_is_recorded() -> None:  # C068
    gone = make_instance(
        state=TERMINATED,
        launched="2026-11-30T08:40Z",
        ended="2026-11-30T08:48Z",
        tags={},
    )

    (interval,) = advance([], [], make_observation(gone)).opened

    assert interval.started_at == at("2026-11-30T08:40Z")
    assert interval.ended_at == at("2026-11-30T08:48Z")
    assert interval.end_basis is EndBasis.EXACT


def test_lingering_terminated_instance_is_recorded_once() -> None:  # C068
    history = History()
    gone = make_instance(
        state=TERMINATED, launched="2026-11-30T08:40Z", ended="2026-11-30T08:48Z"
    )
    history.see(make_observation(gone, observed="2026-11-30T09:00Z"))

    changes = history.see(make_observation(gone, observed="2026-11-30T09:05Z"))

    assert changes == Changes()


def test_launch_that_failed_leaves_no_interval() -> None:
    failed = make_instance(
        state=TERMINATED, transition_reason="Server.InsufficientInstanceCapacity"
    )

    assert advance([], [], make_observation(failed)).opened == ()


def test_reclaimed_spot_is_flagged_even_when_never_seen_running() -> None:
    reclaimed = make_instance(
        state=TERMINATED, lifecycle=Lifecycle.SPOT, is_reclaimed=True
    )

    (interval,) = advance([], [], make_observation(reclaimed)).opened

    assert interval.is_reclaimed is True
    assert interval.end_basis is EndBasis.BOUNDED


def test_reappearing_instance_goes_on_as_if_never_gone() -> None:
    # DescribeInstances is eventually consistent: one page can miss an instance.
    history = History()
    instance = make_instance()
    history.see(make_observation(instance, observed="2026-11-30T08:00Z"))
    history.see(make_observation(observed="2026-11-30T08:05Z"))

    history.see(make_observation(instance, observed="2026-11-30T08:10Z"))

    (interval,) = history.of("i-1")
    assert interval.ended_at is None
    assert interval.end_basis is EndBasis.OPEN


def test_type_changed_while_stopped_is_two_shapes() -> None:
    history = History()
    small = make_instance(instance_type="g5.xlarge", launched="2026-11-30T00:00Z")
    large = make_instance(instance_type="g5.48xlarge", launched="2026-11-30T08:30Z")
    history.see(make_observation(small, observed="2026-11-30T08:00Z"))

    history.see(make_observation(large, observed="2026-11-30T09:00Z"))

    assert [found.shape for found in history.of("i-1")] == ["g5.xlarge", "g5.48xlarge"]


def test_resized_volume_changes_shape_without_gap_or_overlap() -> None:
    history = History()
    volume = make_volume(size_gib=100, created="2026-11-30T00:00Z")
    history.see(make_observation(volumes=[volume], observed="2026-11-30T08:00Z"))

    larger = replace(volume, size_gib=400)
    history.see(make_observation(volumes=[larger], observed="2026-11-30T09:00Z"))

    first, second = history.of("vol-1")
    assert (first.size_gib, second.size_gib) == (100, 400)
    assert first.ended_at == second.started_at == at("2026-11-30T08:00Z")
    assert first.ended_by == at("2026-11-30T09:00Z")
    assert second.ended_at is None


def test_volume_knows_the_instance_it_is_attached_to() -> None:
    volume = make_volume(attached_to="i-1")

    (interval,) = advance([], [], make_observation(volumes=[volume])).opened

    assert interval.parent_id == "i-1"


@pytest.mark.parametrize("volumes", [[], [make_volume(state="deleting")]])
def test_volume_that_goes_away_ends(volumes: list[object]) -> None:
    known = make_volume_interval(start="2026-11-30T00:00Z")

    changes = advance([known], [], make_observation(volumes=volumes))  # type: ignore[arg-type]

    assert [ended.end_basis for ended in changes.ended] == [EndBasis.BOUNDED]


def test_tags_that_come_late_count_from_the_launch() -> None:  # C032
    history = History()
    bare = make_instance(launched="2026-11-30T12:00Z", tags={})
    tagged = make_instance(launched="2026-11-30T12:00Z", tags={"team": "nlp"})
    history.see(make_observation(bare, observed="2026-11-30T12:00:30Z"))

    changes = history.see(make_observation(tagged, observed="2026-11-30T12:02Z"))

    assert [span.valid_from for span in changes.tags_opened] == [
        at("2026-11-30T12:00Z")
    ]


def test_tag_added_long_after_the_launch_counts_from_the_poll() -> None:
    history = History()
    bare = make_instance(launched="2026-11-30T00:00Z", tags={})
    history.see(make_observation(bare, observed="2026-11-30T08:00Z"))

    tagged = replace(bare, tags={"job-id": "job-123"})
    changes = history.see(make_observation(tagged, observed="2026-11-30T09:00Z"))

    assert [span.valid_from for span in changes.tags_opened] == [
        at("2026-11-30T09:00Z")
    ]


def test_resource_never_seen_before_held_its_tags_since_its_launch() -> None:
    instance = make_instance(launched="2026-11-02T00:00Z")

    changes = advance([], [], make_observation(instance))

    assert [span.valid_from for span in changes.tags_opened] == [at("2026-11-02")]


def test_retagging_closes_one_span_and_opens_another() -> None:
    known = make_interval(start="2026-11-30T08:30Z")
    span = make_tag_span(value="job-a", start="2026-11-30T08:30Z")
    instance = make_instance(launched="2026-11-30T08:30Z", tags={"job-id": "job-b"})

    changes = advance([known], [span], make_observation(instance))

    assert changes.tags_closed == (replace(span, valid_to=at("2026-11-30T09:00Z")),)
    assert [(new.value, new.valid_from) for new in changes.tags_opened] == [
        ("job-b", at("2026-11-30T09:00Z"))
    ]


def test_older_observation_than_applied_is_ignored() -> None:
    known = make_interval(start="2026-11-30T00:00Z", last_seen="2026-11-30T09:00Z")
    older = make_observation(observed="2026-11-30T08:00Z")

    assert advance([known], [], older) == Changes()
    assert advance([], [], older, applied_at=at("2026-11-30T08:30Z")) == Changes()
