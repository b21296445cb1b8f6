"""Digests and outages: what is to be said is said once, whatever falls over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.slack import SlackSandbox
from tests.e2e.conftest import Opens
from tests.e2e.support import Place, Served, until
from tests.e2e.world import APPROVALS, NEVER, company

PLACE = "gpu-costs"
LONG_S = 60.0
#: Mondays after NOW, a little after the digest's hour, and the weeks they tell about.
MONDAYS = {
    "2026-W16": "2026-04-20T09:10:00Z",
    "2026-W17": "2026-04-27T09:10:00Z",
    "2026-W18": "2026-05-04T09:10:00Z",
    "2026-W19": "2026-05-11T09:10:00Z",
    "2026-W20": "2026-05-18T09:10:00Z",
}
DIGEST = {"channel": "#gpu-costs", "every": "week", "at": "mon 09:00"}


@pytest.fixture(scope="module")
def place(opens: Opens, aws: AwsSandbox, slack: SlackSandbox) -> Iterator[Place]:
    """Lay out an installation that was up once, and has read the bill."""
    aws.reset(company())
    with opens(slack, policies=APPROVALS, schedule=NEVER, digests=[DIGEST]) as opened:
        first = opened.serve().ready()
        first.tasks("ingest-inventory", "ingest-prices", "ingest-cost-explorer")
        first.stop()
        yield opened


@pytest.fixture
def serves(place: Place, slack: SlackSandbox) -> Iterator[list[Served]]:
    """Collect what a test starts; whatever is left over ends with it."""
    started: list[Served] = []
    yield started
    slack.outage(on=False)
    slack.clear_faults()
    for one in started:
        one.kill()


def start(place: Place, serves: list[Served]) -> Served:
    running = place.serve()
    serves.append(running)
    return running


def digests(slack: SlackSandbox, week: str) -> list[Any]:
    """Return the digests of a week that stand in the channel, not in a thread."""
    return [
        one
        for one in slack.messages(PLACE)
        if week in one.text + str(one.blocks[:1]) and not one.is_reply
    ]


def arrived(slack: SlackSandbox, week: str) -> list[Any]:
    return slack.wait_for(lambda: digests(slack, week), LONG_S)


def test_digest_due_while_down_is_sent_once(
    place: Place, slack: SlackSandbox, serves: list[Served]
) -> None:
    place.set_clock(MONDAYS["2026-W16"])
    first = start(place, serves).ready()
    arrived(slack, "2026-W16")
    first.settled()
    first.stop()

    again = start(place, serves).ready()
    again.wait_log("slack_connected")
    again.settled()

    assert len(digests(slack, "2026-W16")) == 1


def test_outage_of_slack_delays_and_doubles_nothing(
    place: Place, slack: SlackSandbox, serves: list[Served]
) -> None:
    running = start(place, serves).ready()
    running.wait_log("slack_connected")
    slack.outage(on=True)
    place.set_clock(MONDAYS["2026-W17"])
    running.wait_log("digest_queued")
    until(lambda: running.logs("slack_effect_unsure"), "a try")
    held = running.waiting()

    slack.outage(on=False)
    running.kill()
    again = start(place, serves).ready()
    arrived(slack, "2026-W17")
    again.settled()

    assert held > 0
    assert len(digests(slack, "2026-W17")) == 1


def test_service_starts_while_slack_is_away(
    place: Place, slack: SlackSandbox, serves: list[Served]
) -> None:
    slack.outage(on=True)
    place.set_clock(MONDAYS["2026-W18"])
    running = start(place, serves).ready()
    running.wait_log("digest_queued")

    slack.outage(on=False)
    arrived(slack, "2026-W18")
    running.settled()

    assert len(digests(slack, "2026-W18")) == 1


# The answer is lost after the post was made: nobody knows, so somebody looks.
def test_post_whose_answer_was_lost_is_not_made_again(
    place: Place, slack: SlackSandbox, serves: list[Served]
) -> None:
    slack.fault("drop_after", "chat.postMessage")
    place.set_clock(MONDAYS["2026-W19"])
    running = start(place, serves).ready()
    running.wait_log("slack_effect_unsure")
    unsure = slack.messages(PLACE)[-1]

    running.kill()
    again = start(place, serves).ready()
    again.wait_log("slack_effect_found")
    arrived(slack, "2026-W19")
    again.settled()

    told = [one.text for one in slack.messages(PLACE)]
    assert told.count(unsure.text) == 1
    assert len(digests(slack, "2026-W19")) == 1


def test_process_killed_while_it_posts_does_not_post_twice(
    place: Place, slack: SlackSandbox, serves: list[Served]
) -> None:
    slack.fault("delay", "chat.postMessage", delay_s=1.0)
    place.set_clock(MONDAYS["2026-W20"])
    running = start(place, serves).ready()
    running.wait_log("digest_queued")
    until(
        lambda: running.metric('gpucost_outbox_rows{state="sending"}'),
        "a post under way",
    )

    running.kill()
    again = start(place, serves).ready()
    arrived(slack, "2026-W20")
    again.settled()

    assert len(digests(slack, "2026-W20")) == 1
