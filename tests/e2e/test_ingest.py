"""`gpucost ingest` against a Cost Explorer that moves, fails and lies."""

from __future__ import annotations

import random
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox
from tests.e2e.conftest import Opens
from tests.e2e.support import Place, until
from tests.e2e.world import NEVER, bill, company

CE = ("ingest", "--source", "cost-explorer")
FAR = "eu-west-1"


@pytest.fixture(scope="module")
def place(opens: Opens, aws: AwsSandbox) -> Iterator[Place]:
    """Lay out an installation that has read the bill once."""
    aws.reset(company())
    with opens(aws={"regions": ["us-east-1", FAR]}, schedule=NEVER) as opened:
        yield opened


@pytest.fixture(scope="module")
def first(place: Place) -> Any:
    return place.json(*CE)


@pytest.fixture(autouse=True)
def no_faults(aws: AwsSandbox, first: Any) -> Iterator[None]:
    aws.requests.clear()
    yield
    aws.faults.clear()


def stored(place: Place) -> list[tuple[Any, ...]]:
    """Return every stored charge."""
    file = place.root / "data" / "gpucost.db"
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        rows = database.execute(
            "SELECT account, day, job, bucket, usage_type, billed, effective FROM charge"
            " ORDER BY 1, 2, 3, 4, 5, 6"
        ).fetchall()
    database.close()
    return rows


def test_import_reaches_the_bills_own_total(first: Any, aws: AwsSandbox) -> None:
    (report,) = first["imports"]

    assert report["state"] == "done"
    assert (
        report["total"] == report["control_total"] == f"{6 * (24 * 55.04 + 3.21):.2f}"
    )
    assert report["difference"] == "0.00"


# C005: a key that is misspelt answers with one untagged group and no error
def test_misspelt_tag_key_is_reported(first: Any) -> None:
    (wrong,) = [one for one in first["tag_keys"] if one["key"] == "job_id"]

    assert wrong["state"] == "unknown"
    assert wrong["suggestions"] == ["job-id"]
    assert any("'job_id' is unknown to the bill" in note for note in first["notes"])


def test_nothing_moved_costs_two_requests(place: Place, aws: AwsSandbox) -> None:
    (report,) = place.json(*CE)["imports"]

    assert report["state"] == "unchanged"
    assert report["requests"] == aws.requests.count("GetCostAndUsage") == 2
    assert report["request_cost"] == "0.02"


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"kind": "cut", "skip": 2}, id="answer-cut-by-the-connection"),
        pytest.param({"kind": "truncate", "skip": 3}, id="truncated-answer"),
        pytest.param({"kind": "drop"}, id="dropped-connection"),
    ],
)
def test_failed_read_leaves_the_stored_month_alone(
    place: Place, aws: AwsSandbox, fault: dict[str, Any]
) -> None:
    before = stored(place)
    aws.faults.add(service="ce", operation="GetCostAndUsage", **fault)

    ran = place.run(*CE, "--full", "--format", "json")

    assert ran.code == 1
    assert [one["source"] for one in ran.json["errors"]] == ["cost-explorer"]
    assert ran.json["errors"][0]["message"]
    assert before
    assert stored(place) == before


def test_throttled_read_is_tried_five_times_and_named(
    place: Place, aws: AwsSandbox
) -> None:
    before = stored(place)
    aws.faults.add(kind="throttle", service="ce")

    ran = place.run(*CE, "--format", "json")

    assert ran.code == 1
    assert ran.json["errors"][0]["code"] == "LimitExceededException"
    assert aws.requests.count("GetCostAndUsage") == 5
    assert stored(place) == before


def test_failing_region_is_named_and_the_others_are_kept(
    place: Place, aws: AwsSandbox
) -> None:
    aws.faults.add(kind="deny", service="ec2", region=FAR)

    ran = place.run("ingest", "--source", "inventory", "--format", "json")

    failures = {(one["source"], one["region"]) for one in ran.json["errors"]}
    assert ran.code == 1
    assert ("inventory", FAR) in failures
    assert {region for _, region in failures} == {FAR}
    assert ran.json["notes"][:2] == [
        "inventory: 1 instances, 0 volumes in 1 account and region",
        "prices: 1 recorded",
    ]


def test_restated_day_replaces_the_old_one(place: Place, aws: AwsSandbox) -> None:
    (line,) = [
        one
        for one in aws.world.costs
        if one.day.isoformat() == "2026-04-09" and one.quantity == "24"
    ]
    aws.world.costs.remove(line)
    aws.world.costs.append(replace(line, unblended="1000"))

    place.json(*CE)

    rows = [row for row in stored(place) if row[1] == "2026-04-09"]
    assert sorted(row[5] for row in rows) == [3_210_000_000, 1_000 * 10**9]


def test_budget_of_requests_stops_with_a_clear_message(
    opens: Opens, aws: AwsSandbox
) -> None:
    aws.reset(company())
    with opens(limits={"aws_request_cost_per_day": "$0.03"}) as poor:
        ran = poor.run(*CE, "--format", "json")

    message = ran.json["errors"][0]["message"]
    assert ran.code == 1
    assert "would pass the day's budget of $0.03" in message
    assert len([one for one in aws.requests if one.service == "ce"]) == 3


def test_killed_import_is_made_good_by_the_next_one(
    opens: Opens, aws: AwsSandbox
) -> None:
    """Kill the real process at random points; readers see no part of a month."""
    jobs = [f"llm-{number}" for number in range(20)]
    aws.reset(company(costs=[line for job in jobs for line in bill(job)]))
    lines, dice = 20 * 6 * 2, random.Random(7)
    with opens(schedule=NEVER) as hurt:
        hurt.json("db", "upgrade")
        for _ in range(4):
            _kill_within(hurt, aws, requests=dice.randint(1, 7), after_s=dice.random())
            assert len(stored(hurt)) in {0, lines}

        (report,) = hurt.json(*CE)["imports"]
        total = hurt.json("cost", "--by", "account", "--metric", "billed")
        checks = hurt.json("db", "check")["checks"]

    assert report["difference"] == "0.00"
    assert len(stored(hurt)) == lines
    assert total["total"] == f"{20 * 6 * (24 * 55.04 + 3.21):.2f}"
    assert all(one["ok"] for one in checks)


def _kill_within(
    place: Place, aws: AwsSandbox, *, requests: int, after_s: float
) -> None:
    """Kill an import at a moment after a request; answers are slow meanwhile."""
    aws.requests.clear()
    aws.faults.add(kind="delay", service="ce", seconds=0.1)
    child = place.start(*CE)

    def is_there() -> bool:
        seen = aws.requests.count("GetCostAndUsage")
        return seen >= requests or child.poll() is not None

    until(is_there, f"{requests} requests")
    with suppress(subprocess.TimeoutExpired):
        child.wait(after_s * 0.2)
    child.kill()
    child.wait()
    aws.faults.clear()
