"""Run the demo: ``python -m deploy.sandbox.demo [--once]``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from deploy.sandbox.demo.children import DemoError
from deploy.sandbox.demo.prompt import Prompt
from deploy.sandbox.demo.screen import BOLD, Screen
from deploy.sandbox.demo.show import EARLIER, Show
from deploy.sandbox.demo.stage import opened_stage

FAILED, INTERRUPTED, TERMINATED = 1, 130, 143


class StoppedError(Exception):
    """Somebody sent SIGTERM."""


def main(arguments: list[str] | None = None) -> int:
    """Show everything once, then stay up while somebody is there to type."""
    parser = argparse.ArgumentParser(prog="python -m deploy.sandbox.demo")
    parser.add_argument("--once", action="store_true", help="show, stop, exit 0")
    options = parser.parse_args(arguments)
    has_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    screen = Screen(sys.stdout, has_colour=has_colour)
    stays = not options.once and sys.stdin.isatty()
    try:
        with _stopping_on_sigterm():
            _run(screen, stays=stays)
    except DemoError as error:
        screen.trouble(f"\nThe demo stopped: {error}")
        screen.trouble("Run `make demo` again; if it stays, report what stands above.")
        return FAILED
    except KeyboardInterrupt:
        screen.line("\nStopped.")
        return INTERRUPTED
    except StoppedError:
        return TERMINATED
    return 0


def _run(screen: Screen, *, stays: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="gpucost-demo-") as name:
        screen.line("gpucost on a simulated AWS and a simulated Slack", BOLD)
        screen.say("Nothing leaves this machine; no account is needed.")
        screen.step("starting both on loopback")
        with opened_stage(Path(name), EARLIER[0]) as stage:
            try:
                _perform(Show(stage, screen), stays=stays)
            finally:
                _ignore_signals()
                screen.line()
                screen.step("stopping gpucost and both doubles")
    screen.line("Everything is stopped.")


def _perform(show: Show, *, stays: bool) -> None:
    show.run()
    if not stays:
        return
    with suppress(ImportError):
        import readline  # noqa: F401, PLC0415 - line editing at the prompt, if there
    with suppress(KeyboardInterrupt):
        Prompt(show).run(input)


@contextmanager
def _stopping_on_sigterm() -> Iterator[None]:
    def on_signal(_number: int, _frame: FrameType | None) -> None:
        raise StoppedError

    before = signal.signal(signal.SIGTERM, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _ignore_signals() -> None:
    """Let nothing interrupt the stopping; it ends by itself."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    raise SystemExit(main())
