"""From bill and fleet to one answer, in the terminal and in Slack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.slack import SlackSandbox
from tests.e2e.conftest import Opens
from tests.e2e.support import Place, Served
from tests.e2e.world import ACCOUNT, JOB, NOW, company, later

READ_AGAIN = later(NOW, hours=6)


@pytest.fixture(scope="module")
def place(opens: Opens, aws: AwsSandbox, slack: SlackSandbox) -> Iterator[Place]:
    aws.reset(company())
    schedule = {"inventory": "7d", "prices": "7d", "policies": "7d"}
    with opens(slack, schedule=schedule) as opened:
        yield opened


@pytest.fixture(scope="module")
def served(place: Place, slack: SlackSandbox) -> Iterator[Served]:
    """Serve until it has read every source, and the bill twice."""
    running = place.serve().ready()
    running.tasks("ingest-inventory", "ingest-prices", "ingest-cost-explorer")
    place.set_clock(READ_AGAIN)
    running.task("ingest-cost-explorer", "2026-04-14T12:00:00+00:00")
    slack.wait_for(lambda: slack.connections, 30)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def figures(place: Place, served: Served) -> Any:
    return place.json("cost", JOB)


def test_job_costs_its_bill_and_the_running_time_after_it(figures: Any) -> None:
    # Days of over 72 hours, equal in two readings, are billed. After them, running time
    # stands for compute; storage, which no inventory times, is what the bill says so far.
    billed = 3 * (24 * 55.04 + 3.21)
    provisional = (3 * 24 + 12) * 55.04 + 3 * 3.21

    assert figures["billed"] == f"{billed:.2f}"
    assert figures["provisional"] == f"{provisional:.2f}"
    assert figures["total"] == f"{billed + provisional:.2f}"
    assert figures["billed_through"] == {ACCOUNT: "2026-04-11T00:00:00Z"}
    assert figures["stale"] == []


def test_slack_gives_the_same_figures_as_the_command_line(
    figures: Any, served: Served, slack: SlackSandbox
) -> None:
    asked = slack.command("mia", "gpu-costs", JOB)
    answer = asked.wait_answer(30)

    text = _text(answer)
    assert answer.text.startswith(f"{JOB}: ${float(figures['total']):,.2f}")
    assert f"${float(figures['billed']):,.2f} through 10 Apr" in text
    assert f"${float(figures['provisional']):,.2f} since then" in text
    assert asked.is_acked
    assert answer.ephemeral_to == "U0MIA"


def test_ack_comes_well_inside_three_seconds(
    served: Served, slack: SlackSandbox
) -> None:
    asked = slack.command("mia", "gpu-costs", JOB).wait_acked(30)

    assert asked.person_saw is None


def test_unknown_job_is_answered_with_the_nearest_name(
    served: Served, slack: SlackSandbox
) -> None:
    answer = slack.command("mia", "gpu-costs", "job-132").wait_answer(30)

    assert JOB in _text(answer)


def test_readiness_is_ok_while_every_source_is_fresh(served: Served) -> None:
    code, body = served.get("/readyz")

    assert code == 200
    assert '"status":"ok"' in body


def _text(message: Any) -> str:
    return str(message.blocks)
