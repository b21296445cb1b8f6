"""Which resources are told apart: those that jobs may hold, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from billing.exports.engine import open_reader
from billing.exports.proof import prove
from tests.builders_exports import (
    KEYS,
    LIMITS,
    charges_in,
    cur_row,
    focus_row,
    write_csv,
    write_parquet,
)

if TYPE_CHECKING:
    from pathlib import Path

ARN = "arn:aws:ec2:us-east-2:012345678901:instance/i-0abc"
TRAINING = "arn:aws:sagemaker:us-east-2:012345678901:training-job/llm"


@pytest.mark.parametrize(
    ("resource", "kept"),
    [
        ("i-0abc", "i-0abc"),
        (ARN, "i-0abc"),
        ("vol-0abc", "vol-0abc"),
        ("fs-0abc", "fs-0abc"),
        (TRAINING, TRAINING),
        ("my-bucket", ""),
        ("arn:aws:s3:::i-am-a-bucket", ""),
    ],
)
def test_untagged_rows_keep_resources_that_jobs_hold(
    resource: str, kept: str, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", [focus_row(Tags="", ResourceId=resource)])

    (charge,) = charges_in(path)

    assert charge.resource_id == kept


def test_rows_of_a_job_share_a_cell_whatever_their_resource(tmp_path: Path) -> None:
    rows = [focus_row(ResourceId=f"i-{number}") for number in range(5)]

    (charge,) = charges_in(write_csv(tmp_path / "a.csv", rows))

    assert charge.resource_id == ""
    assert charge.billed.text() == "5.00"


def test_an_empty_tag_is_no_tag(tmp_path: Path) -> None:
    row = cur_row(**{"lineItem__ResourceId": "i-1", "resourceTags__user:job-id": ""})

    (charge,) = charges_in(write_csv(tmp_path / "a.csv", [row]))

    assert charge.resource_id == "i-1"


def test_a_resource_that_jobs_held_is_told_apart_though_it_is_tagged(
    tmp_path: Path,
) -> None:
    rows = [focus_row(ResourceId=f"i-{number}") for number in range(3)]
    path = write_csv(tmp_path / "a.csv", rows)

    with open_reader([path], LIMITS) as reader:
        reader.prepare(KEYS)
        reader.roll_up(held={"i-1", "i-it's"})
        found = reader._run("SELECT resource, lines FROM cell ORDER BY ALL").fetchall()

    assert found == [("i-1", 1), (None, 2)]


def test_the_cheapest_resources_share_their_cells_beyond_the_bound(
    tmp_path: Path,
) -> None:
    rows = [
        focus_row(Tags="", ResourceId=f"i-{number}", EffectiveCost=f"{number}.00")
        for number in range(5)
    ]
    path = write_csv(tmp_path / "a.csv", rows)

    with open_reader([path], LIMITS) as reader:
        reader.prepare(KEYS)
        prove(reader, period=None, currency=None)
        before = reader.totals()
        dropped = reader.bound_resources(2)
        found = reader._run("SELECT resource, lines FROM cell ORDER BY ALL").fetchall()

        assert dropped == 3
        assert found == [("i-3", 1), ("i-4", 1), (None, 3)]
        assert reader.totals() == before


def test_keys_in_maps_are_found_whether_dictionaries_tell_them_or_not(
    tmp_path: Path,
) -> None:
    casts = {"Tags": 'CAST(CAST("Tags" AS JSON) AS MAP(VARCHAR, VARCHAR))'}
    path = write_parquet(
        tmp_path / "a.parquet",
        [focus_row(Tags='{"JOB-ID": "a"}'), focus_row(Tags='{"user:job_id": "b"}')],
        casts,
    )

    with open_reader([path], LIMITS) as reader:
        told = reader._names("Tags", "MAP(VARCHAR, VARCHAR)")
        reader._files = ()  # No file has a dictionary: the rows are read.
        read = reader._names("Tags", "MAP(VARCHAR, VARCHAR)")

    assert sorted(told) == sorted(read) == ["JOB-ID", "user:job_id"]
    assert [one.job for one in charges_in(path)] == ["a", "b"]
