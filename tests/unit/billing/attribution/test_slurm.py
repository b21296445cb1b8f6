"""Slurm's accounting, line by line."""

from __future__ import annotations

from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from billing.core.placement_csv import NotPlacementsError, parse_csv
from billing.core.placement_rows import LINE_CHARS_MAX, Parsed
from billing.core.slurm import JobFrom, NotSacctError, parse_sacct
from tests.builders import at

HEADER = "JobID|JobName|User|Account|State|Start|End|NodeList|AllocTRES|Comment|WCKey"
BERLIN = ZoneInfo("Europe/Berlin")
UTC = ZoneInfo("UTC")
TRES = "billing=96,cpu=96,gres/gpu=16,gres/gpu:h100=16,mem=2000G,node=2"


def row(
    number: str = "12",
    *,
    name: str = "train",
    state: str = "COMPLETED",
    start: str = "2026-11-10T12:00:00",
    end: str = "2026-11-10T14:30:00",
    nodes: str = "gpu[1-2]",
    tres: str = TRES,
    comment: str = "",
    wckey: str = "",
) -> str:
    span = f"{start}|{end}|{nodes}"
    return f"{number}|{name}|mia|ml|{state}|{span}|{tres}|{comment}|{wckey}"


def read(*lines: str, zone: ZoneInfo = UTC, job_from: JobFrom = "jobid") -> Parsed:
    return parse_sacct([HEADER, *lines], zone, job_from=job_from)


def test_an_allocation_is_a_row_with_its_gpus_on_each_node() -> None:
    (found,) = read(row()).rows

    assert (found.line, found.job, found.external_id) == (2, "slurm-12", "12")
    assert found.hosts == ("gpu1", "gpu2")
    assert (found.started_at, found.ended_at) == (
        at("2026-11-10T12:00"),
        at("2026-11-10T14:30"),
    )
    assert found.gpus == Decimal(8)


def test_times_are_those_of_the_stated_zone() -> None:
    (found,) = read(row(), zone=BERLIN).rows

    assert found.started_at == at("2026-11-10T11:00")


def test_steps_and_jobs_that_never_started_are_ignored() -> None:
    found = read(
        row("12.batch"),
        row("12.extern"),
        row("12.0"),
        row("13", start="Unknown", end="Unknown", nodes="None assigned"),
        row("14", start="None"),
        "",
    )

    assert (found.rows, found.skipped, found.ignored) == ([], [], 5)


def test_an_end_that_is_unknown_is_still_running() -> None:
    (found,) = read(row(state="RUNNING", end="Unknown")).rows

    assert found.ended_at is None


def test_typed_gpus_are_not_counted_twice() -> None:
    only_typed = row(tres="gres/gpu:a100=4,gres/gpu:h100=4", nodes="gpu1")

    assert [one.gpus for one in read(row(), only_typed).rows] == [8, 8]


def test_gpus_that_do_not_divide_are_parts_of_one() -> None:
    (found,) = read(row(tres="gres/gpu=3", nodes="a[1-2]")).rows

    assert found.gpus == Decimal("1.5")


def test_a_job_without_gpus_held_none_where_others_tell_theirs() -> None:
    found = read(row("1"), row("2", tres="cpu=4"))

    assert [one.gpus for one in found.rows] == [8, 0]


def test_a_cluster_that_counts_no_gpus_says_nothing_of_them() -> None:
    assert [one.gpus for one in read(row(tres="cpu=4,node=1")).rows] == [None]


@pytest.mark.parametrize(
    ("job_from", "job"),
    [
        ("jobid", "slurm-12_3"),
        ("jobname", "bert"),
        ("comment", "job-9"),
        ("wckey", "w"),
    ],
)
def test_what_names_the_job_is_chosen(job_from: JobFrom, job: str) -> None:
    line = row("12_3", name="Bert", comment="job-9", wckey="w")

    assert [one.job for one in read(line, job_from=job_from).rows] == [job]


def test_without_the_chosen_name_the_number_names_the_job() -> None:
    assert [one.job for one in read(row(), job_from="wckey").rows] == ["slurm-12"]


def test_a_time_that_the_clock_never_showed_is_told() -> None:
    found = read(row(start="2026-03-29T02:30:00", end="2026-03-29T04:00"), zone=BERLIN)

    assert [(one.line, "never showed" in one.reason) for one in found.skipped] == [
        (2, True)
    ]


def test_an_hour_that_the_clock_showed_twice_is_told_and_read_in_order() -> None:
    found = read(
        row(start="2026-10-25T02:50:00", end="2026-10-25T02:10:00"), zone=BERLIN
    )

    (one,) = found.rows
    assert (one.started_at, one.ended_at) == (
        at("2026-10-25T00:50"),
        at("2026-10-25T01:10"),
    )
    assert [note.line for note in found.notes] == [2]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (row(end="2026-11-10T11:00:00"), "ends before"),
        (row(start="yesterday"), "expected a time"),
        (row(nodes="gpu[0-999999999]"), "10000 hosts"),
        (row(tres="gres/gpu=many"), "number of GPUs"),
        (row(tres="gres/gpu=NaN"), "number of GPUs"),
        (row(tres="gres/gpu=-8"), "number of GPUs"),
        ("12|train", "2 columns"),
        (row(name="x\x00y"), "control characters"),
        (row(name="x" * LINE_CHARS_MAX), "too long"),
        (row(name="x\ufffd"), "UTF-8"),
    ],
)
def test_a_bad_line_is_told_by_number_and_the_others_are_read(
    line: str, reason: str
) -> None:
    found = read(line, row("13"))

    assert [one.external_id for one in found.rows] == ["13"]
    assert [one.line for one in found.skipped] == [2]
    assert reason in found.skipped[0].reason


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-x", "@x", "bucket:idle", "x" * 201])
def test_a_name_that_is_no_job_is_refused(name: str) -> None:
    assert [one.line for one in read(row(name=name), job_from="jobname").skipped] == [2]


@pytest.mark.parametrize("first", ["", "hello", "JobID|Start|End", row()])
def test_without_a_header_nothing_is_read(first: str) -> None:
    with pytest.raises(NotSacctError, match="header line"):
        parse_sacct([first, row()], UTC)


def test_the_chosen_column_must_be_there() -> None:
    with pytest.raises(NotSacctError, match="wckey"):
        parse_sacct(["JobID|Start|End|NodeList", "x"], UTC, job_from="wckey")


def test_our_csv_names_instances_or_hosts() -> None:
    found = parse_csv(
        [
            "job,resource_id,start,end,gpus",
            '"Job-1",i-0a1,2026-11-10T12:00:00+01:00,2026-11-10T12:00:00,8',
            "job-2,i-0a1,2026-11-10,,",
        ],
        UTC,
    )

    assert [
        (one.job, one.hosts, f"{one.started_at:%H}", one.ended_at is None, one.gpus)
        for one in found.rows
    ] == [
        ("job-1", ("i-0a1",), "11", False, 8),
        ("job-2", ("i-0a1",), "00", True, None),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "job-1,=HYPERLINK(),2026-11-10,,8",
        "=1+1,i-1,2026-11-10,,8",
        "job-1,,2026-11-10,,8",
        "job-1,i-1,2026-11-10,,NaN",
        "job-1,i-1,2026-11-10,,1e9",
        'job-1,"i-1,2026-11-10,,8',
        "job-1,i-1",
    ],
)
def test_a_bad_line_of_our_csv_is_told(line: str) -> None:
    found = parse_csv(["job,host,start,end,gpus", line], UTC)

    assert (found.rows, [one.line for one in found.skipped]) == ([], [2])


def test_our_csv_needs_its_header() -> None:
    with pytest.raises(NotPlacementsError, match="start"):
        parse_csv(["job,resource_id,end"], UTC)
