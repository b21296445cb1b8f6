"""The loopback HTTP server: reads requests, writes outcomes, breaks connections.

It must not know AWS. Faults that cut an answer short are carried out here.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from deploy.sandbox.aws.dispatch import Outcome
from deploy.sandbox.aws.errors import Reply
from deploy.sandbox.aws.wire import Raw

Answer = Callable[[Raw], Outcome]
#: The server writes these itself.
OWN_HEADERS = {"content-length", "connection", "transfer-encoding", "date", "server"}
WITHOUT_BODY = {204, 304}


class Server(ThreadingHTTPServer):
    """A threaded server that forgets its connections when it stops."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, port: int, answer: Answer) -> None:
        """Listen on 127.0.0.1; port 0 lets the system choose one."""
        self.answer = answer
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        super().__init__(("127.0.0.1", port), Handler)

    def start(self) -> None:
        """Serve in a thread of this process."""
        self._thread = threading.Thread(
            target=self.serve_forever,
            kwargs={"poll_interval": 0.05},
            name="aws-sandbox",
            daemon=True,
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop serving and close every connection."""
        self.shutdown()
        if self._thread is not None:
            self._thread.join()
        self.server_close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, then serve it in a thread of its own."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection, then close it."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about clients that went away."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Server

    def handle_any(self) -> None:
        """Answer one request of any method."""
        raw = Raw(
            method=self.command,
            target=self.path,
            headers={key.lower(): value for key, value in self.headers.items()},
            body=self._body(),
            host=self.headers.get("Host", "127.0.0.1"),
        )
        outcome = self.server.answer(raw)
        if outcome.ending == "drop":
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._write(outcome)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = handle_any  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write no access log: requests are recorded elsewhere."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(iter(self._chunk, b""))
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _write(self, outcome: Outcome) -> None:
        reply = outcome.reply
        half = reply.body[: len(reply.body) // 2]
        body = reply.body if outcome.ending == "whole" else half
        announced = reply.body if outcome.ending == "cut" else body
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in OWN_HEADERS:
                self.send_header(name, value)
        if reply.status not in WITHOUT_BODY:
            self.send_header("Content-Length", self._length(reply, announced))
        if outcome.ending == "cut":
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def _length(self, reply: Reply, body: bytes) -> str:
        """Return the body's length; HEAD keeps the one that was stated."""
        if self.command == "HEAD":
            stated = {k.lower(): v for k, v in reply.headers.items()}
            return stated.get("content-length", str(len(body)))
        return str(len(body))
