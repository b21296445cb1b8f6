"""The ASGI application: health, readiness, metrics, Slack's requests, and `/v1`.

Slack requests pass a size limit and the signature check over their raw bytes before
anything parses them, and are handled in a thread pool of stated size. Knows no SQL
and nothing of what a request means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.api.limits import bounded_body
from bot.api.v1 import V1Handlers, add_v1

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
        v1: What `/v1` calls; None leaves it out.
    """

    ready: Callable[[], tuple[bool, dict[str, Any]]]
    metrics: Callable[[], bytes]
    check_slack: Callable[[Headers, bytes], tuple[int, str] | None] | None = None
    dispatch_slack: (
        Callable[[Headers, bytes], tuple[int, Mapping[str, str], str]] | None
    ) = None
    v1: V1Handlers | None = None


class NoTraceback:
    """Answers 500 for a failure that nobody foresaw, and logs it.

    Plain ASGI: the framework's own kind of middleware hides that a client has gone.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection of the server."""
        has_begun = False

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            log.exception("http_failed", path=scope.get("path"))
            if has_begun or scope["type"] != "http":
                return
            answer = JSONResponse({"error": "internal error"}, status_code=500)
            await answer(scope, receive, send)


def build_api(handlers: ApiHandlers) -> FastAPI:
    """Build the ASGI application."""
    api = FastAPI(title="gpucost", docs_url="/docs", redoc_url=None)
    pool = ThreadPoolExecutor(SLACK_THREADS, thread_name_prefix="slack-http")

    api.add_middleware(NoTraceback)

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

    if handlers.v1 is not None:
        add_v1(api, handlers.v1)
    return api


async def _slack(
    handlers: ApiHandlers, pool: ThreadPoolExecutor, request: Request
) -> Response:
    check, dispatch = handlers.check_slack, handlers.dispatch_slack
    if check is None or dispatch is None:
        return PlainTextResponse("slack.mode is not http", status_code=404)
    body = await bounded_body(request, SLACK_BODY_BYTES_MAX)
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
