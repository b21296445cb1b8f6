"""Who held a resource when."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from billing.core.claims import AttributionRules, Claims, Subject
from billing.core.holdings import segments
from tests.builders import ACCOUNT, REGION, at, make_tag_span, period
from tests.builders_attribution import (
    make_assignment,
    make_claims,
    make_placement,
    make_rule,
)

if TYPE_CHECKING:
    from billing.core.claims import Segment

DAY = period("2026-11-10", "2026-11-11")


def subject(
    resource_id: str = "i-1",
    *,
    shape: str = "p5.48xlarge",
    parent_id: str = "",
    start: str | None = None,
) -> Subject:
    return Subject(
        resource_id=resource_id,
        account=ACCOUNT,
        region=REGION,
        shape=shape,
        parent_id=parent_id,
        started_at=at(start) if start else None,
        usage_type=f"BoxUsage:{shape}",
    )


def told(found: list[Segment]) -> list[tuple[str, object]]:
    """Return the start of each segment and its holders' shares."""
    return [
        (
            f"{one.period.start:%H:%M}",
            {holder.key: holder.share for holder in one.holders},
        )
        for one in found
    ]


def test_placements_split_an_instance_by_the_accelerators_they_hold() -> None:
    claims = make_claims(
        placements=[
            make_placement("job-a", gpus="6", end="2026-11-10T12:00"),
            make_placement("job-b", gpus="2", end="2026-11-11", external_id="2"),
        ]
    )

    found = told(segments(subject(), DAY, claims))

    assert found == [
        ("00:00", {"job-a": Fraction(6, 8), "job-b": Fraction(2, 8)}),
        ("12:00", {"job-b": Fraction(2, 8), "bucket:idle": Fraction(6, 8)}),
    ]


def test_more_claimed_than_there_is_scales_every_claim() -> None:
    claims = make_claims(
        placements=[
            make_placement("job-a", gpus="8", end="2026-11-11"),
            make_placement("job-b", gpus="8", end="2026-11-11", external_id="2"),
            make_placement("job-c", gpus=None, end="2026-11-11", external_id="3"),
        ]
    )

    found = told(segments(subject(), DAY, claims))

    assert found == [
        ("00:00", dict.fromkeys(("job-a", "job-b", "job-c"), Fraction(1, 3)))
    ]


def test_jobs_share_an_instance_without_accelerators_alike() -> None:
    claims = make_claims(
        placements=[
            make_placement("job-a", gpus="0", end="2026-11-11"),
            make_placement("job-b", gpus=None, end="2026-11-11", external_id="2"),
        ]
    )

    found = told(segments(subject(shape="c5.large"), DAY, claims))

    assert found == [("00:00", {"job-a": Fraction(1, 2), "job-b": Fraction(1, 2)})]


def test_a_job_without_accelerators_leaves_them_idle() -> None:
    claims = make_claims(placements=[make_placement(gpus="0", end="2026-11-11")])

    assert told(segments(subject(), DAY, claims)) == [("00:00", {"bucket:idle": 1})]


def test_what_no_placement_claims_is_the_jobs_that_the_tag_names() -> None:
    claims = make_claims(
        placements=[make_placement("job-a", gpus="4", end="2026-11-10T06:00")],
        tags=[make_tag_span(value="Job-T")],
    )

    found = told(segments(subject(), DAY, claims))

    assert found == [
        ("00:00", {"job-a": Fraction(1, 2), "job-t": Fraction(1, 2)}),
        ("06:00", {"job-t": 1}),
    ]


def test_a_new_tag_in_mid_life_splits_at_its_instant() -> None:
    claims = make_claims(
        tags=[
            make_tag_span(value="job-1", end="2026-11-10T10:00"),
            make_tag_span(value="job-2", start="2026-11-10T10:00"),
        ]
    )

    found = told(segments(subject(start="2026-11-01"), DAY, claims))

    assert found == [("00:00", {"job-1": 1}), ("10:00", {"job-2": 1})]


@pytest.mark.parametrize(
    ("minutes", "first"),
    [(59, "job-1"), (60, "job-1"), (61, "")],
    ids=["just-under", "at-limit", "over"],
)
def test_a_tag_soon_after_the_start_counts_from_the_start(
    minutes: int, first: str
) -> None:  # C032
    start = at("2026-11-10T01:00")
    span = make_tag_span(value="job-1", start=start + timedelta(minutes=minutes))

    found = segments(
        subject(start="2026-11-10T01:00"),
        period("2026-11-10T01:00", "2026-11-11"),
        make_claims(tags=[span]),
    )

    assert found[0].holders[0].key == first


def test_a_late_tag_does_not_take_what_an_earlier_tag_had() -> None:
    claims = make_claims(
        tags=[
            make_tag_span(value="job-1", end="2026-11-10T01:10"),
            make_tag_span(value="job-2", start="2026-11-10T01:10"),
        ]
    )

    found = told(
        segments(
            subject(start="2026-11-10T01:00"),
            period("2026-11-10T01:00", "2026-11-11"),
            claims,
        )
    )

    assert found == [("01:00", {"job-1": 1}), ("01:10", {"job-2": 1})]


def test_a_managed_resource_without_a_job_is_idle_not_untagged() -> None:
    found = told(segments(subject(), DAY, make_claims(managed=["i-1"])))

    assert found == [("00:00", {"bucket:idle": 1})]


def test_idle_comes_before_the_cluster_that_a_node_belongs_to() -> None:
    tags = [make_tag_span(key="parallelcluster:cluster-name", value="hpc")]

    managed = told(segments(subject(), DAY, make_claims(tags=tags, managed=["i-1"])))
    plain = told(segments(subject(), DAY, make_claims(tags=tags)))

    assert managed == [("00:00", {"bucket:idle": 1})]
    assert plain == [("00:00", {"parallelcluster:hpc": 1})]


def test_a_volume_follows_its_instance_through_placements() -> None:
    claims = replace(
        make_claims(placements=[make_placement("job-a", end="2026-11-10T12:00")]),
        subjects={"i-1": subject()},
    )

    found = told(segments(subject("vol-1", shape="", parent_id="i-1"), DAY, claims))

    assert found == [("00:00", {"job-a": 1}), ("12:00", {"bucket:idle": 1})]


def test_a_snapshot_follows_its_volume_and_that_its_instance() -> None:
    claims = replace(
        make_claims(tags=[make_tag_span(value="job-1")]),
        subjects={"vol-1": subject("vol-1", shape="", parent_id="i-1")},
    )

    found = told(segments(subject("snap-1", shape="", parent_id="vol-1"), DAY, claims))

    assert found == [("00:00", {"job-1": 1})]


def test_parents_in_a_circle_end() -> None:
    claims = Claims(
        subjects={
            "a": subject("a", parent_id="b"),
            "b": subject("b", parent_id="a"),
        }
    )

    assert told(segments(subject("a", parent_id="b"), DAY, claims)) == [
        ("00:00", {"": 1})
    ]


@pytest.mark.parametrize(
    ("tag", "value", "key"),
    [
        ("aws:autoscaling:groupName", "Trainers", "asg:trainers"),
        ("skypilot-cluster-name", "sky-1", "sky-1"),
        ("aws:batch:job-queue", "q", "batch:q"),
        ("eks:cluster-name", "prod", "eks:prod"),
        ("Name", "node-7", ""),
    ],
)
def test_well_known_tags_name_a_parent(tag: str, value: str, key: str) -> None:
    claims = make_claims(tags=[make_tag_span(key=tag, value=value)])

    assert told(segments(subject(), DAY, claims)) == [("00:00", {key: 1})]


def test_a_kind_of_parent_can_be_left_out() -> None:
    claims = make_claims(
        tags=[make_tag_span(key="aws:autoscaling:groupName", value="trainers")],
        rules=AttributionRules(parents=("eks",)),
    )

    assert told(segments(subject(), DAY, claims)) == [("00:00", {"": 1})]


def test_a_sagemaker_job_is_known_by_its_own_name() -> None:
    arn = "arn:aws:sagemaker:us-east-1:012345678901:training-job/Bert-1"

    assert told(segments(subject(arn), DAY, Claims())) == [("00:00", {"bert-1": 1})]


def test_an_assignment_counts_back_in_time_and_the_newest_word_wins() -> None:
    claims = make_claims(
        assignments=[
            make_assignment("job-x", resource_id="i-1", number=1),
            make_assignment(
                "job-y", resource_id="i-1", number=2, on="2026-11-21",
                since="2026-11-10T12:00",
            ),
            make_assignment("job-z", resource_id="i-9", number=3),
        ]
    )  # fmt: skip

    found = told(segments(subject(), DAY, claims))

    assert found == [("00:00", {"job-x": 1}), ("12:00", {"job-y": 1})]


def test_an_assignment_yields_to_a_tag() -> None:
    claims = make_claims(
        assignments=[make_assignment("job-x", resource_id="i-1")],
        tags=[make_tag_span(value="job-1")],
    )

    assert told(segments(subject(), DAY, claims)) == [("00:00", {"job-1": 1})]


def test_the_first_mapping_rule_that_fits_counts() -> None:
    rules = AttributionRules(
        mapping=(
            make_rule("team:other", account="999999999999"),
            make_rule("team:nlp", region=REGION, usage_type="*BoxUsage:p5.*"),
            make_rule("team:all"),
        )
    )

    p5 = told(segments(subject(), DAY, make_claims(rules=rules)))
    g5 = told(segments(subject(shape="g5.xlarge"), DAY, make_claims(rules=rules)))

    assert (p5, g5) == ([("00:00", {"team:nlp": 1})], [("00:00", {"team:all": 1})])


def test_a_mapping_rule_may_ask_for_a_tag() -> None:
    rules = AttributionRules(
        mapping=(make_rule("team:nlp", tag_key="project", tag_value="Bert"),)
    )
    tags = [make_tag_span(key="Project", value="bert ", start="2026-11-10T06:00")]

    found = told(segments(subject(), DAY, make_claims(rules=rules, tags=tags)))

    assert found == [("00:00", {"": 1}), ("06:00", {"team:nlp": 1})]


def test_a_thousand_short_placements_are_one_pass() -> None:
    start = at("2026-11-10")
    placements = [
        replace(
            make_placement(f"job-{number % 3}", gpus="8", external_id=str(number)),
            started_at=start + number * timedelta(seconds=60),
            ended_at=start + (number + 1) * timedelta(seconds=60),
        )
        for number in range(1440)
    ]

    found = segments(subject(), DAY, make_claims(placements=placements))

    assert len(found) == 1440
    assert {holder.key for one in found for holder in one.holders} == {
        "job-0",
        "job-1",
        "job-2",
    }
