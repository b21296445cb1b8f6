"""Estimates, requests, waiting and grants over HTTP."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from bot.api import v1
from bot.use_cases.approvals_voting import Ballot
from bot.use_cases.tokens import Scope
from bot.wiring.people import known_person
from policies.core.approvals import Verdict
from tests.builders_http import RUN, SMALL, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.builders_http import Site

ASK = RUN | {"reason": "pretraining"}


@pytest.fixture
def quick(unserved: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Serve a site that looks for decisions often, and lets one request wait."""
    monkeypatch.setattr(v1, "LOOK_AGAIN_S", 0.02)
    monkeypatch.setattr(v1, "WAITS_MAX", 1)
    with served(unserved) as found:
        yield found


def _approve(site: Site, request_id: str, verdict: Verdict = Verdict.APPROVE) -> None:
    desk = site.application.desk
    ballot = Ballot(
        request_id=request_id,
        version=None,
        voter=known_person(desk.directory, "ada@example.com"),
        verdict=verdict,
    )
    assert not desk.vote(ballot).refused


def test_an_estimate_is_that_of_the_command(site: Site) -> None:
    reply = site.post("/v1/estimates", RUN, token=site.token(Scope.ESTIMATES))

    assert reply.status == 200
    assert reply.json["schema"] == 1
    assert reply.json["compute"] == "31703.04"
    assert reply.json["approval"]["policy"] == "approve-large-runs"


def test_a_type_with_a_typing_error_is_told_the_near_ones(site: Site) -> None:
    reply = site.post(
        "/v1/estimates", RUN | {"instance_type": "p5.48xlarg"}, token=site.token()
    )

    assert (reply.status, reply.code) == (422, "bad_plan")
    assert "p5.48xlarge" in reply.json["error"]["suggestions"]


def test_the_caller_is_recorded_beside_the_requester(any_site: Site) -> None:
    token = any_site.token(Scope.APPROVALS_REQUEST, email="ci@example.com")

    reply = any_site.post(
        "/v1/approvals", ASK | {"requester": "mia@example.com"}, token=token
    )

    assert reply.status == 200
    assert reply.json["state"] == "pending"
    assert (reply.json["requester"], reply.json["caller"]) == (
        "mia@example.com",
        "ci@example.com",
    )


def test_without_a_requester_it_is_the_tokens_person(site: Site) -> None:
    token = site.token(Scope.APPROVALS_REQUEST, email="mia@example.com")

    reply = site.post("/v1/approvals", ASK, token=token)

    assert reply.json["requester"] == reply.json["caller"] == "mia@example.com"


def test_the_same_request_again_is_one(site: Site) -> None:
    token = site.token()

    first, again = (site.post("/v1/approvals", ASK, token=token) for _ in range(2))

    assert first.json["id"] == again.json["id"]


def test_what_nobody_needs_to_approve_comes_back_approved_with_its_grant(
    site: Site,
) -> None:
    token = site.token()

    filed = site.post("/v1/approvals", SMALL | {"reason": "a test"}, token=token)

    assert filed.json["state"] == "approved"
    check = SMALL | {"grant": filed.json["grant"]}
    assert site.post("/v1/approvals/check", check, token=token).json == {
        "schema": 1,
        "covered": True,
        "reason": None,
    }


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"job": "other"}, "job"),
        ({"count": 2}, "instances"),
        ({"grant": "x.y.z"}, "signed"),
    ],
)
def test_a_grant_that_does_not_cover_says_why(
    site: Site, change: dict[str, object], why: str
) -> None:
    token = site.token()
    filed = site.post("/v1/approvals", SMALL | {"reason": "a test"}, token=token)

    reply = site.post(
        "/v1/approvals/check",
        SMALL | {"grant": filed.json["grant"]} | change,
        token=token,
    )

    assert reply.status == 200
    assert reply.json["covered"] is False
    assert why in reply.json["reason"]


def test_waiting_ends_with_the_decision(any_site: Site) -> None:
    token = any_site.token()
    filed = any_site.post("/v1/approvals", ASK, token=token)
    waiting = threading.Timer(0.1, _approve, (any_site, filed.json["id"]))
    waiting.start()

    began = time.monotonic()
    reply = any_site.get(f"/v1/approvals/{filed.json['id']}?wait=30", token=token)
    waiting.join(30)

    assert reply.json["state"] == "approved"
    assert reply.json["grant"]
    assert time.monotonic() - began < 25


def test_waiting_ends_when_the_time_is_up(site: Site) -> None:
    token = site.token()
    filed = site.post("/v1/approvals", ASK, token=token)

    reply = site.get(f"/v1/approvals/{filed.json['id']}?wait=1", token=token)

    assert (reply.status, reply.json["state"]) == (200, "pending")


def test_many_may_wait_while_others_are_answered(site: Site) -> None:
    token = site.token()
    request_id = site.post("/v1/approvals", ASK, token=token).json["id"]
    states: list[str] = []

    def wait() -> None:
        reply = site.get(f"/v1/approvals/{request_id}?wait=30", token=token)
        states.append(reply.json["state"])

    waiting = [threading.Thread(target=wait) for _ in range(3 * v1.THREADS)]
    for one in waiting:
        one.start()
    # All threads of the pool would be taken if waiting held one.
    assert site.post("/v1/estimates", SMALL, token=token).status == 200
    _approve(site, request_id, Verdict.APPROVE)
    for one in waiting:
        one.join(30)

    assert states == ["approved"] * len(waiting)


def test_more_than_may_wait_are_told_to_come_back(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(v1, "WAITS_MAX", 0)
    token = site.token()
    request_id = site.post("/v1/approvals", ASK, token=token).json["id"]

    reply = site.get(f"/v1/approvals/{request_id}?wait=5", token=token)

    assert (reply.status, reply.code) == (429, "too_many_waits")


def test_a_client_that_goes_away_waits_no_more(quick: Site) -> None:
    token = quick.token()
    request_id = quick.post("/v1/approvals", ASK, token=token).json["id"]
    path = f"/v1/approvals/{request_id}?wait=60"
    head = f"GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", quick.port)) as gone:
        gone.sendall(head.encode())
        ends = time.monotonic() + 30
        while quick.get(path.replace("60", "1"), token=token).status != 429:
            assert time.monotonic() < ends, "it never waited"

    # Its place is free again once it is seen to have gone.
    while quick.get(path.replace("60", "1"), token=token).status == 429:
        assert time.monotonic() < ends, "its place was never free"


@pytest.mark.parametrize(
    "path",
    ["apr-0000000000", "apr-1'%20or%201=1", "%2e%2e", "x" * 500],
    ids=["unknown", "sql", "dots", "long"],
)
def test_a_request_that_is_none_is_not_found(site: Site, path: str) -> None:
    reply = site.get(f"/v1/approvals/{path}", token=site.token())

    assert (reply.status, reply.code) == (404, "unknown_request")


@pytest.mark.parametrize("wait", ["-1", "61", "x", "1e9"])
def test_a_wait_outside_its_bounds_is_refused(site: Site, wait: str) -> None:
    reply = site.get(f"/v1/approvals/apr-0000000000?wait={wait}", token=site.token())

    assert (reply.status, reply.code) == (422, "bad_request")
