"""Checkpoints: what objects say of themselves, and what they cost."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from billing.core.money import Money
from billing.core.storage_prices import GIB, early_fee, prices_in
from billing.ports import StoredObject, UnfinishedUpload
from policies.core.evaluate import evaluate
from policies.core.facts import CheckpointFacts, InstanceFacts
from policies.core.finding import Evaluation, Finding
from policies.core.holding import kept_by_tags
from policies.core.locations import parse_location
from policies.core.retention import checkpoints_of
from tests.builders_policies import (
    CHECKPOINTS,
    NOW,
    idle_instance,
    make_facts,
    make_listing,
    make_object,
    policy,
    saved_steps,
)

LAST = "{last: 1}"
STEPS = saved_steps(1000, 2000, 3000)
FOLDER = "job-1/checkpoints/step-1000/"
MODEL = f"{FOLDER}model.pt"


def judged(
    listing: CheckpointFacts, *machines: InstanceFacts, keep: str = LAST
) -> Evaluation:
    rule = policy(
        f'name: keep\nkind: checkpoint-retention\nlocation: "{CHECKPOINTS}"\nkeep: {keep}'
    )
    return evaluate([rule], make_facts(*machines, checkpoints=[listing]), NOW)


def only(evaluation: Evaluation) -> Finding:
    (finding,) = evaluation.findings
    return finding


def going(evaluation: Evaluation) -> list[str]:
    return [
        one.resource_id.rpartition("step-")[2].strip("/")
        for finding in evaluation.findings
        for one in finding.targets
    ]


def every_tag(*objects: StoredObject, **of_first: str) -> dict[str, dict[str, str]]:
    tags: dict[str, dict[str, str]] = {one.key: {} for one in objects}
    tags[objects[0].key] = {
        key.replace("_", "-"): text for key, text in of_first.items()
    }
    return tags


# ------------------------------------------------------------ tags, leases, resumes


def test_a_tagged_checkpoint_stays() -> None:
    tags = every_tag(*STEPS, gpucost_keep="yes")

    assert going(judged(make_listing(STEPS, tags=tags))) == ["2000"]


def test_a_keep_tag_that_says_false_keeps_nothing() -> None:
    tags = every_tag(*STEPS, gpucost_keep="false")

    assert going(judged(make_listing(STEPS, tags=tags))) == ["1000", "2000"]


@pytest.mark.parametrize(
    ("until", "gone"),
    [
        ("2999-01-01T00:00:00Z", ["2000"]),
        ("2020-01-01T00:00:00Z", ["1000", "2000"]),
        ("next week", ["2000"]),
        ("2020-01-01T00:00:00", ["2000"]),
    ],
)
def test_a_lease_keeps_until_its_end_and_for_ever_when_it_cannot_be_read(
    until: str, gone: list[str]
) -> None:
    tags = every_tag(*STEPS, gpucost_lease_until=until)

    assert going(judged(make_listing(STEPS, tags=tags))) == gone


@pytest.mark.parametrize(
    "name", ["gpucost-keep", "gpucost-lease-until-2999-01-01T00:00:00Z"]
)
def test_an_object_in_the_folder_keeps_it_without_any_tag(name: str) -> None:
    mark = make_object(f"{FOLDER}{name}", size_bytes=0)

    assert going(judged(make_listing([*STEPS, mark]))) == ["2000"]


def test_a_mark_makes_the_other_checkpoints_no_less_complete() -> None:
    mark = make_object("job-1/checkpoints/step-3000/gpucost-keep", size_bytes=0)

    found = checkpoints_of(parse_location(CHECKPOINTS), [*STEPS, mark])

    assert {one.objects for one in found["job-1"]} == {1}


def test_what_has_unread_tags_stays() -> None:
    tags = every_tag(*STEPS)
    del tags[MODEL]

    assert going(judged(make_listing(STEPS, tags=tags))) == ["2000"]


@pytest.mark.parametrize(
    "address", [f"s3://models/{FOLDER}", f"s3://models/{FOLDER[:-1]}", "s3://models/"]
)
def test_what_a_running_job_was_resumed_from_stays(address: str) -> None:
    machine = idle_instance()
    tagged = replace(
        machine.instance,
        tags={**machine.instance.tags, "gpucost-resumed-from": address},
    )

    found = judged(make_listing(STEPS), replace(machine, instance=tagged))

    assert "1000" not in going(found)


# C077
def test_a_job_resumed_from_a_longer_step_does_not_keep_a_shorter_one() -> None:
    machine = idle_instance()
    address = "s3://models/job-1/checkpoints/step-10000/"
    tagged = replace(machine.instance, tags={"gpucost-resumed-from": address})

    found = judged(make_listing(STEPS), replace(machine, instance=tagged))

    assert going(found) == ["1000", "2000"]


def test_the_best_is_told_by_an_object_tag() -> None:
    scores = {"1000": "0.9", "2000": "0.1", "3000": "0.5"}
    tags = {one.key: {"eval_loss": scores[one.key.split("-")[2][:4]]} for one in STEPS}

    found = judged(
        make_listing(STEPS, tags=tags), keep="{last: 1, best: {metric: eval_loss}}"
    )

    assert going(found) == ["1000"]


@pytest.mark.parametrize("told", ["nan", "inf", "low", ""])
def test_a_metric_that_is_no_number_is_unknown(told: str) -> None:
    tags = {one.key: {"eval_loss": "0.1"} for one in STEPS}
    tags[MODEL] = {"eval_loss": told}

    found = judged(
        make_listing(STEPS, tags=tags), keep="{last: 1, best: {metric: eval_loss}}"
    )

    assert found.findings == ()
    assert found.unknown[0].missing == "eval_loss of 1 of 3 checkpoints"


def test_no_tag_keeps_nothing() -> None:
    assert kept_by_tags({}, NOW) == ""


# ------------------------------------------------------------------ versions, money


# C078
def test_old_versions_are_counted_and_a_plain_delete_is_said_to_free_nothing() -> None:
    old = make_object(MODEL, size_bytes=4 * GIB, version="v0", is_current=False)

    finding = only(judged(make_listing([*STEPS, old])))

    evidence = {one.name: one.value for one in finding.evidence}
    assert evidence["bytes before"] == str(7 * GIB)
    assert evidence["bytes after"] == str(GIB)
    assert evidence["old versions"] == str(4 * GIB)
    assert any("a plain delete frees nothing" in one for one in finding.explanation)


# C078
def test_a_deleted_checkpoint_that_still_costs_is_none_and_is_told() -> None:
    gone = make_object(
        "job-1/checkpoints/step-500/model.pt", size_bytes=2 * GIB, is_current=False
    )

    found = judged(make_listing([*STEPS, gone]))

    assert going(found) == ["1000", "2000"]
    told = "2 GiB more are versions of deleted checkpoints, billed on."
    assert told in only(found).explanation


# C079
def test_unfinished_uploads_are_told_and_young_ones_left_alone() -> None:
    uploads = tuple(
        UnfinishedUpload(
            key=f"job-1/checkpoints/step-9/part-{days}", upload_id=str(days),
            started_at=NOW - timedelta(days=days), size_bytes=40 * GIB,
        )
        for days in (0, 9, 40)
    )  # fmt: skip
    other = replace(uploads[0], key="job-10/checkpoints/step-9/part")

    listing = replace(make_listing(STEPS), uploads=(*uploads, other))
    finding = only(judged(listing))

    assert (
        "3 unfinished uploads of 120 GiB are billed and never listed: 2 of them older "
        "than 7 days could be aborted, the others may be under way."
    ) in finding.explanation


def test_ending_an_archived_checkpoint_early_costs_the_rest_of_its_time() -> None:
    price = Money.of("0.0036")

    fee = early_fee(
        "GLACIER", price, 1000 * GIB, written_at=NOW - timedelta(days=30), now=NOW
    )

    assert str(fee) == "$7.20"  # 60 of 90 days: two months of $3.60


def test_nothing_is_due_for_what_is_old_enough() -> None:
    fee = early_fee(
        "DEEP_ARCHIVE", Money.of("0.00099"), GIB,
        written_at=NOW - timedelta(days=180), now=NOW,
    )  # fmt: skip

    assert fee == Money.zero()


def test_the_fee_is_in_the_message() -> None:
    frozen = [replace(one, storage_class="DEEP_ARCHIVE") for one in STEPS]
    big = [replace(one, size_bytes=10_000 * GIB) for one in frozen]
    listing = replace(make_listing(big), prices=prices_in("us-east-1"))

    finding = only(judged(listing))

    assert any(one.startswith("Deleting now costs $") for one in finding.explanation)


def test_one_class_without_a_price_makes_the_money_unknown() -> None:
    mixed = [*STEPS[:2], replace(STEPS[2], storage_class="EXPRESS_ONEZONE")]

    finding = only(judged(make_listing(mixed)))

    assert finding.cost_at_stake is None
    assert any("the storage price is unknown" in one for one in finding.explanation)


def test_a_region_without_prices_has_none() -> None:
    assert prices_in("eu-central-9") == {}


def test_above_a_million_versions_inventory_is_advised() -> None:
    listing = replace(
        make_listing(()), objects=tuple(STEPS[:1]) * 1_000_001, is_complete=False
    )

    (unknown,) = judged(listing).unknown

    assert unknown.missing.endswith("has over 1,000,000 versions, use S3 Inventory")


def test_a_target_is_exactly_these_versions() -> None:
    before = only(judged(make_listing(STEPS))).targets
    newer = [replace(STEPS[0], version_id="v2"), *STEPS[1:]]
    after = only(judged(make_listing(newer))).targets

    assert before[0].resource_id == after[0].resource_id
    assert before[0].version != after[0].version
    assert before[1] == after[1]
