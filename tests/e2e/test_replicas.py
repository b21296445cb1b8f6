"""The main path on PostgreSQL, with two replicas: every effect once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text

from bot.views.approval_buttons import APPROVE, DENY
from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.slack import SlackSandbox
from tests.conftest import POSTGRES, POSTGRES_MISSING
from tests.e2e.conftest import Opens
from tests.e2e.support import Place, Served, free_port
from tests.e2e.test_approvals import card, decided, has_buttons
from tests.e2e.test_delivery import DIGEST, MONDAYS, arrived, digests
from tests.e2e.world import APPROVALS, JOB, NEVER, company

pytestmark = pytest.mark.postgres
LONG_S = 30.0


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Make an empty database for this module and drop it afterwards."""
    server = os.environ.get(POSTGRES)
    if not server:
        pytest.skip(POSTGRES_MISSING)
    name = f"gpucost_e2e_{uuid4().hex}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    engine.dispose()


@pytest.fixture(scope="module")
def replicas(
    opens: Opens, aws: AwsSandbox, slack: SlackSandbox, url: str
) -> Iterator[tuple[Place, Served, Served]]:
    """Serve twice on one database; each reads and sends what comes first to it."""
    aws.reset(company())
    with opens(slack, policies=APPROVALS, schedule=NEVER, digests=[DIGEST]) as place:
        place.environment["GPUCOST_DATABASE_URL"] = url
        place.json("ingest")
        first = place.serve().ready()
        place.port = free_port()
        config = place.config.read_text("utf-8").replace(
            str(first.port), str(place.port)
        )
        place.config.write_text(config, encoding="utf-8")
        second = place.serve().ready()
        for one in (first, second):
            one.wait_log("slack_connected")
        yield place, first, second
        for one in (first, second):
            one.stop()


def test_both_answer_the_same_figures(replicas: Any, slack: SlackSandbox) -> None:
    place = replicas[0]
    figures = place.json("cost", JOB)

    answers = {
        slack.command("mia", "gpu-costs", JOB).wait_answer(LONG_S).text
        for _ in range(4)
    }

    (text_,) = answers
    assert text_.startswith(f"{JOB}: ${float(figures['total']):,.2f}")


def test_replicas_decide_a_request_once(replicas: Any, slack: SlackSandbox) -> None:
    message = card(slack, "both-9")
    clicks = [
        slack.click(who, message, verb)
        for who, verb in (("ada", APPROVE), ("omar", DENY)) * 2
    ]
    slack.wait_for(lambda: not has_buttons(message), LONG_S)
    slack.wait_for(lambda: sum(len(one.responses) for one in clicks) == 3, LONG_S)

    word = message.text.partition(":")[0]
    decided(slack, message, word)
    assert word in {"Approved", "Denied"}
    assert len(message.versions) == 1


def test_scheduled_digest_is_sent_by_one_of_them(
    replicas: Any, slack: SlackSandbox
) -> None:
    place, *both = replicas
    place.set_clock(MONDAYS["2026-W16"])
    arrived(slack, "2026-W16")
    for one in both:
        one.settled()

    queued = [entry for one in both for entry in one.logs("digest_queued")]
    assert len(queued) == 1
    assert len(digests(slack, "2026-W16")) == 1


def test_scheduled_reads_ran_once(replicas: Any) -> None:
    _, *both = replicas
    ran = sorted(
        entry["task"]
        for one in both
        for entry in one.logs("task_finished")
        if entry["task"].startswith("ingest-")
    )

    assert ran == [
        "ingest-cost-explorer",
        "ingest-inventory",
        "ingest-metrics",
        "ingest-prices",
    ]
