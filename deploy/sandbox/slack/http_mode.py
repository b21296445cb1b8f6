"""HTTP mode: the same deliveries as signed requests to a request URL.

Signatures use the system clock, whatever month the workspace lives in.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlencode, urlsplit

from deploy.sandbox.slack.deliveries import COMMANDS, INTERACTIVE, Attempt, Delivery
from deploy.sandbox.slack.model import Json

FORM = "application/x-www-form-urlencoded"
_OK = 200
_WORKERS_MAX = 64


def signed_headers(
    secret: str, body: bytes, *, timestamp_s: int | None = None
) -> dict[str, str]:
    """Return the signature headers of a request, made now unless said otherwise."""
    stamp = str(int(time.time()) if timestamp_s is None else timestamp_s)
    base = b":".join((b"v0", stamp.encode(), body))
    digest = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={digest}"}


def request_body(delivery: Delivery) -> tuple[str, bytes]:
    """Return the content type and the body that Slack would send."""
    if delivery.kind == COMMANDS:
        return FORM, urlencode(delivery.payload).encode()
    if delivery.kind == INTERACTIVE:
        return FORM, urlencode({"payload": json.dumps(delivery.payload)}).encode()
    return "application/json", json.dumps(delivery.payload).encode()


class HttpTransport:
    """Posts deliveries to the app's request URL."""

    def __init__(self, url: str, *, secret: str, ack_timeout_s: float) -> None:
        self._url = urlsplit(url)
        self._secret = secret
        self._ack_timeout_s = ack_timeout_s
        self._pool = ThreadPoolExecutor(_WORKERS_MAX, "slack-http")

    def close(self) -> None:
        """Let go of the worker threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def send(
        self, delivery: Delivery, *, number: int, reason: str | None
    ) -> Attempt:
        """Post once and judge the answer."""
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._pool, self._post, delivery, number, reason)
        try:
            return await asyncio.wait_for(work, self._ack_timeout_s)
        except TimeoutError:
            return Attempt(number=number, outcome="timeout", detail="http_timeout")

    def _post(self, delivery: Delivery, number: int, reason: str | None) -> Attempt:
        kind, body = request_body(delivery)
        headers = {"content-type": kind, "user-agent": "Slackbot 1.0"}
        headers |= signed_headers(self._secret, body)
        if number:
            why = {"timeout": "http_timeout"}.get(reason or "", reason or "")
            headers |= {"x-slack-retry-num": str(number), "x-slack-retry-reason": why}
        target = HTTPConnection(
            str(self._url.hostname), self._url.port, timeout=self._ack_timeout_s
        )
        started_s = time.monotonic()
        try:
            target.request("POST", self._url.path or "/", body, headers)
            response = target.getresponse()
            text = response.read().decode("utf-8", "replace")
        except TimeoutError:
            return Attempt(number=number, outcome="timeout", detail="http_timeout")
        except (OSError, HTTPException) as error:
            name = type(error).__name__
            return Attempt(number=number, outcome="connection_lost", detail=name)
        finally:
            target.close()
        no_retry = response.getheader("x-slack-no-retry") is not None
        if response.status != _OK:
            detail = str(response.status)
            return Attempt(
                number=number, outcome="http_error", detail=detail, no_retry=no_retry
            )
        return Attempt(
            number=number,
            outcome="acked",
            latency_s=time.monotonic() - started_s,
            payload=_parsed(text, response.getheader("content-type") or ""),
            no_retry=no_retry,
        )


def _parsed(text: str, content_type: str) -> Json | None:
    if not text.strip():
        return None
    if content_type.startswith("application/json"):
        try:
            body = json.loads(text)
        except ValueError:
            return {"text": text}
        return body if isinstance(body, dict) else None
    return {"text": text}
