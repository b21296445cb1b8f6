"""The app under test with recording handlers, and signed requests to dispatch."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from slack_bolt import App, BoltRequest, BoltResponse
from slack_sdk import WebClient

from bot.ports import Message, OutboxMessage
from bot.slack.app import build_app
from bot.slack.client import build_client
from bot.slack.handlers import (
    Ask,
    Click,
    ClickOutcome,
    Handlers,
    Home,
    Refused,
)
from bot.slack.http import sign
from bot.slack.work import Inline, Work
from bot.views.errors import note
from tests.builders_bot import NOW

DATA = Path(__file__).parent / "data"
#: A port of loopback where nothing listens.
NOWHERE = "http://127.0.0.1:9/api/"
SECRET = "a-planted-signing-secret"
HOME = Home(team_id="T111", bot_user_id="W111", enterprise_id="E111")


@dataclass
class Recorded:
    """What the application was asked, and canned answers."""

    asks: list[Ask] = field(default_factory=list)
    clicks: list[Click] = field(default_factory=list)
    effects: dict[str, OutboxMessage] = field(default_factory=dict)
    refusals: list[Refused] = field(default_factory=list)
    failures: list[tuple[str, Exception]] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    answer: Callable[[Ask], tuple[Message, ...]] = lambda ask: (
        note(f"{ask.question.verb} {ask.question.target}".strip()),
    )
    outcome: ClickOutcome = field(default_factory=ClickOutcome)

    def handlers(self, *verbs: str) -> Handlers:
        names = verbs or ("cost", "top", "request", "pause", "resume", "approvals")
        return Handlers(
            now=lambda: NOW,
            click=self._click,
            enqueue=self._enqueue,
            refused=self.refusals.append,
            failed=self._failed,
            answers=dict.fromkeys(names, self._ask),
            seen=self._seen,
        )

    def _ask(self, ask: Ask) -> tuple[Message, ...]:
        self.asks.append(ask)
        return self.answer(ask)

    def _click(self, click: Click) -> ClickOutcome:
        self.clicks.append(click)
        return self.outcome

    def _enqueue(self, message: OutboxMessage) -> bool:
        if message.key in self.effects:
            return False
        self.effects[message.key] = message
        return True

    def _failed(self, event: str, error: Exception) -> str:
        self.failures.append((event, error))
        return "ref-1"

    def _seen(self, kind: str, key: str) -> bool:
        known = (kind, key) in self.seen
        self.seen.add((kind, key))
        return known


def make_app(
    recorded: Recorded, *, work: Work | None = None, client: WebClient | None = None
) -> App:
    return build_app(
        client=client or build_client("xoxb-planted", api_url=NOWHERE),
        home=HOME,
        handlers=recorded.handlers(),
        work=work or Inline(),
        signing_secret=SECRET,
    )


def dispatch(app: App, body: str, *, kind: str, secret: str = SECRET) -> BoltResponse:
    """Send a signed body through the whole of Bolt."""
    timestamp = str(int(time.time()))
    headers = {
        "content-type": [kind],
        "x-slack-signature": [sign(body.encode(), timestamp=timestamp, secret=secret)],
        "x-slack-request-timestamp": [timestamp],
    }
    return app.dispatch(BoltRequest(body=body, headers={**headers}))


def command_body(text: str, **changes: str) -> str:
    """Return the recorded slash command with another text."""
    recorded = (DATA / "slash_command.form.txt").read_text(encoding="utf-8").strip()
    fields = dict(parse_qsl(recorded, keep_blank_values=True))
    return urlencode(fields | {"command": "/gpucost", "text": text} | changes)


def send_command(app: App, text: str, **changes: str) -> BoltResponse:
    body = command_body(text, **changes)
    return dispatch(app, body, kind="application/x-www-form-urlencoded")


def load(name: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return body


def click_body(
    *, action_id: str, value: str, user: dict[str, str] | None = None, **changes: Any
) -> str:
    """Return the recorded press of a button with another action and person."""
    body = load("block_actions.json") | changes
    body["user"] |= user or {}
    body["actions"][0] |= {"action_id": action_id, "value": value}
    return urlencode({"payload": json.dumps(body)})


def send_click(app: App, **arguments: Any) -> BoltResponse:
    body = click_body(**arguments)
    return dispatch(app, body, kind="application/x-www-form-urlencoded")


def event_body(name: str, *, event_id: str = "Ev111", **event: Any) -> str:
    body = load(name)
    body["event"] |= event
    return json.dumps(body | {"event_id": event_id})


def send_event(app: App, name: str, **arguments: Any) -> BoltResponse:
    return dispatch(app, event_body(name, **arguments), kind="application/json")
