from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from slack_sdk import WebClient

from deploy.sandbox.slack import SlackSandbox, example_workspace, parse_workspace
from deploy.sandbox.slack.clock import clock_from
from tests.sandbox.slack.bolt import in_socket_mode, make_app

Json = dict[str, Any]


OPENER = urllib.request.build_opener()


def page(base: str, name: str, **query: object) -> str:
    address = f"{base}/control/{name}?{urlencode(query)}"
    with OPENER.open(address, timeout=10) as answer:
        text: str = answer.read().decode()
        return text


def get(base: str, name: str, **query: object) -> Any:
    return json.loads(page(base, name, **query))


def post(base: str, name: str, **body: object) -> Any:
    address = f"{base}/control/{name}"
    with OPENER.open(address, json.dumps(body).encode(), timeout=10) as answer:
        return json.load(answer)


def test_another_process_can_type_a_command_and_read_the_answer(
    slack: SlackSandbox,
) -> None:
    app = make_app(slack)
    app.command("/gpucost")(lambda ack, body: ack(f"{body['text']} costs $1"))

    with in_socket_mode(slack, app):
        sent = post(
            slack.base_url, "command", user="mia", channel="gpu-costs", text="job-1"
        )
        done = get(
            slack.base_url, "interaction", id=sent["id"], wait=5, until="response"
        )

    assert done["acked"]
    assert done["responses"][0]["text"] == "job-1 costs $1"


def test_another_process_can_press_a_button(
    slack: SlackSandbox, client: WebClient
) -> None:
    app = make_app(slack)
    app.action("go")(lambda ack: ack())
    text = {"type": "plain_text", "text": "Go"}
    element = {"type": "button", "action_id": "go", "text": text}
    blocks = [{"type": "actions", "elements": [element]}]
    client.chat_postMessage(channel="C0COSTS", text="card", blocks=blocks)
    message = get(slack.base_url, "messages", channel="gpu-costs")["messages"][0]

    with in_socket_mode(slack, app):
        sent = post(
            slack.base_url, "click", user="ada", ts=message["ts"], action_id="go"
        )
        done = get(slack.base_url, "interaction", id=sent["id"], wait=5)

    assert done["acked"]


def test_faults_are_switched_from_outside(
    slack: SlackSandbox, client: WebClient
) -> None:
    post(slack.base_url, "faults", kind="throttle", method="auth.test", times=3)
    active = get(slack.base_url, "faults")
    post(slack.base_url, "clear_faults")

    assert active["faults"][0]["times"] == 3
    assert client.auth_test()["ok"]


def test_a_wrong_name_is_explained(slack: SlackSandbox) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(slack.base_url, "command", user="nobody", channel="gpu-costs")

    with caught.value as answer:
        body = json.load(answer)
    assert answer.code == 400
    assert "nobody is called 'nobody'" in body["error"]


def test_a_channel_is_drawn_as_text_and_as_a_page(
    slack: SlackSandbox, client: WebClient
) -> None:
    client.chat_postMessage(channel="C0COSTS", text="*hello* <@U0MIA>")

    drawn = [page(slack.base_url, n, channel="gpu-costs") for n in ("render", "html")]

    assert "hello @mia" in drawn[0]
    assert "<b>hello</b>" in drawn[1]


def test_a_home_tab_is_drawn_too(slack: SlackSandbox, client: WebClient) -> None:
    text = {"type": "mrkdwn", "text": "*your jobs*"}
    view = {"type": "home", "blocks": [{"type": "section", "text": text}]}
    client.views_publish(user_id="U0MIA", view=view)

    assert "your jobs" in page(slack.base_url, "render", home="mia")
    assert "<b>your jobs</b>" in page(slack.base_url, "html", home="mia")


def test_a_workspace_survives_its_document() -> None:
    workspace = example_workspace()

    assert parse_workspace(json.loads(json.dumps(workspace.to_json()))) == workspace


def test_a_workspace_with_an_unknown_key_is_refused() -> None:
    with pytest.raises(ValueError, match=r"people\[0\].*nickname"):
        parse_workspace({"people": [{"id": "U1", "name": "x", "nickname": "y"}]})


def test_a_clock_file_is_read_at_each_use(tmp_path: Path) -> None:
    path = tmp_path / "now"
    path.write_text("2026-11-20T10:00:00Z\n")
    clock = clock_from(f"file:{path}")
    first = clock()
    path.write_text("2026-11-21T10:00:00+00:00")

    assert first == datetime(2026, 11, 20, 10, tzinfo=UTC)
    assert clock() == datetime(2026, 11, 21, 10, tzinfo=UTC)
    with pytest.raises(ValueError, match="no offset"):
        clock_from("2026-11-20T10:00:00")


def test_message_times_follow_the_clock() -> None:
    clock = clock_from("2026-11-20T10:00:00Z")
    with SlackSandbox(clock=clock) as slack:
        slack.say("mia", "gpu-costs", "one")
        slack.say("mia", "gpu-costs", "two")
        stamps = [message.ts for message in slack.messages("gpu-costs")]

    assert stamps[0].startswith("1795168800.")
    assert stamps[0] < stamps[1]


def test_it_runs_as_a_process_of_its_own(tmp_path: Path) -> None:
    state = tmp_path / "slack.json"
    workspace = tmp_path / "workspace.json"
    workspace.write_text(json.dumps(example_workspace().to_json()))
    command = [sys.executable, "-m", "deploy.sandbox.slack"]
    command += ["--workspace", str(workspace), "--state-file", str(state)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = json.loads(state.read_text())
        environment = found["environment"]
        client = WebClient(
            token=environment["SLACK_BOT_TOKEN"], base_url=environment["SLACK_API_URL"]
        )
        client.chat_postMessage(channel="gpu-costs", text="hello")
        seen = get(found["base_url"], "messages", channel="gpu-costs")["messages"]
        process.send_signal(signal.SIGTERM)
        code = process.wait(10)

    assert [message["text"] for message in seen] == ["hello"]
    assert code == 0
    assert not state.exists()
