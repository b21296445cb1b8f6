"""The `/control` pages: faults, recorded requests, clock and world at run time.

It must not know sockets or AWS protocols.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

from pydantic import ValidationError

from deploy.sandbox.aws.clock import Clock, parse_instant
from deploy.sandbox.aws.errors import Reply
from deploy.sandbox.aws.faults import FAULT, Faults
from deploy.sandbox.aws.recording import Requests
from deploy.sandbox.aws.world import WORLD, World

PREFIX = "/control/"


class Controlled(Protocol):
    """What the control pages may read and change."""

    world: World
    clock: Clock
    faults: Faults
    requests: Requests

    def reset(self, world: World | None = None) -> None:
        """Start over from a world."""


def handle(sandbox: Controlled, method: str, path: str, body: bytes) -> Reply:
    """Answer one request to a control page."""
    page = PAGES.get((method, path.removeprefix(PREFIX)))
    if page is None:
        return _json({"error": f"no control page {method} {path}"}, status=404)
    try:
        return _json(page(sandbox, body))
    except (ValidationError, ValueError) as error:
        return _json({"error": str(error)}, status=400)


def _json(value: Any, *, status: int = 200) -> Reply:
    body = json.dumps(value, default=str).encode()
    headers = {"Content-Type": "application/json"}
    return Reply(status=status, headers=headers, body=body)


def _health(_sandbox: Controlled, _body: bytes) -> Any:
    return {"ok": True}


def _faults(sandbox: Controlled, _body: bytes) -> Any:
    faults = sandbox.faults.active()
    return {"faults": [FAULT.dump_python(f, mode="json") for f in faults]}


def _add_faults(sandbox: Controlled, body: bytes) -> Any:
    value = json.loads(body)
    items = value if isinstance(value, list) else [value]
    for fault in [FAULT.validate_python(item) for item in items]:
        sandbox.faults.add(fault)
    return _faults(sandbox, b"")


def _clear_faults(sandbox: Controlled, body: bytes) -> Any:
    sandbox.faults.clear()
    return _faults(sandbox, body)


def _requests(sandbox: Controlled, _body: bytes) -> Any:
    return sandbox.requests.to_json()


def _clear_requests(sandbox: Controlled, body: bytes) -> Any:
    sandbox.requests.clear()
    return _requests(sandbox, body)


def _clock(sandbox: Controlled, _body: bytes) -> Any:
    return {"now": sandbox.clock.now().isoformat().replace("+00:00", "Z")}


def _set_clock(sandbox: Controlled, body: bytes) -> Any:
    source = json.loads(body)["now"]
    if source is not None and not source.startswith("file:"):
        parse_instant(source)
    sandbox.clock.set(source)
    return _clock(sandbox, b"")


def _set_world(sandbox: Controlled, body: bytes) -> Any:
    sandbox.reset(WORLD.validate_json(body))
    return {"ok": True}


PAGES: dict[tuple[str, str], Callable[[Controlled, bytes], Any]] = {
    ("GET", "health"): _health,
    ("GET", "faults"): _faults,
    ("POST", "faults"): _add_faults,
    ("DELETE", "faults"): _clear_faults,
    ("GET", "requests"): _requests,
    ("DELETE", "requests"): _clear_requests,
    ("GET", "clock"): _clock,
    ("PUT", "clock"): _set_clock,
    ("PUT", "world"): _set_world,
}
