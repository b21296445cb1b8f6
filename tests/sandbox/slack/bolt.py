"""A real slack-bolt application, connected to the sandbox in either mode."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from slack_bolt import App, BoltRequest
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from deploy.sandbox.slack import SlackSandbox


def make_client(slack: SlackSandbox, token: str | None = None) -> WebClient:
    own = slack.workspace.app.bot_token
    return WebClient(token=token or own, base_url=slack.api_url, timeout=5)


def make_app(slack: SlackSandbox) -> App:
    app = slack.workspace.app
    return App(
        client=make_client(slack),
        signing_secret=app.signing_secret,
        raise_error_for_unhandled_request=False,
    )


@contextmanager
def in_socket_mode(slack: SlackSandbox, app: App, count: int = 1) -> Iterator[None]:
    token = slack.workspace.app.app_token
    handlers = [SocketModeHandler(app, token, ping_interval=0.2) for _ in range(count)]
    for handler in handlers:
        handler.connect()  # type: ignore[no-untyped-call]
    slack.wait_for(lambda: len(slack.connections) == count)
    try:
        yield
    finally:
        # The client sits out its read timeout and its queue's: nobody waits for that.
        for handler in handlers:
            handler.client.auto_reconnect_enabled = False
        slack.drop_connections()
        for handler in handlers:
            threading.Thread(target=handler.close, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        body = self.rfile.read(size).decode()
        server: Any = self.server
        headers = dict(self.headers.items())
        server.seen.append(headers)
        answer = server.app.dispatch(BoltRequest(body=body, headers={**headers}))
        self.send_response(answer.status)
        for name, values in answer.headers.items():
            for value in values:
                self.send_header(name, value)
        content = (answer.body or "").encode()
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def in_http_mode(slack: SlackSandbox, app: App) -> Iterator[list[dict[str, str]]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    seen: list[dict[str, str]] = []
    vars(server).update(app=app, seen=seen)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    slack.use_http(f"http://127.0.0.1:{server.server_port}/slack/events")
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
