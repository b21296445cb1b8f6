"""The client in one file: over a real HTTP side, and without one."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from bot.use_cases.tokens import Scope
from deploy.launchers.gpucost_client import (
    Client,
    DownError,
    Plan,
    RefusedError,
    WhenDown,
    grant_id,
)
from tests.builders_http import make_site, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.unit_of_work import SqlStore
    from tests.builders_http import Site

SMALL = Plan(job="llm-1", instance_type="p5.48xlarge", count=1, hours=2)
LARGE = replace(SMALL, count=8, hours=72)


@dataclass
class Ear:
    """What people were told, and how long was waited."""

    heard: list[str] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)


@pytest.fixture
def site(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    with served(make_site(store, tmp_path, monkeypatch)) as found:
        yield found


def _client(site: Site, *scopes: Scope) -> Client:
    return Client(f"http://127.0.0.1:{site.port}/", site.token(*scopes))


def _dead(ear: Ear, open_up_to: float = 0) -> Client:
    """Return a client of an address where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Client(
        f"http://127.0.0.1:{port}", "t", when_down=WhenDown(open_up_to),
        say=ear.heard.append, sleep=ear.slept.append,
    )  # fmt: skip


def test_a_run_under_the_limit_is_cleared_and_its_grant_verifies(site: Site) -> None:
    client = _client(site)

    grant = client.cleared(SMALL, reason="a test")

    assert client.verify(SMALL, grant).covered
    assert grant_id(grant).startswith("apr-")
    other = client.may_start(replace(SMALL, job="llm-2"), grant)
    assert not other.covered
    assert "not of 'llm-2'" in other.reason


def test_a_run_over_the_limit_waits_and_is_not_cleared(site: Site) -> None:
    ear = Ear()
    client = replace(_client(site), say=ear.heard.append)

    with pytest.raises(RefusedError, match=r"apr-\w+ is pending"):
        client.cleared(LARGE, reason="a test", timeout_s=0)

    assert "waits for approval" in ear.heard[0]


def test_an_estimate_and_progress_are_those_of_the_routes(site: Site) -> None:
    client = _client(site)

    client.progress("llm-1", steps=100)

    assert client.estimate(LARGE)["expected"]
    with pytest.raises(RefusedError, match="steps"):
        client.progress("llm-1", steps=-1)


def test_a_token_without_the_scope_is_told_so(site: Site) -> None:
    with pytest.raises(RefusedError, match="estimates"):
        _client(site, Scope.PROGRESS_WRITE).estimate(SMALL)


def test_what_gpucost_cannot_read_is_a_no_and_not_a_maybe(site: Site) -> None:
    client = replace(_client(site), when_down=WhenDown(float("inf")))

    assert not client.may_start(replace(SMALL, hours=-1), "a.b.c").covered
    assert not client.may_start(SMALL, "a.b.c").covered


@pytest.mark.parametrize(
    ("plan", "covered"),
    [(SMALL, True), (replace(SMALL, hours=8), True), (LARGE, False)],
)
def test_without_gpucost_a_run_starts_up_to_the_limit_and_says_so(
    plan: Plan, *, covered: bool
) -> None:
    ear = Ear()

    answer = _dead(ear, open_up_to=8).may_start(plan, "a.b.c")

    assert (answer.covered, answer.checked) == (covered, False)
    assert "gpucost does not answer" in answer.reason
    assert len(ear.heard) == 1
    assert ("unchecked" in ear.heard[0]) is covered
    assert len(ear.slept) == 2


def test_without_gpucost_nothing_starts_where_nothing_was_chosen() -> None:
    ear = Ear()

    assert not _dead(ear).may_start(SMALL, "a.b.c").covered
    with pytest.raises(DownError):
        _dead(ear).request(SMALL, reason="x")


class _Grumpy(BaseHTTPRequestHandler):
    """Answers 503, 500 and then nothing sensible."""

    answers: tuple[tuple[int, bytes], ...] = ()
    asked = 0

    def do_POST(self) -> None:
        kind = type(self)
        status, body = kind.answers[min(kind.asked, len(kind.answers) - 1)]
        kind.asked += 1
        self.send_response(status)
        self.send_header("retry-after", "7")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize(
    ("answers", "covered", "slept"),
    [
        (((503, b"{}"), (200, b'{"covered": true, "reason": null}')), True, [7.0]),
        (((503, b"{}"),), False, [7.0, 7.0]),
        (((500, b"oh"),), False, []),
        (((200, b"<html>"),), False, [1.0, 1.0]),
    ],
)
def test_a_busy_gpucost_is_asked_again_and_a_broken_one_counts_as_down(
    answers: tuple[tuple[int, bytes], ...], *, covered: bool, slept: list[float]
) -> None:
    ear = Ear()
    handler = type("_Now", (_Grumpy,), {"answers": answers})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        client = Client(
            f"http://127.0.0.1:{server.server_port}", "t", say=ear.heard.append,
            sleep=ear.slept.append,
        )  # fmt: skip
        answer = client.may_start(SMALL, "a.b.c")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert (answer.covered, ear.slept) == (covered, slept)
    assert answer.checked is covered


def test_what_is_no_grant_has_no_id() -> None:
    for text in ("", "a", "a.b.c", "a.e30.c"):
        with pytest.raises(RefusedError):
            grant_id(text)
