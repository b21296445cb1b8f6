"""A Prometheus that answers on this machine as the real one does, from a script."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class PrometheusDouble:
    """What it answers, by a word of the question; other questions are empty.

    Attributes:
        raw: Sent as it is instead of any answer, with its status.
    """

    url: str = ""
    series: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    raw: tuple[int, bytes] | None = None
    asked: list[dict[str, str]] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, bytes]:
        values = {key: one[0] for key, one in parse_qs(urlsplit(path).query).items()}
        self.asked.append({"path": urlsplit(path).path, **values})
        if self.raw is not None:
            return self.raw
        kind = "matrix" if path.startswith("/api/v1/query_range") else "vector"
        found = [
            one
            for word, series in self.series.items()
            if values["query"].startswith((word, f"last_over_time({word}"))
            for one in series
        ]
        data = {"resultType": kind, "result": found}
        return 200, json.dumps({"status": "success", "data": data}).encode()


@contextmanager
def prometheus_double() -> Iterator[PrometheusDouble]:
    """Serve a double on a port that the system chooses."""
    double = PrometheusDouble()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = double.answer(self.path)
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", body.decode())
                body = b""
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    double.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
