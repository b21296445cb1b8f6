"""The real process beside the doubles: commands, `serve`, and waiting for what they do.

Children write their bytecode into a folder that all of them share, so that each starts
in a second. Whatever they print is kept: no secret may be in it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TypeVar

from bot.use_cases.due import Every
from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.aws.builders import instant
from deploy.sandbox.slack import SlackSandbox
from tests.builders_store import opened_store
from tests.e2e.world import NEVER_DAYS
from tests.project import ROOT

#: For whatever a loaded machine takes; what is waited for mostly takes a second.
PATIENCE_S = 60.0
LOOK_AGAIN_S = 0.05
#: Planted in the environment; none of them may ever be printed.
CANARIES = {
    "AWS_SECRET_ACCESS_KEY": "canary-aws-secret-4be1",
    "SLACK_BOT_TOKEN": "xoxb-canary-bot-token-77aa",
    "SLACK_APP_TOKEN": "xapp-1-canary-app-token-19cd",
    "SLACK_SIGNING_SECRET": "canary-signing-secret-e02f",
}

Value = TypeVar("Value")


def until(
    found: Callable[[], Value | None], what: str, *, patience_s: float = PATIENCE_S
) -> Value:
    """Return the first truthy value; a deadline that passes names what was missing."""
    ends = time.monotonic() + patience_s
    while True:
        value = found()
        if value:
            return value
        assert time.monotonic() < ends, f"waited {patience_s:g} s for {what}"
        time.sleep(LOOK_AGAIN_S)


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Place:
    """One installation: data, configuration, clock and environment of its processes."""

    root: Path
    environment: dict[str, str]
    port: int
    printed: list[Path] = field(default_factory=list)

    @property
    def clock(self) -> Path:
        return self.root / "now"

    @property
    def config(self) -> Path:
        return self.root / "gpucost.yaml"

    @property
    def policies(self) -> Path:
        return self.root / "policies.yaml"

    def set_clock(self, instant: str) -> None:
        draft = self.root / "now.draft"
        draft.write_text(instant, encoding="utf-8")
        draft.replace(self.clock)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command; what it prints goes to files of its own."""
        return self._start(command)[0]

    def _start(
        self, command: tuple[str, ...]
    ) -> tuple[subprocess.Popen[bytes], Path, Path]:
        number = len(self.printed)
        out, err = self.root / f"{number}.out", self.root / f"{number}.err"
        self.printed += [out, err]
        with out.open("wb") as to_out, err.open("wb") as to_err:
            child = subprocess.Popen(
                [sys.executable, "-m", "bot", *command],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=to_out,
                stderr=to_err,
            )
        return child, out, err

    def run(self, *command: str) -> Ran:
        """Run a command to its end."""
        child, out, err = self._start(command)
        try:
            code = child.wait(PATIENCE_S)
        finally:
            child.kill()
            child.wait()
        return Ran(code, out.read_text("utf-8"), err.read_text("utf-8"))

    def json(self, *command: str) -> Any:
        """Run a command that must succeed and return its document."""
        ran = self.run(*command, "--format", "json")
        assert ran.code == 0, ran
        return ran.json

    def skip_first_reads(self) -> None:
        """Note the first reads of every source as done: no child starts for them."""
        (self.root / "data").mkdir(exist_ok=True)
        url = f"sqlite:///{self.root / 'data' / 'gpucost.db'}"
        now = instant(self.clock.read_text("utf-8"))
        slot = Every(timedelta(days=NEVER_DAYS)).slot_at(now)
        with opened_store(url) as store, store.write() as unit:
            for source in ("inventory", "prices", "cost-explorer"):
                task = f"ingest-{source}"
                unit.slots.claim(task, slot, owner="test", now=now, lease_s=1)
                unit.slots.finish(task, slot, owner="test", now=now)

    def serve(self) -> Served:
        child, _, err = self._start(("serve",))
        return Served(self, child, err, self.port)

    def leaks(self) -> list[str]:
        """Return the files that hold a canary, or a traceback."""
        bad = []
        for path in self.printed:
            text = path.read_text("utf-8", "replace")
            bad += [f"{path.name}: {key}" for key, c in CANARIES.items() if c in text]
            bad += [f"{path.name}: traceback"] if "Traceback" in text else []
        return bad


@dataclass
class Served:
    """A running `gpucost serve`."""

    place: Place
    child: subprocess.Popen[bytes]
    log_file: Path
    port: int

    def logs(self, event: str = "") -> list[dict[str, Any]]:
        """Return what was logged, of one event or all."""
        lines = self.log_file.read_text("utf-8").splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{")]
        return [one for one in found if event in ("", one.get("event"))]

    def wait_log(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        def found() -> list[dict[str, Any]]:
            code = self.child.poll()
            assert code is None, f"serve ended with {code}: {self.log_file.read_text()}"
            logged = self.logs(event)
            return logged if len(logged) >= count else []

        return until(found, f"{count} x {event!r}: {self.log_file.read_text()[-2000:]}")

    def ready(self) -> Served:
        self.wait_log("serving")
        until(lambda: self.get("/healthz")[0] == 200, "/healthz")
        return self

    def get(self, path: str) -> tuple[int, str]:
        """Ask over HTTP; 0 while nothing listens."""
        return self.ask("GET", path)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, str]:
        target = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            target.request(method, path, body, dict(headers or {}))
            answer = target.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        except ConnectionError:
            return 0, ""
        finally:
            target.close()

    def metric(self, name: str) -> float | None:
        """Return a sample of /metrics; None when it is not there."""
        _, text = self.get("/metrics")
        values = [
            line.rpartition(" ")[2]
            for line in text.splitlines()
            if line.rpartition(" ")[0] == name
        ]
        return float(values[0]) if values else None

    def waiting(self) -> float:
        """Return how many effects are not settled."""
        rows = [
            self.metric(f'gpucost_outbox_rows{{state="{state}"}}') or 0.0
            for state in ("pending", "sending")
        ]
        return sum(rows)

    def settled(self) -> None:
        """Wait until nothing waits in the outbox."""
        until(lambda: self.waiting() == 0, "an empty outbox")

    def task(self, name: str, slot: str) -> None:
        """Wait until a slot of a task was run."""
        wanted = {"task": name, "slot": slot}
        until(
            lambda: [one for one in self.logs("task_finished") if wanted.items() <= one.items()],
            f"{name} of {slot}: {self.log_file.read_text()[-2000:]}",
        )  # fmt: skip

    def tasks(self, *names: str) -> None:
        """Wait until every named task ran once."""

        def missing() -> set[str]:
            return {*names} - {one["task"] for one in self.logs("task_finished")}

        until(lambda: not missing(), f"{names}: {self.log_file.read_text()[-2000:]}")

    def stop(self) -> tuple[int, float]:
        """End it by SIGTERM; return its exit code and how long it took."""
        began = time.monotonic()
        self.child.send_signal(signal.SIGTERM)
        try:
            code = self.child.wait(PATIENCE_S)
        finally:
            self.kill()
        return code, time.monotonic() - began

    def kill(self) -> None:
        self.child.kill()
        self.child.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(
    aws: AwsSandbox, slack: SlackSandbox | None, bytecode: Path
) -> dict[str, str]:
    """Return the environment of a process beside the doubles, canaries planted."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("AWS_", "SLACK_", "GPUCOST_", "PYTHON"))
    }
    values = kept | aws.environment() | CANARIES
    values.pop("GPUCOST_NOW", None)
    values["PYTHONPYCACHEPREFIX"] = str(bytecode)
    if slack is None:
        return {key: value for key, value in values.items() if "SLACK_" not in key}
    return values | {"SLACK_API_URL": slack.api_url}
