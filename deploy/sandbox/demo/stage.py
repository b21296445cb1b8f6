"""The demo's stage: both doubles, a clock, and the real application between them.

The application knows nothing of it: its environment holds other endpoints, planted
tokens and a clock, as any test environment would.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from deploy.sandbox.company import company_world, workspace
from deploy.sandbox.demo.children import Child, DemoError, Value, wait_until
from deploy.sandbox.demo.files import write_files
from deploy.sandbox.slack import Message, PostLimit, SlackSandbox
from deploy.sandbox.slack.clock import clock_from

START_S = 60.0
COMMAND_S = 120.0
TASK_S = 60.0
POST_S = 60.0
#: The inventory must be newer than the facts that policies judge.
INVENTORY_FIRST = timedelta(minutes=6)
BILL_EVERY = timedelta(hours=6)
OWN_VARIABLES = ("AWS_", "SLACK_", "GPUCOST_")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@dataclass(slots=True)
class Stage:
    """Everything that runs, and what code may do with it."""

    folder: Path
    slack: SlackSandbox
    aws: Child
    app: Child
    aws_url: str
    environment: Mapping[str, str]
    now: datetime

    @property
    def clock_file(self) -> Path:
        """Return the file that all clocks read."""
        return self.folder / "now"

    def travel(self, now: datetime) -> None:
        """Make it another instant: AWS first, so that nobody sees it lag."""
        self._put_world(now)
        _write_clock(self.clock_file, now)
        self.now = now

    def advance(self, span: timedelta) -> None:
        """Move the clock on and wait until gpucost has looked at the new state."""
        before, end = self.now, self.now + span
        if span > INVENTORY_FIRST:
            near = end - INVENTORY_FIRST
            self.travel(near)
            self._wait_task("ingest-inventory", near - timedelta(minutes=5))
        self.travel(end)
        self._wait_task("policies", end - timedelta(minutes=5))
        day = datetime.min.replace(tzinfo=end.tzinfo)
        if (before - day) // BILL_EVERY != (end - day) // BILL_EVERY:
            self._wait_task("ingest-cost-explorer", before)

    def _wait_task(self, task: str, after: datetime) -> None:
        """Wait until the application logs a slot of a task later than an instant."""

        def is_done() -> bool:
            return any(
                event.get("event") == "task_finished"
                and event.get("task") == task
                and datetime.fromisoformat(event["slot"]) > after
                for event in self.app.events()
            )

        self.wait(f"the task {task!r}", is_done, timeout_s=TASK_S)

    def wait(
        self, what: str, condition: Callable[[], Value], *, timeout_s: float
    ) -> Value:
        """Wait for a condition while both children live."""
        return wait_until(
            what, condition, children=[self.aws, self.app], timeout_s=timeout_s
        )

    def run(self, *arguments: str) -> str:
        """Run one gpucost command to its end and return what it printed."""
        command = [sys.executable, "-m", "bot", *arguments]
        done = subprocess.run(  # noqa: S603 - our own command
            command,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        if done.returncode:
            said = (done.stdout + done.stderr).strip()
            message = (
                f"`gpucost {' '.join(arguments)}` ended with {done.returncode}:\n{said}"
            )
            raise DemoError(message)
        return done.stdout.rstrip()

    def serve(self) -> None:
        """Start the application and wait until it is connected to Slack."""
        self.app.start()
        self.wait(
            "the connection of gpucost to Slack",
            lambda: self.slack.connections,
            timeout_s=START_S,
        )

    def wait_posted(self, channel: str, text: str) -> Message:
        """Wait for a message of gpucost in a channel whose text begins with something."""

        def found() -> list[Message]:
            return [
                message
                for message in self.slack.messages(channel)
                if message.bot_id and message.text.startswith(text)
            ]

        what = f"a message {text!r} in #{channel}"
        return self.wait(what, found, timeout_s=POST_S)[-1]

    def _put_world(self, now: datetime) -> None:
        """Give the AWS double what it knows at an instant."""
        connection = HTTPConnection(urlsplit(self.aws_url).netloc, timeout=START_S)
        try:
            connection.request("PUT", "/control/world", company_world(now).dump())
            answer = connection.getresponse()
            said = answer.read().decode("utf-8", "replace")
        finally:
            connection.close()
        if answer.status != 200:  # noqa: PLR2004 - HTTP
            message = f"the AWS double refused its world: {said}"
            raise DemoError(message)


@contextmanager
def opened_stage(folder: Path, now: datetime) -> Iterator[Stage]:
    """Start both doubles; leaving stops them and the application."""
    config, policies = write_files(folder)
    clock_file = folder / "now"
    _write_clock(clock_file, now)
    with ExitStack() as stack:
        slack = SlackSandbox(
            workspace(),
            clock=clock_from(f"file:{clock_file}"),
            post_limit=PostLimit(per_s=None),
        )
        stack.callback(slack.stop)
        slack.start()
        aws = _aws_double(folder, clock_file)
        stack.callback(aws.stop)
        aws.start()
        state = _state(folder, aws)
        environment = _clean_environment(folder) | {
            **{str(key): str(value) for key, value in state["environment"].items()},
            "AWS_CONFIG_FILE": str(folder / "no-aws-config"),
            "AWS_SHARED_CREDENTIALS_FILE": str(folder / "no-aws-credentials"),
            "SLACK_API_URL": slack.api_url,
            "SLACK_BOT_TOKEN": slack.workspace.app.bot_token,
            "SLACK_APP_TOKEN": slack.workspace.app.app_token,
            "GPUCOST_CONFIG": str(config),
            "GPUCOST_POLICIES": str(policies),
            "GPUCOST_NOW": f"file:{clock_file}",
        }
        app = Child(
            name="gpucost",
            command=[sys.executable, "-m", "bot", "serve"],
            folder=folder,
            environment=environment,
        )
        stack.callback(app.stop)
        stage = Stage(
            folder=folder, slack=slack, aws=aws, app=app,
            aws_url=str(state["endpoint_url"]), environment=environment, now=now,
        )  # fmt: skip
        stage.travel(now)
        yield stage


def _aws_double(folder: Path, clock_file: Path) -> Child:
    command = [sys.executable, "-m", "deploy.sandbox.aws", "--port", "0"]
    command += ["--now", f"file:{clock_file}", "--state-file", str(folder / "aws.json")]
    return Child(
        name="aws-double",
        command=command,
        folder=folder,
        environment=_clean_environment(folder),
    )


def _state(folder: Path, aws: Child) -> dict[str, dict[str, str]]:
    path = folder / "aws.json"
    wait_until("the start of the AWS double", path.exists, children=[aws],
               timeout_s=START_S)  # fmt: skip
    state: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return state


def _clean_environment(folder: Path) -> dict[str, str]:
    """Return this environment without anything that leads out of the machine."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(OWN_VARIABLES) and key.lower() not in PROXIES
    }
    if kept.pop("PYTHONDONTWRITEBYTECODE", ""):
        # A dozen processes would each compile everything anew.
        kept["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    root = str(Path(__file__).parents[3])
    paths = [root, *filter(None, [kept.get("PYTHONPATH", "")])]
    return kept | {"NO_PROXY": "*", "PYTHONPATH": os.pathsep.join(paths)}


def _write_clock(path: Path, now: datetime) -> None:
    """Write the clock so that a reader never sees half of it."""
    partial = path.with_name("now.partial")
    partial.write_text(now.isoformat().replace("+00:00", "Z"), encoding="utf-8")
    partial.replace(path)
