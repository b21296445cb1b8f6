"""The server: serves the ASGI application from a thread until stopped."""

from __future__ import annotations

import socket
import threading

import uvicorn
from fastapi import FastAPI

from billing.core.errors import GpucostError


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
