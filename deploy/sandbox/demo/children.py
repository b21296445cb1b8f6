"""Child processes of the demo: started, watched, waited for, always stopped.

Waiting is by looking at a condition until a deadline; a child that died ends the wait
at once, with the end of its log.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

LOOK_EVERY_S = 0.05
STOP_S = 12.0
TAIL_LINES = 20

Value = TypeVar("Value")


class DemoError(Exception):
    """The demo cannot go on; the message says what to do."""


@dataclass(slots=True)
class Child:
    """One process, with its output in a file."""

    name: str
    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def log(self) -> Path:
        """Return where its output goes."""
        return self.folder / f"{self.name}.log"

    def start(self) -> None:
        """Start it in a session of its own: Ctrl-C reaches the demo alone."""
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(  # noqa: S603 - our own commands
                self.command,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise when it has ended although nobody asked it to."""
        code = self.process.poll() if self.process else None
        if code is not None:
            message = f"{self.name} ended by itself with code {code}.\n{self.tail()}"
            raise DemoError(message)

    def stop(self) -> None:
        """Ask it to end, then make it."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def tail(self) -> str:
        """Return the end of its output."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        shown = lines[-TAIL_LINES:] or ["(it wrote nothing)"]
        return "\n".join([f"The end of its log ({self.log}):", *shown])

    def events(self) -> list[dict[str, Any]]:
        """Return the structured events of its log so far."""
        found = []
        for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                found.append(event)
        return found


def wait_until(
    what: str,
    condition: Callable[[], Value],
    *,
    children: Sequence[Child],
    timeout_s: float,
) -> Value:
    """Return the first truthy value of a condition, looked at again and again.

    Raises:
        DemoError: A child ended, or the time is up.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        for child in children:
            child.check()
        if time.monotonic() >= deadline:
            tails = "\n".join(child.tail() for child in children)
            message = f"{what} did not happen within {timeout_s:g} s.\n{tails}"
            raise DemoError(message)
        time.sleep(LOOK_EVERY_S)
