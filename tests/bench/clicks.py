"""Clicks on approval cards over HTTP mode: acks, and that each decides once.

A thousand requests wait; twenty people press fifty buttons a second at a real `gpucost
serve` beside a Slack double. Every fifth request is approved by one and denied by another
at the same instant.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote_plus

from sqlalchemy import text

from bot.views.approval_buttons import APPROVE, DENY, WORDS
from deploy.sandbox.aws import AwsSandbox, World
from deploy.sandbox.aws.builders import instant
from deploy.sandbox.slack import PostLimit, SlackSandbox, example_workspace
from deploy.sandbox.slack.http_mode import FORM, signed_headers
from deploy.sandbox.slack.model import Person
from tests.bench.figures import Figure
from tests.builders_bot import make_envelope, make_request, make_rule
from tests.builders_store import opened_store
from tests.e2e.conftest import laid_out
from tests.e2e.support import CANARIES, Place, Served, environment, free_port
from tests.e2e.world import APPROVALS, NEVER, NOW

REQUESTS = 1_000
PEOPLE = 20
PER_S = 50
RIVAL_EVERY = 5
TARGET_S = 3.0
PATIENCE_S = 180.0
ARRIVED = 200


@dataclass(frozen=True, slots=True)
class Press:
    """One button that somebody presses."""

    request_id: str
    user: str
    action: str

    def body(self, team: str) -> bytes:
        """Return it as Slack sends it."""
        words = {"words": {WORDS: {"type": "plain_text_input", "value": "too dear"}}}
        payload = {
            "type": "block_actions",
            "user": {"id": self.user, "team_id": team},
            "team": {"id": team},
            "channel": {"id": "C0APPROVE", "name": "gpu-approvals"},
            "container": {"type": "message", "message_ts": "1.1"},
            "state": {"values": words},
            "trigger_id": f"{self.request_id}.{self.user}",
            "actions": [
                {
                    "type": "button", "action_id": self.action, "block_id": "b",
                    "value": f"{self.request_id}:1", "action_ts": "1.1",
                }
            ],
        }  # fmt: skip
        return b"payload=" + quote_plus(json.dumps(payload)).encode()


def measure(folder: Path) -> list[Figure]:
    """Press, and count what was decided."""
    with _served(folder) as (place, served, team):
        waits = _press_all(served.port, team)
        decided, doubled = _settled(place)
    waits.sort()
    p99 = waits[int(len(waits) * 0.99)]
    lost = REQUESTS - decided
    return [
        Figure(
            name=f"{len(waits):,} clicks on {REQUESTS:,} requests, {PER_S}/s: p99 ack",
            own=f"{p99 * 1000:.0f} ms (p50 {waits[len(waits) // 2] * 1000:.0f} ms,"
            f" max {waits[-1] * 1000:.0f} ms)",
            baseline="-",
            ratio=(0, 0, 0),
            target=f"every ack under {TARGET_S:g} s",
            is_met=waits[-1] < TARGET_S,
        ),
        Figure(
            name="decisions lost / doubled",
            own=f"{lost} / {doubled}",
            baseline="-",
            ratio=(0, 0, 0),
            target="0 / 0",
            is_met=not lost and not doubled,
        ),
    ]


@contextmanager
def _served(folder: Path) -> Iterator[tuple[Place, Served, str]]:
    workspace = example_workspace()
    voters = [
        Person(
            id=_voter(number), name=f"voter-{number}", email=f"v{number}@example.com"
        )
        for number in range(PEOPLE)
    ]
    workspace.people.extend(voters)
    workspace.groups[0].users = [one.id for one in voters]
    for channel in workspace.channels:
        channel.members.extend(one.id for one in voters)
    workspace.app.bot_token = CANARIES["SLACK_BOT_TOKEN"]
    workspace.app.app_token = CANARIES["SLACK_APP_TOKEN"]
    workspace.app.signing_secret = CANARIES["SLACK_SIGNING_SECRET"]
    slack_ = SlackSandbox(workspace, post_limit=PostLimit(per_s=None))
    with slack_ as slack, AwsSandbox(World(now=NOW)) as aws:
        place = Place(folder, environment(aws, slack, folder / "code"), free_port())
        names = {"alerts": "#gpu-costs", "approvals": "#gpu-approvals", "mode": "http"}
        aws.clock.set(f"file:{place.clock}")
        config = {"slack": names, "schedule": NEVER}
        with laid_out(place, config, APPROVALS):
            place.skip_first_reads()
            _file_all(place)
            served = place.serve()
            try:
                yield place, served.ready(), workspace.team_id
            finally:
                served.child.terminate()
                served.child.wait(PATIENCE_S)


def _voter(number: int) -> str:
    return f"U0VOTER{number:02}"


def _url(place: Place) -> str:
    return f"sqlite:///{place.root / 'data' / 'gpucost.db'}"


def _file_all(place: Place) -> None:
    now = instant(NOW)
    with opened_store(_url(place)) as store, store.write() as unit:
        for number in range(REQUESTS):
            envelope = replace(
                make_envelope(job=f"job-{number}"), hours=Fraction(24), count=8
            )
            request = make_request(
                request_id=_request(number), envelope=envelope, created_at=now,
                expires_at=now + timedelta(hours=24), rule=make_rule("@gpu-approvers"),
            )  # fmt: skip
            unit.journal.add_request(request, f"key-{number}")


def _request(number: int) -> str:
    return f"apr-{number:010x}"


def _presses() -> Iterator[Press]:
    for number in range(REQUESTS):
        name = _request(number)
        yield Press(name, _voter(number % PEOPLE), APPROVE)
        if number % RIVAL_EVERY == 0:
            yield Press(name, _voter((number + 7) % PEOPLE), DENY)


def _press_all(port: int, team: str) -> list[float]:
    """Press at a steady pace from a thread for each person; return what acks took."""
    begin = time.perf_counter() + 0.5

    def press(place: int, one: Press) -> float:
        due = begin + place / PER_S
        time.sleep(max(0.0, due - time.perf_counter()))
        start = time.perf_counter()
        body = one.body(team)
        headers = {"content-type": FORM}
        headers |= signed_headers(CANARIES["SLACK_SIGNING_SECRET"], body)
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        connection.request("POST", "/slack/events", body, headers)
        status = connection.getresponse().status
        connection.close()
        if status != ARRIVED:
            print(f"bench: a click was answered with {status}")
        return time.perf_counter() - start

    with ThreadPoolExecutor(PEOPLE) as pool:
        return list(pool.map(press, *zip(*enumerate(_presses()), strict=True)))


def _settled(place: Place) -> tuple[int, int]:
    """Wait until nothing is pending any more; count decided and doubled requests."""
    ends = time.monotonic() + PATIENCE_S
    query = text(
        "SELECT request_id FROM approval_event WHERE event IN ('approve', 'deny')"
    )
    while True:
        with opened_store(_url(place)) as store, store.database.read() as session:
            counts = Counter(one for (one,) in session.execute(query))
        if len(counts) >= REQUESTS or time.monotonic() > ends:
            return len(counts), sum(count > 1 for count in counts.values())
        time.sleep(1)
