"""The HTTP and WebSocket face of the sandbox, on one loopback port.

Turns requests into calls and faults into broken connections. Decides nothing.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from deploy.sandbox.slack.deliveries import Dispatcher
from deploy.sandbox.slack.faults import Fault, Faults
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.response_urls import ResponseUrls
from deploy.sandbox.slack.socket_mode import SocketHub
from deploy.sandbox.slack.state import State
from deploy.sandbox.slack.uploads import receive_upload
from deploy.sandbox.slack.web_api import Answer, WebApi

_START_TIMEOUT_S = 10.0
_GRACE_S = 1
_BAD_REQUEST = 400
_THROTTLED = 429
_OK = 200

_transports: dict[tuple[str, int], asyncio.Transport] = {}


class _Protocol(H11Protocol):
    """Remembers the transport of each client, so that a fault can cut it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.client is not None:
            _transports[self.client] = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self.client is not None:
            _transports.pop(self.client, None)
        super().connection_lost(exc)


class _Cut(Response):
    """An answer that never comes: the connection is reset instead."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del send  # nothing is said
        transport = _transports.get(tuple(scope["client"]))
        if transport is not None:
            transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass


Work = Callable[[Json, str | None], Answer]


class Endpoints:
    """The endpoints that the app calls."""

    def __init__(
        self,
        *,
        state: State,
        faults: Faults,
        web_api: WebApi,
        response_urls: ResponseUrls,
        hub: SocketHub,
    ) -> None:
        self._state = state
        self._faults = faults
        self._web_api = web_api
        self._response_urls = response_urls
        self._hub = hub

    def routes(self) -> list[BaseRoute]:
        """Return the routes of everything that Slack itself serves."""
        return [
            Route("/api/{method}", self._api, methods=["GET", "POST"]),
            Route("/hooks/{right}", self._hook, methods=["POST"]),
            Route("/upload/{file}", self._upload, methods=["POST", "PUT"]),
            WebSocketRoute("/link/", self._hub.serve),
        ]

    async def _api(self, request: Request) -> Response:
        name = request.path_params["method"]

        def work(values: Json, token: str | None) -> Answer:
            return self._web_api.call(name, values, token)

        return await self._faulty(request, name, work)

    async def _hook(self, request: Request) -> Response:
        right = request.path_params["right"]

        def work(values: Json, _token: str | None) -> Answer:
            answer = self._response_urls.post(right, values)
            self._web_api.log("response_url", values, answer)
            return answer

        return await self._faulty(request, "response_url", work)

    async def _upload(self, request: Request) -> Response:
        content = await _upload_bytes(request)
        if self._faults.outage:
            return _Cut()
        problem = receive_upload(self._state, request.path_params["file"], content)
        if problem is not None:
            return PlainTextResponse(problem, _BAD_REQUEST)
        return PlainTextResponse(f"OK - {len(content)}")

    async def _faulty(self, request: Request, name: str, work: Work) -> Response:
        values, token = await _values(request), _bearer(request)
        if self._faults.outage:
            return _Cut()
        faults = {fault.kind: fault for fault in self._faults.take(name)}
        if "delay" in faults:
            await asyncio.sleep(faults["delay"].delay_s)
        if "drop_before" in faults:
            return _Cut()
        answer = _instead(faults)
        if answer is None:
            answer = work(values, token)
        else:
            self._web_api.log(name, values, answer)
        if "drop_after" in faults:
            return _Cut()
        return _response(answer, is_cut="truncate" in faults)


def _instead(faults: dict[str, Fault]) -> Answer | None:
    """Return the answer of a call that a fault keeps from being done."""
    if "throttle" in faults:
        headers = {"Retry-After": str(faults["throttle"].retry_after_s)}
        body: Json = {"ok": False, "error": "ratelimited"}
        return Answer(body=body, status=_THROTTLED, headers=headers)
    if "auth" in faults:
        error = faults["auth"].error
        code = "invalid_auth" if error == "internal_error" else error
        return Answer(body={"ok": False, "error": code})
    if "fail" in faults:
        fault = faults["fail"]
        return Answer(body={"ok": False, "error": fault.error}, status=fault.status)
    return None


def _response(answer: Answer, *, is_cut: bool) -> Response:
    if not is_cut:
        return JSONResponse(answer.body, answer.status, answer.headers)
    whole = json.dumps(answer.body).encode()
    return Response(
        whole[: len(whole) // 2],
        answer.status,
        answer.headers,
        media_type="application/json",
    )


def _bearer(request: Request) -> str | None:
    header = request.headers.get("authorization", "")
    kind, _, token = header.partition(" ")
    return token.strip() or None if kind.lower() == "bearer" else None


async def _values(request: Request) -> Json:
    """Return the arguments of a call: query, then form or JSON."""
    values: Json = dict(request.query_params)
    body = await request.body()
    content_type = request.headers.get("content-type", "")
    if content_type.startswith("application/json"):
        try:
            parsed = json.loads(body or b"{}")
        except ValueError:
            parsed = {}
        return values | (parsed if isinstance(parsed, dict) else {})
    if content_type.startswith("multipart/form-data"):
        form: FormData = await request.form()
        return values | {key: str(value) for key, value in form.items()}
    text = body.decode("utf-8", "replace")
    return values | dict(parse_qsl(text, keep_blank_values=True))


async def _upload_bytes(request: Request) -> bytes:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return await request.body()
    form = await request.form()
    for value in form.values():
        if isinstance(value, UploadFile):
            return await value.read()
    return b""


class _Server(uvicorn.Server):
    """Ends as soon as it is told to, not at the next tick of a timer."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told_to_stop = asyncio.Event()

    async def main_loop(self) -> None:
        await self.told_to_stop.wait()


class ServerThread:
    """Runs the whole server on a thread with its own event loop."""

    def __init__(
        self, routes: Sequence[BaseRoute], *, dispatcher: Dispatcher, hub: SocketHub
    ) -> None:
        self._dispatcher = dispatcher
        self._hub = hub
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._server: _Server | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._app = Starlette(routes=routes, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self.loop = asyncio.get_running_loop()
        self._dispatcher.bind(self.loop)
        self._ready.set()
        yield
        await self._dispatcher.cancel()

    def start(self, host: str, port: int) -> int:
        """Listen on a port, 0 for one that is free, and return it."""
        listener = socket.create_server((host, port), backlog=512)
        config = uvicorn.Config(
            self._app,
            http=_Protocol,
            ws="websockets-sansio",
            lifespan="on",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_GRACE_S,
        )
        self._server = _Server(config)
        self._thread = threading.Thread(
            target=self._server.run,
            kwargs={"sockets": [listener]},
            name="slack-sandbox",
            daemon=True,
        )
        self._thread.start()
        if not self._ready.wait(_START_TIMEOUT_S):
            message = f"the sandbox did not start within {_START_TIMEOUT_S:g} s"
            raise RuntimeError(message)
        bound: int = listener.getsockname()[1]
        return bound

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._server is None or self._thread is None:
            return
        if self.loop is not None and self.loop.is_running():
            asyncio.run_coroutine_threadsafe(self._hub.close(), self.loop)
            self.loop.call_soon_threadsafe(self._server.told_to_stop.set)
        self._thread.join(_START_TIMEOUT_S)
        self._server = self._thread = None
