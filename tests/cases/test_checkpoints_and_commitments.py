"""Checkpoints as S3 lists them and coverage as Cost Explorer tells it, judged."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from deploy.sandbox.aws.world import CommitmentDay, ObjectSeed
from tests.contract.sources.aws import NOW

if TYPE_CHECKING:
    from tests.cases.place import Place

KEEP = """
- name: keep
  kind: checkpoint-retention
  location: "s3://models/{{job}}/ckpt/step-{{step}}/"
  keep: {keep}
"""
COVERAGE = """
- name: p5-coverage
  kind: commitment-coverage
  family: p5
  target: 60%..70%
"""
NO_USAGE = "n/a - no eligible usage in the last 30d"


def saved(
    job: str, step: int, *, days: float, shards: int = 1, size: int = 1000
) -> list[ObjectSeed]:
    written = NOW - timedelta(days=days)
    return [
        ObjectSeed(
            bucket="models",
            key=f"{job}/ckpt/step-{step}/{shard}.pt",
            modified_at=written,
            size=size,
        )
        for shard in range(shards)
    ]


def marker(key: str) -> ObjectSeed:
    return ObjectSeed(
        bucket="models", key=key, modified_at=NOW - timedelta(days=20), text=""
    )


def could_go(place: Place, keep: str) -> dict[str, str]:
    """Return the first sentence about each job whose checkpoints could go."""
    found = place.plan(KEEP.format(keep=keep)).findings
    return {one.job: one.explanation[0] for one in found}


def test_only_what_nothing_needs_is_proposed_to_go(place: Place) -> None:
    place.aws.serve(
        objects=[
            # C072: numbers, not text
            *saved("llm", 800, days=9),
            *saved("llm", 900, days=8),
            *saved("llm", 1000, days=7),
            # C075: Tuesday's run begins again at a low step
            *saved("again", 2000, days=9),
            *saved("again", 4000, days=8),
            *saved("again", 500, days=7),
            # C076: the newest is being written
            *saved("busy", 1800, days=3, shards=8),
            *saved("busy", 1900, days=2, shards=8),
            *saved("busy", 2000, days=2 / 1440, shards=6),
            # C077: neighbours of run-1
            *saved("run-1", 1, days=9),
            *saved("run-1", 2, days=8),
            *saved("run-1", 3, days=7),
            *saved("run-10", 1, days=9),
            *saved("run-1-final", 1, days=9),
            # C081: a name with what looks like an escape
            *saved("a%2Fb", 1, days=9),
            *saved("a%2Fb", 2, days=8),
            *saved("a%2Fb", 3, days=7),
            # C084: a folder marker is one key and no checkpoint
            *saved("run-3", 10, days=9),
            *saved("run-3", 11, days=8),
            marker("run-3/ckpt/step-20/"),
            marker("run-3/"),
        ]
    )

    assert could_go(place, "{last: 2}") == {
        "llm": "1 checkpoint could go: step 800.",
        "run-1": "1 checkpoint could go: step 1.",
        "a%2Fb": "1 checkpoint could go: step 1.",
    }


def test_the_complete_one_before_the_one_being_written_stays(place: Place) -> None:
    place.aws.serve(
        objects=[
            *saved("busy", 1800, days=3, shards=8),
            *saved("busy", 1900, days=2, shards=8),
            *saved("busy", 2000, days=2 / 1440, shards=6),
        ]
    )

    # C076
    assert could_go(place, "{last: 1}") == {
        "busy": "1 checkpoint could go: step 1800.",
    }


def test_the_best_may_be_any_while_nobody_tells_the_metric(place: Place) -> None:
    place.aws.serve(
        objects=[
            *saved("llm", 400, days=9),
            *saved("llm", 700, days=8),
            *saved("llm", 1000, days=7),
        ]
    )
    keep = "{last: 1, best: {count: 1, metric: eval_loss}}"

    evaluation = place.plan(KEEP.format(keep=keep))

    # C074: 400 may be the best, so nothing is proposed
    assert evaluation.findings == ()
    assert [one.missing for one in evaluation.unknown] == [
        "eval_loss of 2 of 3 checkpoints"
    ]


def plan_day(
    day: int, *, covered: str, uncovered: str, committed: str = "100"
) -> CommitmentDay:
    return CommitmentDay(
        day=date(2026, 4, day),
        kind="savings-plan",
        committed=committed,
        used=committed,
        on_demand_equivalent=covered,
        uncovered=uncovered,
    )


def test_every_bucket_of_time_counts_in_coverage(place: Place) -> None:  # C086
    place.aws.serve(
        commitments=[
            plan_day(1, covered="360", uncovered="360"),
            plan_day(2, covered="240", uncovered="0"),
        ]
    )

    # 600 of 960 is 62.5 %: inside the band; 100 % or 75 % were not.
    evaluation = place.plan(COVERAGE)

    assert (evaluation.findings, evaluation.unknown) == ((), ())


@pytest.mark.parametrize(
    "days",
    [[], [plan_day(1, covered="0", uncovered="0", committed="0")]],
    ids=["no-rows", "rows-of-zero"],
)
def test_no_eligible_usage_is_not_zero_coverage(  # C085
    place: Place, days: list[CommitmentDay]
) -> None:
    place.aws.serve(commitments=days)

    evaluation = place.plan(COVERAGE)

    assert evaluation.findings == ()
    assert [one.missing for one in evaluation.unknown] == [NO_USAGE]


def test_a_figure_that_is_no_number_is_an_error_and_no_coverage(  # C085
    place: Place,
) -> None:
    place.aws.serve(commitments=[plan_day(1, covered="NaN", uncovered="1")])

    evaluation = place.plan(COVERAGE)

    assert evaluation.findings == ()
    assert [one.missing for one in evaluation.unknown] == ["coverage of commitments"]


def test_coverage_that_is_not_there_yet_stops_no_other_policy(  # C007
    place: Place,
) -> None:
    place.aws.serve(objects=[*saved("llm", 1, days=9), *saved("llm", 2, days=8)])
    place.aws.sandbox.faults.add(
        kind="fail", operation="GetSavingsPlansCoverage",
        code="DataUnavailableException", status=400,
    )  # fmt: skip

    evaluation = place.plan(COVERAGE + KEEP.format(keep="{last: 1}"))

    assert [one.policy for one in evaluation.findings] == ["keep"]
    assert [one.policy for one in evaluation.unknown] == ["p5-coverage"]
