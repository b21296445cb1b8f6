"""`gpucost run` waits for a click in Slack, and starts its command or does not."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.views.approval_buttons import APPROVE, DENY, WORDS
from bot.wiring.people import os_user
from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.slack import SlackSandbox
from tests.e2e.conftest import Opens
from tests.e2e.support import PATIENCE_S, Place, Served, until
from tests.e2e.world import APPROVALS, NEVER, SHAPE, company

CHANNEL = "gpu-approvals"


@pytest.fixture(scope="module")
def place(opens: Opens, aws: AwsSandbox, slack: SlackSandbox) -> Iterator[Place]:
    aws.reset(company(costs=[], instances=[], metrics=[]))
    who = {"identities": {os_user(): "mia@example.com"}}
    with opens(slack, policies=APPROVALS, schedule=NEVER, approvals=who) as opened:
        opened.skip_first_reads()
        yield opened


@pytest.fixture(scope="module")
def served(place: Place, slack: SlackSandbox) -> Iterator[Served]:
    running = place.serve().ready()
    slack.wait_for(lambda: slack.connections, PATIENCE_S)
    yield running
    running.stop()


def starts(place: Place, job: str, script: str) -> subprocess.Popen[bytes]:
    envelope = ("--instance-type", SHAPE, "--count", "32", "--hours", "72")
    return place.start("run", "--job", job, *envelope, "--", "sh", "-c", script)


def card(slack: SlackSandbox, job: str) -> Any:
    def found() -> list[Any]:
        return [one for one in slack.messages(CHANNEL) if job in str(one.blocks)]

    (message,) = slack.wait_for(found, PATIENCE_S)
    return message


def last_line(place: Place) -> str:
    """Return the last line on stderr of the newest command."""
    return place.printed[-1].read_text("utf-8").strip().splitlines()[-1]


def test_a_run_starts_when_somebody_approves_it(
    served: Served, slack: SlackSandbox, place: Place, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    waiting = starts(place, "train-1", f"echo $GPUCOST_GRANT > {mark}; exit 7")
    message = card(slack, "train-1")
    before = mark.exists()

    slack.click("ada", message, APPROVE).wait_acked(PATIENCE_S)

    assert waiting.wait(PATIENCE_S) == 7
    assert not before
    assert mark.read_text("utf-8").startswith("eyJ")


def test_a_run_that_is_denied_never_starts(
    served: Served, slack: SlackSandbox, place: Place, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    waiting = starts(place, "train-2", f"touch {mark}")

    asked, why = card(slack, "train-2"), {WORDS: "there is no budget left"}
    slack.click("omar", asked, DENY, written=why).wait_acked(PATIENCE_S)

    assert waiting.wait(PATIENCE_S) == 3
    assert last_line(place).startswith("gpucost: not started: apr-")
    assert last_line(place).endswith("is denied")
    assert not mark.exists()


def test_a_scheduler_that_ends_the_run_ends_its_command(
    served: Served, slack: SlackSandbox, place: Place, tmp_path: Path
) -> None:
    """The command saves its checkpoint on TERM and says so by its own exit code."""
    mark = tmp_path / "mark"
    script = f"trap 'exit 5' TERM; touch {mark}; while :; do sleep 0.05; done"
    running = starts(place, "train-3", script)
    slack.click("ada", card(slack, "train-3"), APPROVE).wait_acked(PATIENCE_S)
    until(mark.exists, "the command")

    running.send_signal(signal.SIGTERM)

    assert running.wait(PATIENCE_S) == 5
