"""Checkpoints: what a rule keeps, and what it would let go."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.ports import StoredObject
from policies.core.evaluate import evaluate
from policies.core.finding import Evaluation
from policies.core.locations import LocationError, parse_location
from policies.core.retention import Checkpoint, Plan, Rule, checkpoints_of, plan
from policies.load import load_text
from tests.builders_policies import (
    CHECKPOINTS,
    NOW,
    make_facts,
    make_job,
    make_listing,
    make_object,
    policy,
    saved_steps,
)

LOCATION = parse_location(CHECKPOINTS)


def planned(
    rule: Rule, objects: list[StoredObject], scores: dict[int, float] | None = None
) -> Plan:
    (found,) = checkpoints_of(LOCATION, objects).items()
    return plan(rule, found[0], found[1], NOW, scores=scores)


def dropped(decided: Plan) -> list[int]:
    return [checkpoint.step for checkpoint in decided.drop]


def judged(objects: list[StoredObject], keep: str, *lines: str) -> Evaluation:
    text = "\n".join(
        (
            "name: keep",
            "kind: checkpoint-retention",
            f'location: "{CHECKPOINTS}"',
            f"keep: {keep}",
            *lines,
        )
    )
    facts = make_facts(checkpoints=[make_listing(objects)])
    return evaluate([policy(text)], facts, NOW)


# C072
def test_steps_are_ordered_as_numbers() -> None:
    decided = planned(Rule(last=2), saved_steps(800, 900, 1000))

    assert dropped(decided) == [800]


# C073, C159
@pytest.mark.parametrize("last", ["0", "-1", "none"])
def test_keeping_nothing_is_refused_at_load(last: str) -> None:
    text = (
        "policies:\n  - name: p\n    kind: checkpoint-retention\n"
        f'    location: "{CHECKPOINTS}"\n    keep: {{last: {last}}}\n'
    )

    loaded, (error,) = load_text(text)

    assert loaded == ()
    assert "expected a number of at least 1, or all" in str(error)


# C073
def test_all_keeps_all() -> None:
    result = judged(saved_steps(1, 2, 3, 4, 5), "{last: all}")

    assert (result.findings, result.unknown) == ((), ())


def test_the_newest_is_kept_when_nothing_is_said_of_the_last() -> None:
    (finding,) = judged(saved_steps(1, 2, 3), "{newer_than: 1d}").findings

    assert finding.explanation[0] == "2 checkpoints could go: step 1, 2."


# C074
def test_best_and_last_are_both_kept() -> None:
    rule = Rule(last=1, best=1, metric="eval_loss")
    scores = {400: 0.1, 700: 0.3, 1000: 0.2}

    decided = planned(rule, saved_steps(400, 700, 1000), scores)

    assert dropped(decided) == [700]


def test_a_higher_metric_may_be_the_better_one() -> None:
    rule = Rule(last=1, best=1, metric="accuracy", is_lower_better=False)

    decided = planned(rule, saved_steps(1, 2, 3), {1: 0.1, 2: 0.9, 3: 0.2})

    assert dropped(decided) == [1]


def test_nothing_is_proposed_while_any_could_be_the_best() -> None:
    result = judged(saved_steps(1, 2, 3), "{last: 1, best: {metric: eval_loss}}")

    assert result.findings == ()
    assert result.unknown[0].missing == "eval_loss of 2 of 3 checkpoints"
    assert result.unknown[0].job == "job-1"


def test_best_decides_where_everything_else_is_kept_anyway() -> None:
    result = judged(saved_steps(1, 2), "{last: 2, best: {metric: eval_loss}}")

    assert (result.findings, result.unknown) == ((), ())


# C075
def test_a_new_run_in_the_same_folder_keeps_its_own() -> None:
    objects = saved_steps(2000, 4000, 6000, 500)

    assert dropped(planned(Rule(last=3), objects)) == []
    assert dropped(planned(Rule(last=1), objects)) == [2000, 4000]


# C075
def test_checkpoints_of_one_instant_are_asked_about() -> None:
    objects = [make_object(f"job-1/checkpoints/step-{n}/m") for n in (1, 2, 3)]

    result = judged(objects, "{last: 1}")

    assert result.findings == ()
    assert "same instant" in result.unknown[0].missing


def test_one_step_in_two_folders_is_asked_about() -> None:
    objects = [
        make_object("job-1/checkpoints/step-0100/m", age=timedelta(days=9)),
        make_object("job-1/checkpoints/step-100/m", age=timedelta(days=8)),
        make_object("job-1/checkpoints/step-200/m", age=timedelta(days=7)),
    ]

    assert "two folders" in planned(Rule(last=1), objects).question


# C076
def test_what_may_still_be_written_is_kept_and_does_not_count() -> None:
    shards = [
        make_object(f"job-1/checkpoints/step-2000/{n}", age=timedelta(minutes=2))
        for n in range(6)
    ]
    objects = [*saved_steps(1800, 1900), *shards]

    decided = planned(Rule(last=1), objects)

    assert [step.step for step, _ in decided.keep] == [1900, 2000]
    assert dropped(decided) == [1800]


def test_an_old_one_with_shards_missing_is_kept_and_does_not_count() -> None:
    objects = [
        make_object(f"job-1/checkpoints/step-{step}/{shard}", age=timedelta(days=age))
        for step, shards, age in ((100, 8, 9), (200, 8, 8), (300, 6, 7))
        for shard in range(shards)
    ]

    decided = planned(Rule(last=1), objects)

    assert [(one.step, why) for one, why in decided.keep] == [
        (200, "among the last"),
        (300, "looks incomplete"),
    ]


# C077
def test_a_sibling_prefix_is_another_job() -> None:
    objects = [
        *saved_steps(1, 2, job="run-1"),
        *saved_steps(1, 2, job="run-10"),
        make_object("run-1.json"),
        make_object("run-1-final/checkpoints/step-x/m"),
        make_object("deep/run-1/checkpoints/step-1/m"),
    ]

    found = checkpoints_of(LOCATION, objects)

    assert {job: len(some) for job, some in found.items()} == {"run-1": 2, "run-10": 2}


# C081
def test_keys_are_taken_verbatim() -> None:
    objects = [make_object("a%2Fb/checkpoints/step-1/é +😀.pt")]

    (found,) = checkpoints_of(LOCATION, objects).items()

    assert found[0] == "a%2Fb"
    assert found[1][0].folder == "a%2Fb/checkpoints/step-1/"


# C084
def test_a_folder_marker_is_no_checkpoint() -> None:
    objects = [
        *saved_steps(10),
        make_object("job-1/checkpoints/step-20/", size_bytes=0),
        make_object("job-1/", size_bytes=0),
    ]

    (some,) = checkpoints_of(LOCATION, objects).values()

    assert [(one.step, one.objects) for one in some] == [(10, 1)]


def test_every_and_young_are_kept_too() -> None:
    objects = saved_steps(*range(1000, 6000, 1000), first_age=timedelta(days=5))
    rule = Rule(last=1, every=2000, newer_than=timedelta(days=5, hours=-1, minutes=-30))

    assert dropped(planned(rule, objects)) == [1000]


def test_bytes_and_money_before_and_after_are_told() -> None:
    (finding,) = judged(saved_steps(1, 2, 3, 4), "{last: 1}").findings

    assert {one.name: one.value for one in finding.evidence} == {
        "bytes before": str(4 * 2**30),
        "bytes after": str(2**30),
        "cost per month before": "0.092",
        "cost per month after": "0.023",
    }
    assert str(finding.cost_at_stake) == "$0.07"
    assert [action.do for action in finding.actions] == ["quarantine", "delete"]
    assert finding.subject.id == "s3://models/job-1/checkpoints/"


def test_a_listing_that_is_not_whole_is_unknown() -> None:
    text = f'name: p\nkind: checkpoint-retention\nlocation: "{CHECKPOINTS}"\n'
    rule = policy(text + "keep: {last: 1}")
    partly = make_facts(
        checkpoints=[make_listing(saved_steps(1, 2), is_complete=False)]
    )

    for facts in (partly, make_facts()):
        result = evaluate([rule], facts, NOW)
        assert result.findings == ()
        assert "listing" in result.unknown[0].missing


def test_where_looks_at_the_job() -> None:
    objects = saved_steps(1, 2, 3)

    left_out = judged(objects, "{last: 1}", 'where: job.id != "job-1"')
    unknown = judged(objects, "{last: 1}", 'where: job.team == "nlp"')

    assert (left_out.findings, left_out.unknown) == ((), ())
    assert unknown.findings == ()
    assert unknown.unknown[0].missing == "job.team"


def test_the_owner_is_that_of_the_job() -> None:
    text = f'name: p\nkind: checkpoint-retention\nlocation: "{CHECKPOINTS}"\n'
    rule = policy(text + "keep: {last: 1}")
    facts = make_facts(
        jobs=[make_job("job-1", owner="grace")],
        checkpoints=[make_listing(saved_steps(1, 2))],
    )

    assert evaluate([rule], facts, NOW).findings[0].owner == "grace"


@pytest.mark.parametrize(
    "text",
    [
        *("models/{step}/", "s3://models", "s3://models/{job}/", "s3://m/{step}/"),
        *("s3://models/{step}/{step}/", "s3://models/{stpe}/{step}/"),
        *("s3://models/{job}{step}/", "s3://models/step-{step}"),
    ],
)
def test_a_location_that_means_no_folder_per_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(LocationError):
        parse_location(text)


steps = st.lists(st.integers(min_value=0, max_value=50), min_size=1, max_size=12)


@given(steps, st.integers(min_value=1, max_value=4))
def test_the_newest_complete_checkpoint_always_stays(
    written: list[int], last: int
) -> None:
    checkpoints = [
        Checkpoint(
            job="j",
            step=step,
            folder=f"{index}",
            objects=1,
            size_bytes=1,
            written_at=NOW - timedelta(hours=100 - index),
        )
        for index, step in enumerate(written)
    ]

    decided = plan(Rule(last=last), "j", checkpoints, NOW)

    kept = {one.folder for one, _ in decided.keep}
    assert checkpoints[-1].folder in kept
    assert len(kept) >= min(last, len(written))
    assert kept | {one.folder for one in decided.drop} == {
        c.folder for c in checkpoints
    }
