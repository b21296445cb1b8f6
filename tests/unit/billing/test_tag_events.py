"""Tags from events: the instant AWS names, whatever a poll saw later."""

from __future__ import annotations

from billing.core.fleet_events import TagEvent
from billing.core.tag_events import tags_told
from billing.core.usage import TagSpan
from tests.builders import ACCOUNT, REGION, at


def event(when: str, value: str | None, key: str = "job-id") -> TagEvent:
    return TagEvent(
        resource_id="i-1",
        account=ACCOUNT,
        region=REGION,
        at=at(when),
        tags={} if value is None else {key: value},
        changed=frozenset({key}),
    )


def span(value: str, start: str, end: str | None = None) -> TagSpan:
    return TagSpan(
        resource_id="i-1",
        key="job-id",
        value=value,
        valid_from=at(start),
        valid_to=None if end is None else at(end),
    )


OLD = span("job-a", "2026-11-30T00:00Z")


def test_a_new_value_ends_the_old_one_at_the_instant_of_the_event() -> None:
    told = tags_told([OLD], event("2026-11-30T08:00Z", "job-b"))

    assert told.closed == ((OLD, at("2026-11-30T08:00Z")),)
    assert told.opened == (span("job-b", "2026-11-30T08:00Z"),)


def test_a_change_that_a_poll_saw_first_moves_back_to_the_event() -> None:
    before = span("job-a", "2026-11-30T00:00Z", "2026-11-30T08:05Z")
    seen = span("job-b", "2026-11-30T08:05Z")

    told = tags_told([before, seen], event("2026-11-30T08:01Z", "job-b"))

    assert told.closed == ((before, at("2026-11-30T08:01Z")),)
    assert told.removed == (seen,)
    assert told.opened == (span("job-b", "2026-11-30T08:01Z"),)


def test_a_tag_that_was_taken_away_ends() -> None:
    told = tags_told([OLD], event("2026-11-30T08:00Z", None))

    assert told.closed == ((OLD, at("2026-11-30T08:00Z")),)
    assert told.opened == ()


def test_what_holds_already_changes_nothing() -> None:
    told = tags_told([OLD], event("2026-11-30T08:00Z", "job-a"))

    assert (told.removed, told.closed, told.opened) == ((), (), ())


def test_an_event_that_comes_late_fills_only_its_own_time() -> None:
    before = span("job-a", "2026-11-30T00:00Z", "2026-11-30T09:00Z")
    later = span("job-c", "2026-11-30T09:00Z")

    told = tags_told([before, later], event("2026-11-30T08:00Z", "job-b"))

    assert told.opened == (span("job-b", "2026-11-30T08:00Z", "2026-11-30T09:00Z"),)
    assert told.removed == ()


def test_a_first_tag_begins_with_its_event() -> None:
    told = tags_told([], event("2026-11-30T08:00Z", "job-a"))

    assert told.opened == (span("job-a", "2026-11-30T08:00Z"),)


def test_the_same_event_twice_is_one() -> None:
    told = tags_told(
        [span("job-b", "2026-11-30T08:00Z")], event("2026-11-30T08:00Z", "job-b")
    )

    assert told.opened == ()
