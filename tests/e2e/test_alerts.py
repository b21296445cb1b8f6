"""Idle GPUs are told to their owner once; what is not known is told to nobody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.slack import SlackSandbox
from tests.e2e.conftest import Opens
from tests.e2e.support import Place, Served
from tests.e2e.world import IDLE, JOB, NEVER, NOW, company, gpu_series, later, node

HOSTILE = "<!channel>"
PLACE = "gpu-costs"
LONG_S = 30.0
FIVE, TEN, FIFTEEN = (later(NOW, minutes=minutes) for minutes in (5, 10, 15))


@pytest.fixture(scope="module")
def place(opens: Opens, aws: AwsSandbox, slack: SlackSandbox) -> Iterator[Place]:
    """Lay out a busy job, an idle one, one without metrics and a hostile one."""
    aws.reset(
        company(
            costs=[],
            instances=[
                node(1, job_id=JOB, owner="ada@example.com"),
                node(2, job_id="idle-9", owner="mia@example.com"),
                node(3, job_id="silent-9", owner="mia@example.com"),
                node(4, job_id=HOSTILE, owner="<!here>"),
            ],
            metrics=[
                *gpu_series(1, value=93),
                *gpu_series(2, value=0),
                *gpu_series(4, value=0),
            ],
        )
    )
    schedule = NEVER | {"policies": "5m"}
    with opens(slack, policies=IDLE, schedule=schedule) as opened:
        opened.skip_first_reads()
        opened.json("ingest", "--source", "inventory")
        yield opened


@pytest.fixture(scope="module")
def served(place: Place, slack: SlackSandbox) -> Iterator[Served]:
    """Serve until the policies were evaluated three times."""
    running = place.serve().ready()
    running.wait_log("policies_evaluated")
    for step, instant in enumerate((FIVE, TEN), start=2):
        place.set_clock(instant)
        running.wait_log("policies_evaluated", step)
    running.settled()
    yield running
    running.stop()


def told(slack: SlackSandbox, job: str) -> list[Any]:
    return [one for one in slack.messages(PLACE) if job in str(one.blocks)]


def test_idle_instance_is_told_to_its_owner_once(
    served: Served, slack: SlackSandbox
) -> None:
    (alert,) = told(slack, "idle-9")

    assert "<@U0MIA>" in str(alert.blocks)
    assert "8 GPUs" in str(alert.blocks)
    assert "$1,320.96" in str(alert.blocks)


def test_busy_instance_is_not_told(served: Served, slack: SlackSandbox) -> None:
    assert told(slack, JOB) == []


def test_unknown_metrics_are_not_idle(served: Served, slack: SlackSandbox) -> None:
    assert told(slack, "silent-9") == []


# C098 and its like: tags are text of strangers
def test_mention_in_a_tag_rings_nobody(served: Served, slack: SlackSandbox) -> None:
    (alert,) = told(slack, "&lt;!channel&gt;")
    rung = [mention for one in slack.rings for mention in one.rings]

    assert "&lt;!here&gt;" in str(alert.blocks)
    assert {mention.target for mention in rung} == {"U0MIA"}


def test_pause_and_resume_are_seen_by_the_running_service(
    served: Served, place: Place
) -> None:
    paused = place.json("pause", "--reason", "maintenance")
    during = served.get("/readyz")[1]
    place.json("resume")
    after = served.get("/readyz")[1]

    assert paused["paused"] is True
    assert '"paused":true' in during
    assert '"paused":false' in after


# Last: the fleet changes.
def test_terminated_instance_resolves_its_alert(
    served: Served, slack: SlackSandbox, place: Place, aws: AwsSandbox
) -> None:
    aws.client("ec2").terminate_instances(InstanceIds=[node(2).id])
    place.json("ingest", "--source", "inventory")
    place.set_clock(FIFTEEN)
    served.wait_log("policies_evaluated", 4)
    served.settled()

    (alert,) = told(slack, "idle-9")
    assert alert.text == "Resolved: Idle GPUs: idle-9"
