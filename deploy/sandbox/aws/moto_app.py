"""Run moto's server application in this process, with the sandbox's clock.

It must not know any single service. moto keeps its data in process-wide tables, so one
process can run one sandbox at a time.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import moto.core.responses
import moto.iam.models
import moto.sts.models  # noqa: F401  # loaded before its clock would change
from moto.core import utils as moto_utils
from moto.core.serialize import get_serializer_class
from moto.core.utils import get_service_model
from moto.iam.models import iam_backends
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    create_backend_app,
)

from deploy.sandbox.aws.errors import AwsError, Reply, not_implemented
from deploy.sandbox.aws.wire import Incoming, Raw

#: Credentials expire by the system clock.
SYSTEM_CLOCK = ("moto.sts", "moto.iam", "moto.core.responses")
#: moto's catalogue of public images would add snapshots that the world has not.
SETTINGS = {"MOTO_EC2_LOAD_DEFAULT_AMIS": "false"}
NOT_FOUND = 404
#: Waits inside a call (long polling), so it must not hold the others up.
UNLOCKED = {"sqs"}


class MotoApp:
    """moto's WSGI application between `start` and `stop`."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """Let moto tell the time from `now`, naive and in UTC."""
        self._now = now
        self._original = moto_utils.utcnow
        self._environment: dict[str, str | None] = {}
        self._lock = threading.RLock()
        self._app: Any = None

    def start(self) -> None:
        """Empty moto's tables and set its clock."""
        self._environment = {name: os.environ.get(name) for name in SETTINGS}
        os.environ.update(SETTINGS)
        self._app = DomainDispatcherApplication(create_backend_app)
        moto_api_backend.reset()
        self.follow_clock()

    def clear(self) -> None:
        """Empty moto's tables."""
        moto_api_backend.reset()

    def stop(self) -> None:
        """Empty moto's tables and give its clock and settings back."""
        self._replace_clock(self._now, self._original)
        moto_api_backend.reset()
        for name, value in self._environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def follow_clock(self) -> None:
        """Give every part of moto that is loaded by now the sandbox's clock."""
        self._replace_clock(self._original, self._now)

    def _replace_clock(
        self, old: Callable[[], datetime], new: Callable[[], datetime]
    ) -> None:
        for name, module in list(sys.modules.items()):
            if not name.startswith("moto.") or name.startswith(SYSTEM_CLOCK):
                continue
            if getattr(module, "utcnow", None) == old:
                module.utcnow = new  # type: ignore[attr-defined]

    def locked(self) -> AbstractContextManager[Any]:
        """Keep every other call to moto out."""
        return self._lock

    def account_of(self, access_key: str, default: str) -> str:
        """Return the account whose credentials these are."""
        for account, partitions in list(iam_backends.items()):
            if any(
                access_key in backend.access_keys for backend in partitions.values()
            ):
                return str(account)
        return default

    def call(self, raw: Raw, incoming: Incoming, account: str) -> Reply:
        """Answer one request; an operation that moto lacks is a named failure."""
        if not self._has_service(raw):
            raise not_implemented(incoming.service, incoming.operation)
        environ = raw.environ()
        environ["HTTP_X_MOTO_ACCOUNT_ID"] = account
        try:
            reply = self._run(environ, locked=incoming.service not in UNLOCKED)
        except AwsError:
            raise
        except NotImplementedError as error:
            raise not_implemented(incoming.service, incoming.operation) from error
        except Exception as error:
            message = (
                f"moto failed in {incoming.service} {incoming.operation}: "
                f"{type(error).__name__}: {error}"
            )
            raise AwsError("SandboxFailure", message, status=501) from error
        content_type = reply.headers.get("Content-Type", "")
        if reply.status == NOT_FOUND and content_type.startswith("text/html"):
            raise not_implemented(incoming.service, incoming.operation)
        return reply

    def _has_service(self, raw: Raw) -> bool:
        host = self._app.infer_service_region_host(raw.environ(), raw.target)
        if host is None or "." not in host:
            return True
        return any(
            pattern.match(f"http://{host}")
            for _, pattern in self._app.backend_url_patterns
        )

    def _run(self, environ: dict[str, Any], *, locked: bool) -> Reply:
        if not locked:
            return self._wsgi(environ)
        with self._lock:
            reply = self._wsgi(environ)
            self.follow_clock()
            return reply

    def _wsgi(self, environ: dict[str, Any]) -> Reply:
        reply = Reply()

        def start_response(
            status: str, headers: list[tuple[str, str]], *_: object
        ) -> Callable[[bytes], None]:
            reply.status = int(status.split(" ", 1)[0])
            reply.headers = dict(headers)
            return lambda _data: None

        chunks: Iterable[bytes] = self._app(environ, start_response)
        reply.body = b"".join(chunks)
        close = getattr(chunks, "close", None)
        if close is not None:
            close()
        return reply


def serialize(incoming: Incoming, result: dict[str, Any]) -> Reply:
    """Return a result in the protocol that the client speaks."""
    model = get_service_model(incoming.service).operation_model(incoming.operation)
    serializer = get_serializer_class(incoming.service, incoming.protocol)
    answer = serializer(model).serialize(result)
    body = answer["body"]
    headers = {name: str(value) for name, value in answer["headers"].items()}
    return Reply(
        headers=headers, body=body.encode() if isinstance(body, str) else bytes(body)
    )
