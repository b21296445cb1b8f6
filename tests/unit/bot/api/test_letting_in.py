"""Who is let in: tokens, scopes, rates, sizes; and what never reaches a log."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from bot.api import v1
from bot.api.limits import RateLimit
from bot.clock import system_now
from bot.use_cases.tokens import Scope, revoke_token
from tests.builders_http import RUN, SMALL, served

if TYPE_CHECKING:
    from tests.builders_http import Site

ESTIMATES = "/v1/estimates"


def test_without_a_token_nothing_is_answered(site: Site) -> None:
    reply = site.post(ESTIMATES, SMALL)

    assert (reply.status, reply.code) == (401, "invalid_token")
    assert reply.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "token",
    ["", "x", "gpucost_0123456789_" + "0" * 64, "gpucost_é", "Bearer " * 200],
    ids=["empty", "short", "unknown", "not ascii", "long"],
)
def test_what_is_no_token_is_refused(site: Site, token: str) -> None:
    reply = site.ask(
        "POST",
        ESTIMATES,
        SMALL,
        authorization=f"Bearer {token}".encode().decode("latin-1"),
    )

    assert (reply.status, reply.code) == (401, "invalid_token")


def test_the_right_id_with_a_wrong_secret_is_refused(site: Site) -> None:
    token = site.token(Scope.ESTIMATES)

    reply = site.post(
        ESTIMATES, SMALL, token=token[:-1] + ("0" if token[-1] != "0" else "1")
    )

    assert (reply.status, reply.message) == (401, "this token is not known")


def test_a_token_that_is_over_is_refused(site: Site) -> None:
    past = system_now() - timedelta(hours=2)
    token = site.token(now=past, expires_at=past + timedelta(hours=1))

    assert site.post(ESTIMATES, SMALL, token=token).status == 401


def test_a_revoked_token_is_refused_at_once(site: Site) -> None:
    token = site.token()
    assert site.post(ESTIMATES, SMALL, token=token).status == 200
    revoke_token(
        site.application.store, token.split("_")[1], by="p-1", now=system_now()
    )

    reply = site.post(ESTIMATES, SMALL, token=token)

    assert reply.status == 401
    assert "revoked" in reply.message


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        (Scope.ESTIMATES, "POST", "/v1/estimates"),
        (Scope.APPROVALS_REQUEST, "POST", "/v1/approvals"),
        (Scope.APPROVALS_READ, "GET", "/v1/approvals/apr-0000000000"),
        (Scope.GRANTS_CHECK, "POST", "/v1/approvals/check"),
        (Scope.PLACEMENTS_WRITE, "POST", "/v1/jobs/job-1/placements"),
        (Scope.PROGRESS_WRITE, "POST", "/v1/jobs/job-1/progress"),
        (Scope.COSTS_READ, "GET", "/v1/costs/jobs/job-1"),
        (Scope.ADMISSION, "POST", "/v1/admission/skypilot"),
    ],
)
def test_every_route_wants_its_own_scope(
    site: Site, scope: Scope, method: str, path: str
) -> None:
    others = site.token(*(one for one in Scope if one is not scope))

    reply = site.ask(method, path, b"{}", token=others)

    assert (reply.status, reply.code) == (403, "missing_scope")
    assert scope.value in reply.message


def test_a_body_over_the_limit_is_not_read_to_its_end(site: Site) -> None:
    token = site.token()

    exact = site.post(ESTIMATES, b" " * v1.BODY_BYTES_MAX, token=token)
    over = site.post(ESTIMATES, b" " * (v1.BODY_BYTES_MAX + 1), token=token)

    assert (exact.status, over.status, over.code) == (422, 413, "too_large")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"count": 0}, "count"),
        ({"count": "8"}, "count"),
        ({"count": True}, "count"),
        ({"hours": None}, "hours"),
        ({"hours": True}, "hours"),
        ({"hours": "1e999999999"}, "hours"),
        ({"nodes": 4}, "nodes"),
        ({"instance_type": ""}, "instance_type"),
    ],
    ids=str,
)
def test_a_wrong_body_names_the_field(site: Site, change: Any, field: str) -> None:
    reply = site.post(ESTIMATES, SMALL | change, token=site.token())

    assert reply.status == 422
    assert field in reply.message


def test_everything_wrong_with_a_body_is_told_at_once(site: Site) -> None:
    reply = site.post(ESTIMATES, {"count": 0, "hours": []}, token=site.token())

    assert all(name in reply.message for name in ("count", "hours", "instance_type"))


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 60_000])
def test_what_is_no_json_object_is_refused(site: Site, body: bytes) -> None:
    reply = site.post(ESTIMATES, body, token=site.token())

    assert (reply.status, reply.code) == (422, "bad_request")


def test_more_requests_than_allowed_wait(unserved: Site) -> None:
    with served(unserved, lambda found: replace(found, requests_per_minute=2)) as site:
        token, other = site.token(), site.token()
        statuses = [site.post(ESTIMATES, SMALL, token=token).status for _ in range(2)]
        third = site.post(ESTIMATES, SMALL, token=token)
        others = site.post(ESTIMATES, SMALL, token=other).status

    assert statuses == [200, 200]
    assert (third.status, third.code) == (429, "rate_limited")
    assert 1 <= int(third.headers["retry-after"]) <= 30
    assert others == 200


def test_guessing_is_slowed_down_without_shutting_others_out(site: Site) -> None:
    token = site.token()
    guesses = [
        site.post(ESTIMATES, SMALL, token="x").status
        for _ in range(v1.FAILURES_PER_MINUTE + 5)
    ]

    assert 429 in guesses
    assert site.post(ESTIMATES, SMALL, token=token).status == 200


def test_a_rate_refills_with_time() -> None:
    now = 0.0
    limit = RateLimit(2, lambda: now)

    assert [limit.wait_s("a") for _ in range(3)] == [0, 0, 30]
    now = 30.0
    assert limit.wait_s("a") == 0
    assert limit.wait_s("a") > 0


def test_what_is_no_route_is_told_as_every_error(site: Site) -> None:
    assert site.get("/v1/nothing").code == "not_found"
    assert site.get(ESTIMATES).status == 405
    assert site.get("/nothing").json == {"detail": "Not Found"}


def test_a_failure_says_nothing_of_itself_and_logs_its_place_only(
    unserved: Site,
) -> None:
    def fail(_body: object) -> Any:
        message = "secret-of-the-body"
        raise RuntimeError(message)

    with (
        structlog.testing.capture_logs() as logs,
        served(unserved, lambda found: replace(found, estimate=fail)) as site,
    ):
        reply = site.post(ESTIMATES, SMALL, token=site.token())

    assert (reply.status, reply.code) == (500, "unexpected")
    assert "secret-of-the-body" not in reply.text + str(logs)


def test_tokens_and_bodies_never_reach_a_log(site: Site) -> None:
    token = site.token()
    with structlog.testing.capture_logs() as logs:
        site.post(ESTIMATES, SMALL, token=token)
        site.post(ESTIMATES, {"canary-in-body": 1}, token=token)
        site.post("/v1/approvals", RUN | {"reason": "canary-reason"}, token=token)
        site.post(ESTIMATES, SMALL, token=token + "0")

    assert token.split("_")[2] not in str(logs)
    assert "canary" not in str(logs)


def test_more_than_can_be_queued_is_refused(
    unserved: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(v1, "QUEUE_MAX", 1)
    entered, leave = threading.Event(), threading.Event()

    def block(_body: object) -> Any:
        entered.set()
        leave.wait(30)
        return {}

    with served(unserved, lambda found: replace(found, estimate=block)) as site:
        token = site.token()
        ask = partial(site.post, ESTIMATES, SMALL, token=token)
        first = threading.Thread(target=ask)
        first.start()
        assert entered.wait(30)
        refused = ask()
        leave.set()
        first.join(30)

    assert (refused.status, refused.code) == (503, "busy")
    assert refused.headers["retry-after"] == "1"


def test_a_token_is_kept_as_a_hash_and_its_use_recorded(any_site: Site) -> None:
    text = any_site.token(Scope.ESTIMATES)
    any_site.post(ESTIMATES, SMALL, token=text)

    with any_site.application.store.read() as unit:
        (token,) = unit.tokens.all()
    assert text.split("_")[2] not in str(token)
    assert token.used_at is not None
