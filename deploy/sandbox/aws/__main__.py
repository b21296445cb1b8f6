"""Run the AWS double on its own: ``python -m deploy.sandbox.aws``.

It must not know the product; it writes its address to a state file and waits.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path

from deploy.sandbox.aws.sandbox import AwsSandbox
from deploy.sandbox.aws.world import World, load_world


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m deploy.sandbox.aws")
    parser.add_argument("--port", type=int, default=0, help="0: the system chooses")
    parser.add_argument("--world", type=Path, help="a world as JSON")
    parser.add_argument("--state-file", type=Path, help="where the address is written")
    parser.add_argument("--now", help="an instant or file:PATH, as GPUCOST_NOW")
    options = parser.parse_args(arguments)
    world = load_world(options.world) if options.world else World()
    clock = options.now or world.now or os.environ.get("GPUCOST_NOW")
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with AwsSandbox(world, clock=clock, port=options.port) as sandbox:
        state = {
            "endpoint_url": sandbox.endpoint_url,
            "pid": os.getpid(),
            "environment": sandbox.environment(),
        }
        if options.state_file:
            _write(options.state_file, json.dumps(state))
        sys.stdout.write(f"{sandbox.endpoint_url}\n")
        sys.stdout.flush()
        stopped.wait()
    return 0


def _write(path: Path, text: str) -> None:
    """Write a file so that a reader never sees half of it."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


if __name__ == "__main__":
    raise SystemExit(main())
