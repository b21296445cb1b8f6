"""Starting and stopping: one `serve` on one file, ten seconds to stop, no secret told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.slack import SlackSandbox
from tests.e2e.conftest import Opens
from tests.e2e.support import CANARIES, Place, Served, until
from tests.e2e.world import NEVER, company

#: What a stop may take; the SDK's own socket read takes up to three.
STOP_S_MAX = 10.0


@pytest.fixture(scope="module")
def place(opens: Opens, aws: AwsSandbox, slack: SlackSandbox) -> Iterator[Place]:
    aws.reset(company())
    with opens(slack, schedule=NEVER) as opened:
        yield opened


@pytest.fixture(scope="module")
def served(place: Place) -> Iterator[Served]:
    """Serve on a file whose reads are done."""
    place.skip_first_reads()
    running = place.serve().ready()
    yield running
    running.kill()


@pytest.fixture
def reading(opens: Opens, aws: AwsSandbox, slack: SlackSandbox) -> Iterator[Served]:
    """Serve until a child waits for an AWS that answers slowly."""
    aws.faults.add(kind="delay", service="ce", times=1, seconds=20.0)
    with opens(slack, schedule=NEVER) as place:
        running = place.serve().ready()
        try:
            until(lambda: not aws.faults.active(), "a child that reads")
            yield running
        finally:
            running.kill()
            aws.faults.clear()


def test_service_stops_in_time_while_a_child_reads(reading: Served) -> None:
    reading.wait_log("slack_connected")

    code, took_s = reading.stop()

    assert code == 0
    assert reading.logs("stopped")
    assert took_s < STOP_S_MAX
    given_back = {one["task"] for one in reading.logs("task_stopped")}
    assert "ingest-cost-explorer" in given_back


def test_second_service_on_the_same_file_is_refused(
    served: Served, place: Place
) -> None:
    second = place.run("serve")

    assert second.code == 1
    assert "another `gpucost serve` uses" in second.err
    assert str(served.child.pid) in second.err
    assert served.get("/healthz")[0] == 200


def test_taken_port_ends_the_second_installation_with_a_reason(
    served: Served, opens: Opens, slack: SlackSandbox
) -> None:
    with opens(slack, schedule=NEVER, http={"port": served.port}) as other:
        ran = other.run("serve")

    assert ran.code == 1
    assert (
        f"cannot listen on 127.0.0.1:{served.port}: address already in use" in ran.err
    )


def test_refused_token_ends_the_service_with_a_reason(
    opens: Opens, aws: AwsSandbox, slack: SlackSandbox
) -> None:
    slack.revoke_token()
    try:
        with opens(slack, schedule=NEVER) as other:
            ran = other.run("serve")
    finally:
        slack.revoke_token(None)

    assert ran.code == 1
    assert "Slack refused the token: token_revoked" in ran.err


def test_doctor_tells_no_secret(place: Place) -> None:
    ran = place.run("doctor", "--format", "json")

    assert {one["name"] for one in ran.json["checks"]} >= {"AWS credentials", "clock"}
    assert [
        key for key, secret in CANARIES.items() if secret in ran.out + ran.err
    ] == []


# R2 of the reliability list; every other module checks its own output when it ends.
def test_no_secret_is_in_anything_that_was_printed(place: Place) -> None:
    printed = "".join(path.read_text("utf-8") for path in place.printed)

    assert "serving" in printed
    assert place.leaks() == []
