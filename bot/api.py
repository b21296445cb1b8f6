"""The HTTP side: health, readiness, metrics and Slack's requests in HTTP mode.

Slack requests pass a size limit and the signature check over their raw bytes before
anything parses them, and are handled in a thread pool of stated size. Knows no SQL
and nothing of what a request means.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from billing.core.errors import GpucostError

log = structlog.get_logger()

#: Slack's own bodies are far smaller; the limit stands before any parsing.
SLACK_BODY_BYTES_MAX = 64 * 1024
#: Requests of Slack handled at once; the next ones wait. Health checks have their own.
SLACK_THREADS = 16

Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiHandlers:
    """What the HTTP side calls; filled by the composition root.

    Attributes:
        ready: Returns ``(ready, document)``; not ready is answered with 503.
        metrics: Returns the Prometheus text.
        check_slack: Returns None, or ``(status, reason)`` for a refused request.
        dispatch_slack: Handles a checked request; ``(status, headers, body)``. None in
            Socket Mode: then the route answers 404.
    """

    ready: Callable[[], tuple[bool, dict[str, Any]]]
    metrics: Callable[[], bytes]
    check_slack: Callable[[Headers, bytes], tuple[int, str] | None] | None = None
    dispatch_slack: (
        Callable[[Headers, bytes], tuple[int, Mapping[str, str], str]] | None
    ) = None


def build_api(handlers: ApiHandlers) -> FastAPI:
    """Build the ASGI application."""
    api = FastAPI(title="gpucost", docs_url="/docs", redoc_url=None)
    pool = ThreadPoolExecutor(SLACK_THREADS, thread_name_prefix="slack-http")

    @api.middleware("http")
    async def no_traceback(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        try:
            return await call_next(request)
        except Exception:
            log.exception("http_failed", path=request.url.path)
            return JSONResponse({"error": "internal error"}, status_code=500)

    @api.get("/healthz")
    def healthz() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "ok"}

    @api.get("/readyz")
    def readyz() -> JSONResponse:
        """Tell whether database and schema are usable; stale data is 200 `degraded`."""
        ready, document = handlers.ready()
        return JSONResponse(document, status_code=200 if ready else 503)

    @api.get("/metrics")
    def metrics() -> PlainTextResponse:
        """Return Prometheus metrics."""
        return PlainTextResponse(
            handlers.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8"
        )

    @api.post("/slack/events")
    async def slack_events(request: Request) -> Response:
        """Take one of Slack's requests: a command, a click or an event."""
        return await _slack(handlers, pool, request)

    return api


async def _slack(
    handlers: ApiHandlers, pool: ThreadPoolExecutor, request: Request
) -> Response:
    check, dispatch = handlers.check_slack, handlers.dispatch_slack
    if check is None or dispatch is None:
        return PlainTextResponse("slack.mode is not http", status_code=404)
    body = await _bounded_body(request)
    if body is None:
        # Closing is what ends the sending: the rest is never read.
        return PlainTextResponse(
            "body too large", status_code=413, headers={"connection": "close"}
        )
    headers = {key.lower(): value for key, value in request.headers.items()}
    refused = check(headers, body)
    if refused is not None:
        status, reason = refused
        log.info("slack_request_refused", reason=reason)
        return PlainTextResponse("refused", status_code=status)
    status, answer_headers, answer = await asyncio.get_running_loop().run_in_executor(
        pool, dispatch, headers, body
    )
    return Response(answer, status_code=status, headers=dict(answer_headers))


async def _bounded_body(request: Request) -> bytes | None:
    """Read the body; None as soon as it passes the limit, whatever its length says."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > SLACK_BODY_BYTES_MAX:
            return None
        parts.append(part)
    return b"".join(parts)


class CannotListenError(GpucostError):
    """The address of the HTTP side is taken or not ours."""

    code = "cannot_listen"
    hint = "free it, or set http.host and http.port in the configuration"

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"cannot listen on {host}:{port}: {reason.lower()}")


class ApiServer:
    """Serves the ASGI application from a thread until stopped."""

    def __init__(self, api: FastAPI, *, host: str, port: int) -> None:
        config = uvicorn.Config(
            api, log_config=None, access_log=False,
            timeout_graceful_shutdown=5, lifespan="off",
        )  # fmt: skip
        self._address = (host, port)
        self._socket: socket.socket | None = None
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def _run(self) -> None:
        assert self._socket is not None
        self._server.run(sockets=[self._socket])

    def start(self) -> None:
        """Listen, and answer from a thread; requests wait until it is there.

        Raises:
            CannotListenError: In a thread of its own this would go unnoticed.
        """
        host, port = self._address
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise CannotListenError(host, port, reason) from error
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, after the requests in flight."""
        self._server.should_exit = True
        self._thread.join(timeout=10)

    @property
    def port(self) -> int | None:
        """Return the port listened on; None before it listens."""
        if self._socket is None:
            return None
        port: int = self._socket.getsockname()[1]
        return port
