"""A Cost Explorer on loopback, in a process of its own, that answers with ready bytes.

The first time a question comes, its pages are built; from then on they are only sent,
so that what is measured is the reader. ``python -m tests.bench.ce_server GROUPS PAGE``
prints its port and ends with its standard input.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.bench.ce_answers import Bill, Json, pages_of, tags_answer


class Answers:
    """Every answer given so far, by its question without the page token."""

    def __init__(self, bill: Bill) -> None:
        self._bill = bill
        self._pages: dict[str, list[bytes]] = {}

    def answer(self, operation: str, request: Json) -> bytes:
        if operation == "ListCostAllocationTags":
            return tags_answer()
        token = request.pop("NextPageToken", "0")
        key = json.dumps(request, sort_keys=True)
        if key not in self._pages:
            self._pages[key] = pages_of(self._bill, request)
        return self._pages[key][int(token)]


class Handler(BaseHTTPRequestHandler):
    """Reads one request after the other from a connection that stays open."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    answers: Answers

    def do_POST(self) -> None:
        operation = self.headers["X-Amz-Target"].rpartition(".")[2]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = self.answers.answer(operation, request)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's
        """Say nothing."""


@contextmanager
def serving(bill: Bill) -> Iterator[str]:
    """Start the server and give its URL; it is gone afterwards."""
    command = [sys.executable, "-m", __name__, str(bill.groups), str(bill.page)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def main() -> None:
    Handler.answers = Answers(Bill(*map(int, sys.argv[1:3])))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
