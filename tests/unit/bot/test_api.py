"""The HTTP side over loopback: limits before parsing, readiness, a bounded pool."""

from __future__ import annotations

import http.client
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bot.api import (
    SLACK_BODY_BYTES_MAX,
    SLACK_THREADS,
    ApiHandlers,
    ApiServer,
    CannotListenError,
    build_api,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WAIT_S = 30


class Served:
    """A server on loopback, and what reached its handlers."""

    def __init__(self, **handlers: Any) -> None:
        self.checked: list[bytes] = []
        self.dispatched: list[tuple[Mapping[str, str], bytes]] = []
        defaults: dict[str, Any] = {
            "ready": lambda: (True, {"status": "ok", "reasons": []}),
            "metrics": lambda: b"gpucost_paused 0.0\n",
            "check_slack": self.check,
            "dispatch_slack": self.dispatch,
        }
        self.api = build_api(ApiHandlers(**(defaults | handlers)))
        self.server = ApiServer(self.api, host="127.0.0.1", port=0)

    def check(self, headers: Mapping[str, str], body: bytes) -> tuple[int, str] | None:
        self.checked.append(body)
        return None if headers.get("x-slack-signature") == "good" else (401, "forged")

    def dispatch(
        self, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Mapping[str, str], str]:
        self.dispatched.append((headers, body))
        return 200, {"content-type": "text/plain"}, "handled"

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, str]:
        port = self.server.port
        assert port is not None
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        try:
            connection.request(
                method, path, body, {k.replace("_", "-"): v for k, v in headers.items()}
            )
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


@contextmanager
def _served(**handlers: Any) -> Iterator[Served]:
    made = Served(**handlers)
    made.server.start()
    try:
        yield made
    finally:
        made.server.stop()


GOOD = {"X_Slack_Signature": "good"}


def test_a_checked_request_is_handled_with_its_headers_in_lower_case() -> None:
    with _served() as served:
        status, text = served.ask("POST", "/slack/events", b"a=1", **GOOD)

    assert (status, text) == (200, "handled")
    ((headers, body),) = served.dispatched
    assert headers["x-slack-signature"] == "good"
    assert body == b"a=1"


def test_a_refused_request_is_not_handled_and_is_told_no_reason() -> None:
    with _served() as served:
        status, text = served.ask("POST", "/slack/events", b"a=1")

    assert (status, text) == (401, "refused")
    assert served.dispatched == []


def test_a_body_over_the_limit_is_refused_before_its_signature_is_looked_at() -> None:
    # C160
    with _served() as served:
        exact = served.ask("POST", "/slack/events", b"x" * SLACK_BODY_BYTES_MAX, **GOOD)
        over = served.ask(
            "POST", "/slack/events", b"x" * (SLACK_BODY_BYTES_MAX + 1), **GOOD
        )

    assert (exact[0], over[0]) == (200, 413)
    assert len(served.checked) == 1


def test_a_body_without_a_length_is_cut_off_at_the_limit() -> None:
    # C160: chunked, so that no header says how much is to come.
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(10_000):
            sent += 16_384
            yield b"x" * 16_384

    with _served() as served:
        try:
            status, _ = served.ask("POST", "/slack/events", chunks(), **GOOD)
        except (BrokenPipeError, ConnectionResetError):
            status = 413  # It stopped listening in the middle of our sending.

    assert status == 413
    assert served.checked == []
    assert sent < 5_000 * 16_384


def test_in_socket_mode_there_is_no_such_place() -> None:
    with _served(check_slack=None, dispatch_slack=None) as served:
        status, _ = served.ask("POST", "/slack/events", b"a=1", **GOOD)

    assert status == 404


def test_a_failing_handler_answers_500_without_a_traceback() -> None:
    def fail(_headers: object, _body: bytes) -> None:
        message = "token xoxb-1"
        raise RuntimeError(message)

    with _served(dispatch_slack=fail) as served:
        status, text = served.ask("POST", "/slack/events", b"a=1", **GOOD)

    assert (status, text) == (500, '{"error":"internal error"}')


@pytest.mark.parametrize(("is_ready", "status"), [(True, 200), (False, 503)])
def test_readiness_is_what_the_database_says(*, is_ready: bool, status: int) -> None:
    word = "degraded" if is_ready else "unavailable"
    document = {"status": word, "reasons": ["x"]}

    with _served(ready=lambda: (is_ready, document)) as served:
        found, text = served.ask("GET", "/readyz")
        alive = served.ask("GET", "/healthz")

    assert found == status
    assert word in text
    assert alive == (200, '{"status":"ok"}')


def test_metrics_are_text_for_prometheus() -> None:
    with _served() as served:
        assert served.ask("GET", "/metrics") == (200, "gpucost_paused 0.0\n")


def test_no_more_requests_are_handled_at_once_than_stated_and_health_still_answers(
) -> None:  # fmt: skip
    full, release = threading.Event(), threading.Event()
    lock = threading.Lock()
    at_once = most = 0

    def hold(_headers: object, _body: bytes) -> tuple[int, Mapping[str, str], str]:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
            if at_once == SLACK_THREADS:
                full.set()
        release.wait(WAIT_S)
        with lock:
            at_once -= 1
        return 200, {}, ""

    asked = SLACK_THREADS + 4
    with _served(dispatch_slack=hold) as served, ThreadPoolExecutor(asked) as pool:
        posts = [
            pool.submit(served.ask, "POST", "/slack/events", b"", **GOOD)
            for _ in range(asked)
        ]
        assert full.wait(WAIT_S)
        health = served.ask("GET", "/healthz")
        release.set()
        statuses = {post.result(WAIT_S)[0] for post in posts}

    assert health[0] == 200
    assert statuses == {200}
    assert most == SLACK_THREADS


def test_a_taken_address_is_a_named_failure() -> None:
    with _served() as served:
        port = served.server.port
        assert port is not None
        second = ApiServer(served.api, host="127.0.0.1", port=port)

        with pytest.raises(CannotListenError, match="cannot listen on 127"):
            second.start()
