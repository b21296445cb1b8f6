"""A command as a child of this process: its signals, its exit code, nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import FrameType

from bot.settings import child_environment

#: Passed on to the child; a scheduler sends them to whom it started.
FORWARDED = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCONT,
)
#: A terminal sends these to the child itself.
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)


class Child:
    """One running command; signals that reach us go to it, until it has ended.

    Args:
        command: The program and its arguments.
        added: What its environment has besides ours.

    Raises:
        OSError: It cannot be executed.
    """

    def __init__(self, command: Sequence[str], added: Mapping[str, str]) -> None:
        self._early: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None
        # What we ignore (as under nohup), the child ignores too.
        heard = [one for one in FORWARDED if signal.getsignal(one) != signal.SIG_IGN]
        self._before = {one: signal.signal(one, self._pass_on) for one in heard}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - what the caller asked for
                [*command], env={**child_environment(), **added}
            )
        except OSError:
            self._restore()
            raise
        for number in self._early:
            self._send(self._process, number)

    def wait(self, timeout_s: float) -> int | None:
        """Return the exit code (128 + n when signal n ended it); None while it runs."""
        assert self._process is not None
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        self._restore()
        return code if code >= 0 else 128 - code

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._process is None:
            self._early.append(number)  # It is being started right now.
        else:
            self._send(self._process, number)

    def _send(self, process: subprocess.Popen[bytes], number: int) -> None:
        if number in FROM_TERMINAL and sys.stdin.isatty():
            return
        process.send_signal(number)

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
