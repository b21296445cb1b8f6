"""Run the Slack sandbox as a process of its own, until it is told to stop."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path

from deploy.sandbox.slack.clock import clock_from
from deploy.sandbox.slack.limits import PostLimit
from deploy.sandbox.slack.model import Json, example_workspace, load_workspace
from deploy.sandbox.slack.sandbox import SlackSandbox


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m deploy.sandbox.slack")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--workspace", type=Path, help="JSON; default: an example")
    parser.add_argument("--state-file", type=Path, help="where to write the addresses")
    parser.add_argument("--http-url", help="deliver there instead of Socket Mode")
    parser.add_argument("--now", help="an instant or file:PATH; default GPUCOST_NOW")
    parser.add_argument("--no-post-limit", action="store_true")
    return parser.parse_args(argv)


def addresses(sandbox: SlackSandbox) -> Json:
    """Return what another process needs to use the sandbox."""
    app = sandbox.workspace.app
    return {
        "pid": os.getpid(),
        "base_url": sandbox.base_url,
        "control_url": f"{sandbox.base_url}/control/",
        "environment": {
            "SLACK_API_URL": sandbox.api_url,
            "SLACK_APP_TOKEN": app.app_token,
            "SLACK_BOT_TOKEN": app.bot_token,
            "SLACK_SIGNING_SECRET": app.signing_secret,
        },
    }


def write_state(path: Path, document: Json) -> None:
    """Write a file in one step, so that nobody reads half of it."""
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_text(json.dumps(document, indent=2), encoding="utf-8")
    temporary.replace(path)


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT."""
    options = _arguments(sys.argv[1:] if argv is None else argv)
    known = options.workspace
    sandbox = SlackSandbox(
        load_workspace(known) if known else example_workspace(),
        clock=clock_from(options.now or os.environ.get("GPUCOST_NOW")),
        post_limit=PostLimit(per_s=None) if options.no_post_limit else None,
        http_url=options.http_url,
    )
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    sandbox.start(options.port)
    try:
        if options.state_file:
            write_state(options.state_file, addresses(sandbox))
        print(f"Slack sandbox at {sandbox.base_url}", flush=True)
        stop.wait()
    finally:
        sandbox.stop()
    if options.state_file:
        options.state_file.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
