from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from deploy.sandbox.company import company_world
from deploy.sandbox.demo.children import Child, DemoError, wait_until
from deploy.sandbox.demo.files import write_files
from deploy.sandbox.demo.screen import WIDTH, Screen
from deploy.sandbox.demo.show import MONDAY

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "deploy.sandbox.demo"]
#: A busy machine of two cores; an idle one needs a fifth of it.
PATIENCE_S = 240


def demo_environment(folder: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    # Nothing of the person's own setup may reach the demo.
    hostile = {
        "AWS_PROFILE": "production",
        "AWS_ENDPOINT_URL_S3": "https://s3.example.invalid",
        "HTTPS_PROXY": "http://127.0.0.1:1",
        "SLACK_BOT_TOKEN": "xoxb-planted-real-token",
        "GPUCOST_DATABASE_URL": "sqlite:////nowhere/else.db",
    }
    return kept | hostile | {"TMPDIR": str(folder)}


def billed_since(day: date) -> Decimal:
    """Return what the company's bill shows on Monday morning from a day on."""
    lines = company_world(MONDAY).costs
    return sum(
        (
            Decimal(one.amounts()["NetUnblendedCost"])
            for one in lines
            if one.day >= day and one.visible(MONDAY)
        ),
        Decimal(0),
    )


def left_over(folder: Path) -> list[str]:
    """Return commands of processes that still work in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            environment = path.with_name("environ").read_bytes()
            command = path.read_bytes()
        except OSError:
            continue
        if str(folder).encode() in environment and command:
            found.append(command.replace(b"\0", b" ").decode())
    return found


def test_the_demo_shows_everything_once_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND,
        cwd=ROOT,
        env=demo_environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    shown = done.stdout
    assert done.returncode == 0, shown + done.stderr
    assert done.stderr == ""
    figures = (
        r"cost-explorer.*012345678901",
        r"charges, {0}; AWS's own total {0};".format(
            re.escape(f"${billed_since(date(2026, 11, 27)):,.2f}")
        ),
        # job-123: 4 x 98 h at $55.04 through Saturday, and what goes with it; then its
        # running time at the 82.4 % of list price that the last bills show.
        r"\$29,051\.73 from 1 Nov",
        r"Billed by AWS +Provisional",
        r"\$23,015\.16 through 28 Nov +\$6,036\.57",
        r"compute +\$28,435\.12",
        r"Approval needed: up to \$47,554\.56",
        r"you asked for this, so somebody else must",
        r"Approved by @jonas",
        r"Idle GPUs: job-118",
        r"GPU costs 2026-W48",
    )
    positions = [match.start() if (match := re.search(one, shown)) else -1
                 for one in figures]  # fmt: skip
    assert -1 not in positions, (figures[positions.index(-1)], shown)
    assert positions == sorted(positions)
    assert "xoxb" not in shown
    assert "\x1b" not in shown
    assert [one for one in shown.splitlines() if len(one) > WIDTH] == []
    assert left_over(tmp_path) == []
    assert list(tmp_path.glob("gpucost-demo-*")) == []


def test_sigterm_in_the_middle_stops_every_process(tmp_path: Path) -> None:
    with subprocess.Popen(
        COMMAND,
        cwd=ROOT,
        env=demo_environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as demo:
        deadline = time.monotonic() + PATIENCE_S
        assert demo.stdout is not None
        for line in demo.stdout:
            assert time.monotonic() < deadline
            if "The bill and the fleet" in line:
                break
        assert left_over(tmp_path)

        demo.send_signal(signal.SIGTERM)
        rest, _ = demo.communicate(timeout=PATIENCE_S)

    assert demo.returncode == 143, rest
    assert left_over(tmp_path) == []
    assert list(tmp_path.glob("gpucost-demo-*")) == []


def test_a_child_that_dies_ends_the_wait_with_its_last_words(tmp_path: Path) -> None:
    child = Child(
        name="broken",
        command=[sys.executable, "-c", "print('no such schema'); raise SystemExit(3)"],
        folder=tmp_path,
        environment=dict(os.environ),
    )
    child.start()

    with pytest.raises(DemoError, match=r"(?s)broken ended.*code 3.*no such schema"):
        wait_until("never", lambda: False, children=[child], timeout_s=60)


def test_what_does_not_happen_in_time_is_named() -> None:
    with pytest.raises(DemoError, match="the moon did not happen within 0 s"):
        wait_until("the moon", lambda: False, children=[], timeout_s=0)


def test_the_company_wrote_a_valid_configuration_and_policies(tmp_path: Path) -> None:
    from bot.settings import load_settings
    from policies.load import load_policies

    config, policies = write_files(tmp_path)

    assert load_settings(str(config)).config.aws.accounts == ("012345678901",)
    found, errors = load_policies((policies,))
    assert errors == ()
    assert {one.kind for one in found} == {
        *("approval", "idle", "ttl", "checkpoint-retention", "commitment-coverage"),
    }


def test_only_a_terminal_gets_colours() -> None:
    plain, coloured = io.StringIO(), io.StringIO()
    Screen(plain).part("title")
    Screen(coloured, has_colour=True).part("title")

    assert "\x1b" not in plain.getvalue()
    assert coloured.getvalue().startswith("\n\x1b[1m")
