"""Slack over HTTP: what Slack signed is answered, everything else is refused unread."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.slack import SlackSandbox
from deploy.sandbox.slack.http_mode import FORM, signed_headers
from tests.e2e.conftest import Opens
from tests.e2e.support import CANARIES, Place, Served, until
from tests.e2e.world import APPROVALS, JOB, NEVER, NOW, company, later

EVENTS = "/slack/events"
SECRET = CANARIES["SLACK_SIGNING_SECRET"]
LONG_S = 30.0
DEEP = b"[" * 30_000 + b"]" * 30_000


@pytest.fixture(scope="module")
def place(opens: Opens, aws: AwsSandbox, slack: SlackSandbox) -> Iterator[Place]:
    aws.reset(company())
    schedule = NEVER | {"cost_explorer": "7d"}
    names = {"alerts": "#gpu-costs", "approvals": "#gpu-approvals", "mode": "http"}
    with opens(slack, slack=names, policies=APPROVALS, schedule=schedule) as opened:
        yield opened


@pytest.fixture(scope="module")
def served(place: Place, slack: SlackSandbox) -> Iterator[Served]:
    slack.use_http(f"http://127.0.0.1:{place.port}{EVENTS}")
    running = place.serve().ready()
    running.tasks("ingest-inventory", "ingest-prices", "ingest-cost-explorer")
    yield running
    running.stop()


def post(served: Served, body: bytes, headers: Mapping[str, str]) -> int:
    kind = "application/json" if body.startswith(b"[") else FORM
    return served.ask("POST", EVENTS, body, {"content-type": kind} | dict(headers))[0]


def signed(body: bytes, *, secret: str = SECRET, age_s: int = 0) -> dict[str, str]:
    return signed_headers(secret, body, timestamp_s=int(time.time()) - age_s)


def test_signed_command_is_answered(served: Served, slack: SlackSandbox) -> None:
    asked = slack.command("mia", "gpu-costs", JOB)
    answer = asked.wait_answer(LONG_S)

    assert asked.is_acked
    assert answer.text.startswith(f"{JOB}: $")


COMMAND = urlencode({"command": "/gpucost", "text": JOB, "user_id": "U0MIA"}).encode()


@pytest.mark.parametrize(
    ("changes", "edited"),
    [
        pytest.param({"secret": "guess"}, b"", id="forged"),
        pytest.param({}, b"x", id="edited"),
        pytest.param({"age_s": 400}, b"", id="stale"),
        pytest.param({"age_s": -400}, b"", id="from-the-future"),
    ],
)
def test_request_that_slack_did_not_sign_is_refused(
    served: Served, changes: dict[str, Any], edited: bytes
) -> None:
    assert post(served, COMMAND + edited, signed(COMMAND, **changes)) == 401
    assert post(served, COMMAND, {}) == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(b"x" * 70_000, 413, id="oversized"),
        # C160
        pytest.param(DEEP, 400, id="deep"),
        pytest.param(b"payload=" + DEEP, 400, id="deep-click"),
        pytest.param(b"\xff\xfe\x00", 400, id="no-text"),
    ],
)
def test_signed_nonsense_is_refused(served: Served, body: bytes, status: int) -> None:
    assert post(served, body, signed(body)) == status
    assert served.get("/healthz") == (200, '{"status":"ok"}')


# C160: beyond the limit of size the depth does not matter, signed or not
def test_body_of_a_hundred_thousand_levels_is_refused_by_its_size(
    served: Served,
) -> None:
    body = b"[" * 100_000 + b"]" * 100_000

    assert post(served, body, signed(body)) == 413
    assert served.get("/healthz")[0] == 200


def test_metrics_tell_ages_requests_and_the_outbox(served: Served) -> None:
    age = served.metric(
        'gpucost_source_age_seconds{account="123456789012",source="cost-explorer"}'
    )

    assert age == 0.0
    assert (served.metric("gpucost_aws_requests_today") or 0) >= 2
    assert served.metric("gpucost_paused") == 0.0


# Last: the clock moves on, to a bill that cannot be read any more.
def test_readiness_names_what_is_stale(
    served: Served, place: Place, aws: AwsSandbox
) -> None:
    fresh = served.get("/readyz")
    aws.faults.add(kind="deny", service="ce")
    place.set_clock(later(NOW, days=7))

    code, body = until(lambda: _degraded(served), "a failed read that is told")

    assert fresh == (200, '{"status":"ok","reasons":[],"paused":false}')
    assert code == 200
    assert "cost-explorer 123456789012: " in body
    assert "AccessDenied" in body


def _degraded(served: Served) -> tuple[int, str] | None:
    code, body = served.get("/readyz")
    return (code, body) if '"status":"degraded"' in body else None
