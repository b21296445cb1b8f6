"""Control pages, the clock, prebuilt bytes and the command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox, World
from deploy.sandbox.aws.builders import cost, instance
from deploy.sandbox.aws.world import WORLD
from tests.sandbox.aws.calls import refused, spend, total
from tests.sandbox.aws.conftest import Serve

ONE_DAY = World(costs=[cost("2026-04-10", "5")])


def http(sandbox: AwsSandbox, method: str, page: str, value: Any = None) -> Any:
    request = urllib.request.Request(  # noqa: S310
        f"{sandbox.endpoint_url}/control/{page}",
        method=method,
        data=None if value is None else json.dumps(value).encode(),
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return json.load(answer)


def test_control_pages_switch_faults_and_show_requests(serve: Serve) -> None:
    sandbox = serve(ONE_DAY)

    http(sandbox, "POST", "faults", {"kind": "throttle", "service": "ce", "times": 1})
    code, _ = refused(lambda: spend(sandbox))
    seen = http(sandbox, "GET", "requests")
    http(sandbox, "POST", "faults", [{"kind": "drop"}])
    cleared = http(sandbox, "DELETE", "faults")

    assert code == "LimitExceededException"
    assert seen["counts"] == {"ce:GetCostAndUsage": 1}
    assert seen["requests"][0]["fault"] == "throttle"
    assert cleared == {"faults": []}


def test_control_refuses_an_unknown_fault(serve: Serve) -> None:
    sandbox = serve(World())

    with pytest.raises(urllib.error.HTTPError) as caught:
        http(sandbox, "POST", "faults", {"kind": "earthquake"})

    with caught.value as answer:
        assert answer.code == 400
    assert sandbox.faults.active() == []


def test_control_moves_the_clock_and_replaces_the_world(serve: Serve) -> None:
    sandbox = serve(World())

    moved = http(sandbox, "PUT", "clock", {"now": "2026-05-01T00:00:00Z"})
    sandbox.clock.set("2026-04-14T00:00:00Z")
    http(
        sandbox,
        "PUT",
        "world",
        json.loads(ONE_DAY.dump()) | {"now": "2026-04-14T00:00:00Z"},
    )

    assert moved == {"now": "2026-05-01T00:00:00Z"}
    assert total(spend(sandbox)) == "5"


def test_the_clock_can_be_a_file_read_at_each_use(serve: Serve, tmp_path: Path) -> None:
    sandbox = serve(ONE_DAY)
    file = tmp_path / "now"
    sandbox.clock.set(f"file:{file}")
    file.write_text("2026-04-10T00:00:00Z")
    early = spend(sandbox)["ResultsByTime"][0]["Estimated"]

    file.write_text("2026-06-01T00:00:00Z")

    assert (early, spend(sandbox)["ResultsByTime"][0]["Estimated"]) == (True, False)


def test_the_date_header_keeps_the_system_clock(serve: Serve) -> None:
    answer = spend(serve(ONE_DAY))

    date = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
    assert abs((datetime.now(UTC) - date).total_seconds()) < 60


def test_prebuilt_pages_are_served_by_their_number(serve: Serve) -> None:
    sandbox = serve(World())
    pages = [
        {"ResultsByTime": [], "NextPageToken": "1"},
        {"ResultsByTime": [{"Estimated": True, "Groups": [], "Total": {}}]},
    ]
    sandbox.serve_prebuilt([json.dumps(page).encode() for page in pages])

    first = spend(sandbox)
    second = spend(sandbox, NextPageToken=first["NextPageToken"])

    assert second["ResultsByTime"][0]["Estimated"] is True
    assert sandbox.requests.count("GetCostAndUsage") == 2


def test_a_second_sandbox_in_one_process_is_refused(serve: Serve) -> None:
    serve(World())

    with pytest.raises(RuntimeError, match="another AWS sandbox runs"):
        AwsSandbox().start()


def test_a_world_survives_json(serve: Serve) -> None:
    world = World(
        now="2026-04-14T06:00:00Z",
        costs=[cost("2026-04-10", "5", tags={"team": "a"})],
        instances=[instance("i-0aaa", "g5.xlarge", launched_at="2026-04-13")],
    )

    assert WORLD.validate_json(world.dump()) == world


def test_the_command_serves_a_world_until_it_is_told_to_stop(tmp_path: Path) -> None:
    world = tmp_path / "world.json"
    state = tmp_path / "state.json"
    world.write_text(World(now="2026-04-14T06:00:00Z").dump())
    command = [sys.executable, "-m", "deploy.sandbox.aws", "--world", str(world)]
    process = subprocess.Popen(
        [*command, "--state-file", str(state)], stdout=subprocess.PIPE
    )
    try:
        deadline = time.monotonic() + 30
        while not state.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        found = json.loads(state.read_text())
        with urllib.request.urlopen(f"{found['endpoint_url']}/control/clock") as page:  # noqa: S310
            shown = json.load(page)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)

    assert shown == {"now": "2026-04-14T06:00:00Z"}
    assert found["environment"]["GPUCOST_NOW"] == "2026-04-14T06:00:00Z"
    assert process.returncode == 0
