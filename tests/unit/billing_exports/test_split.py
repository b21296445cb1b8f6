"""Split cost allocation: weights of jobs on an instance, never cost of their own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from billing.core.placements import Placement, PlacementSource
from billing.exports.engine import open_reader
from billing.exports.split import SplitRow, placements_of, to_record
from tests.builders_exports import KEYS, LIMITS, cur_row, write_csv, write_parquet

if TYPE_CHECKING:
    from pathlib import Path

DAY = date(2026, 9, 1)
SHAPES = {"i-1": "USE2-BoxUsage:p5.48xlarge", "i-2": "USE2-BoxUsage:m5.large"}


def pod(used: str, unused: str, job: str = "job-1", **over: str) -> dict[str, str]:
    """Make an hour of one pod on i-1."""
    row = cur_row(
        lineItem__UnblendedCost="0", lineItem__UsageType="USE2-EKS-EC2-GPU-Hours",
        lineItem__ResourceId="arn:aws:eks:us-east-2:012345678901:pod/c/ns/p/1",
        splitLineItem__ParentResourceId="i-1", splitLineItem__SplitCost=used,
        splitLineItem__UnusedCost=unused,
    )  # fmt: skip
    names = {
        "resourceTags/user:job-id": job,
        "resourceTags/aws:eks:workload-name": "",
        "resourceTags/aws:eks:namespace": "",
    }
    return row | names | {name.replace("__", "/"): text for name, text in over.items()}


def instance(**over: str) -> dict[str, str]:
    return pod(
        "", "", job="", lineItem__ResourceId="i-1", lineItem__UnblendedCost="98.32",
        lineItem__UsageType="USE2-BoxUsage:p5.48xlarge",
        splitLineItem__ParentResourceId="", **over,
    )  # fmt: skip


def read(path: Path) -> list[Placement]:
    with open_reader([path], LIMITS) as reader:
        reader.prepare(KEYS)
        return [*reader.splits(KEYS)]


def test_pods_hold_accelerators_by_the_cost_that_aws_gives_them(tmp_path: Path) -> None:
    rows = [
        instance(), pod("20", "10"), pod("10", "0"), pod("40", "20", job="job-2"),
    ]  # fmt: skip

    found = read(write_csv(tmp_path / "a.csv", rows))

    # 100 were paid; 30 and 40 of it were used, of 8 accelerators.
    assert [(one.job, one.gpus) for one in found] == [
        ("job-1", Decimal("2.4")),
        ("job-2", Decimal("3.2")),
    ]
    assert {one.resource_id for one in found} == {"i-1"}
    assert found[0].started_at == datetime(2026, 9, 1, tzinfo=UTC)
    assert found[0].ended_at == datetime(2026, 9, 2, tzinfo=UTC)


def test_a_pod_without_a_job_tag_goes_by_its_workload_then_its_namespace(
    tmp_path: Path,
) -> None:
    named = {"resourceTags/aws:eks:workload-name": "LLM-train"}
    spaced = {"resourceTags/aws:eks:namespace": "infer"}
    rows = [
        instance(),
        pod("1", "0", "", **named),
        pod("1", "0", "", **spaced),
        pod("2", "0", ""),
    ]

    found = read(write_csv(tmp_path / "a.csv", rows))

    assert [(one.job, one.gpus) for one in found] == [
        ("infer", Decimal(2)),
        ("llm-train", Decimal(2)),
    ]


def test_names_are_read_from_a_map_of_tags_too(tmp_path: Path) -> None:
    rows = [instance(), pod("1", "1", "")]
    for row in rows:
        row["resource_tags"] = '{"aws_eks_workload_name": "train"}'
    casts = {
        "resource_tags": 'CAST(CAST("resource_tags" AS JSON) AS MAP(VARCHAR, VARCHAR))'
    }

    found = read(write_parquet(tmp_path / "a.parquet", rows, casts))

    assert [(one.job, one.gpus) for one in found] == [("train", Decimal(4))]


def test_an_export_without_split_columns_has_none(tmp_path: Path) -> None:
    assert read(write_csv(tmp_path / "a.csv", [cur_row()])) == []


@pytest.mark.parametrize(
    ("parent", "used"), [("i-2", "1"), ("i-unknown", "1"), ("i-1", "0")]
)
def test_nothing_is_placed_without_accelerators_or_use(parent: str, used: str) -> None:
    row = SplitRow(
        parent=parent, day=DAY, job="a", used=Decimal(used), unused=Decimal(0)
    )

    assert placements_of([row], SHAPES) == []


def test_a_scheduler_is_believed_before_split_cost() -> None:
    (ours,) = _placed("job-1", "4")
    theirs = replace(ours, source=PlacementSource.SLURM, external_id="17")

    assert to_record([ours], [theirs]) == []


def test_what_a_newer_delivery_does_not_say_is_taken_back() -> None:
    (before,), (now,) = _placed("job-1", "4"), _placed("job-2", "4")

    found = to_record([now], [before])

    assert [(one.job, one.gpus) for one in found] == [
        ("job-2", Decimal(4)),
        ("job-1", Decimal(0)),
    ]
    assert to_record([now], found) == [now]


def _placed(job: str, used: str) -> list[Placement]:
    row = SplitRow(
        parent="i-1", day=DAY, job=job, used=Decimal(used), unused=Decimal(4)
    )
    return placements_of([row], SHAPES)
