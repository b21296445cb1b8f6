"""Job ids and tags, however people write them."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.attribution import (
    TagKeys,
    belongings,
    choose,
    job_of,
    nearest,
    normalise_job,
    split_by_job,
)
from billing.core.usage import TagSpan
from tests.builders import at, make_tag_span, period

KEYS = TagKeys()
DAY = period("2026-11-10", "2026-11-11")


@pytest.mark.parametrize("tags", [{"Team": "nlp"}, {"team": "NLP "}, {"TEAM": "nlp"}])
def test_one_team_in_three_spellings(tags: dict[str, str]) -> None:  # C028
    assert belongings(tags, KEYS).team == "nlp"


def test_conflicting_spellings_are_reported_and_counted_once() -> None:  # C028
    found = belongings({"Team": "nlp", "team": "cv"}, KEYS)

    assert found.team == "cv"  # the exact spelling comes first
    assert found.conflicts == (("Team", "nlp"),)


def test_same_value_twice_is_no_conflict() -> None:
    assert choose({"JobId": "Job-1", "job_id": " job-1 "}, KEYS.job).conflicts == ()


def test_earlier_alias_wins() -> None:
    found = choose({"job_id": "c", "JobId": "b", "job-id": "a"}, KEYS.job)

    assert (found.value, found.key) == ("a", "job-id")
    assert found.conflicts == (("JobId", "b"), ("job_id", "c"))


def test_empty_value_is_absent_and_the_next_alias_counts() -> None:
    assert job_of({"job-id": "   ", "JobId": "Job-7"}, KEYS) == "job-7"


@pytest.mark.parametrize("key", ["user:job-id", "user_job_id", "USER:JOBID"])
def test_keys_as_cost_reports_write_them(key: str) -> None:
    assert job_of({key: "job-7"}, KEYS) == "job-7"


@pytest.mark.parametrize("key", ["aws:job-id", "my-job-id", "job id", "user_id"])
def test_keys_that_only_look_alike_do_not_count(key: str) -> None:
    assert job_of({key: "job-7"}, KEYS) == ""


def test_owner_keeps_its_case() -> None:
    found = belongings({"owner": " Ana@example.com ", "Env": "Prod"}, KEYS)

    assert (found.owner, found.environment) == ("Ana@example.com", "prod")


def test_nobody_is_the_empty_text() -> None:
    found = belongings({}, KEYS)

    assert (found.job, found.team, found.owner, found.environment) == ("",) * 4


def test_untagged_time_is_a_part_of_its_own() -> None:
    spans = [
        make_tag_span(value="a", start="2026-11-10T06:00Z", end="2026-11-10T12:00Z")
    ]

    assert split_by_job(DAY, spans, KEYS) == [
        ("", period("2026-11-10", "2026-11-10T06:00Z")),
        ("a", period("2026-11-10T06:00Z", "2026-11-10T12:00Z")),
        ("", period("2026-11-10T12:00Z", "2026-11-11")),
    ]


def test_other_tags_do_not_split() -> None:
    spans = [
        make_tag_span(value="a"),
        make_tag_span(key="Name", value="x", end="2026-11-10T06:00Z"),
        make_tag_span(key="Name", value="y", start="2026-11-10T06:00Z"),
    ]

    assert split_by_job(DAY, spans, KEYS) == [("a", DAY)]


def test_respelling_of_the_same_job_does_not_split() -> None:
    spans = [
        make_tag_span(value="Job-A", end="2026-11-10T06:00Z"),
        make_tag_span(value="job-a ", start="2026-11-10T06:00Z"),
    ]

    assert split_by_job(DAY, spans, KEYS) == [("job-a", DAY)]


def test_own_job_comes_before_the_parents() -> None:
    own = [make_tag_span(resource_id="vol-1", value="b", start="2026-11-10T06:00Z")]
    parent = [make_tag_span(value="a")]

    assert split_by_job(DAY, own, KEYS, parent=parent) == [
        ("a", period("2026-11-10", "2026-11-10T06:00Z")),
        ("b", period("2026-11-10T06:00Z", "2026-11-11")),
    ]


moments = st.integers(min_value=-5, max_value=29).map(
    lambda hour: at("2026-11-10") + timedelta(hours=hour)
)


@st.composite
def tag_spans(draw: st.DrawFn) -> TagSpan:
    start: datetime = draw(moments)
    length = draw(st.none() | st.integers(min_value=0, max_value=10))
    return make_tag_span(
        key=draw(st.sampled_from(["job-id", "JobId", "team"])),
        value=draw(st.sampled_from(["a", "b", " "])),
        start=start,
        end=None if length is None else start + timedelta(hours=length),
    )


@given(st.lists(tag_spans(), max_size=6), st.lists(tag_spans(), max_size=3))
def test_parts_cover_the_period_once_and_in_order(
    spans: list[TagSpan], parent: list[TagSpan]
) -> None:
    parts = split_by_job(DAY, spans, KEYS, parent=parent)

    assert parts[0][1].start == DAY.start
    assert parts[-1][1].end == DAY.end
    for (job, part), (next_job, next_part) in pairwise(parts):
        assert part.end == next_part.start
        assert job != next_job
    assert all(part.start < part.end for _, part in parts)
    assert parts == split_by_job(DAY, spans[::-1], KEYS, parent=parent[::-1]) or any(
        one.valid_from == two.valid_from and one.key == two.key
        for one in (*spans, *parent)
        for two in (*spans, *parent)
        if one is not two
    )


@given(st.text(max_size=30))
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise_job(normalise_job(text)) == normalise_job(text)


def test_nearest_names_come_best_first() -> None:
    names = ["job-123", "job-124", "llama-70b", "bert"]

    assert nearest("jbo-123", names)[0] == "job-123"
    assert nearest("LLAMA70b", names) == ("llama-70b",)
    assert nearest("zzzz", names) == ()
