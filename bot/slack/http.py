"""The gate of Slack's HTTP requests: size, signature, age; pure and never raising.

Runs on raw bytes before anything is parsed. A refusal has a fixed reason and holds
nothing of the request, so it may be logged.
https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

BODY_BYTES_MAX = 64 * 1024
WINDOW_S = 300
_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)

HeaderValue = str | list[str] | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Why a request is refused.

    Attributes:
        reason: Constant text; ``clock`` ones mean: check the machine's clock.
    """

    status: int
    reason: str


TOO_LARGE = Rejected(status=413, reason="body is larger than 64 KiB")
ENCODED = Rejected(status=415, reason="compressed bodies are not accepted")
NO_SECRET = Rejected(status=503, reason="no signing secret is configured")
MALFORMED = Rejected(status=401, reason="signature headers are missing or malformed")
TOO_OLD = Rejected(
    status=401, reason="timestamp is over 5 minutes old: a replay, or check the clock"
)
TOO_NEW = Rejected(
    status=401, reason="timestamp is over 5 minutes ahead: check the clock"
)
FORGED = Rejected(status=401, reason="signature does not match")


def check_request(
    headers: Mapping[str, HeaderValue], body: bytes, *, secret: str, now: datetime
) -> Rejected | None:
    """Return why a request is refused; None when Slack signed it just now.

    `now` is the system clock: signatures know no other.
    """
    if len(body) > BODY_BYTES_MAX:
        return TOO_LARGE
    if not secret:
        return NO_SECRET
    found = {key.lower(): value for key, value in headers.items()}
    if _one(found, "content-encoding") not in {"", "identity"}:
        return ENCODED
    timestamp = _one(found, "x-slack-request-timestamp")
    signature = _one(found, "x-slack-signature")
    if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(signature):
        return MALFORMED
    age_s = now.timestamp() - int(timestamp)
    if age_s > WINDOW_S:
        return TOO_OLD
    if age_s < -WINDOW_S:
        return TOO_NEW
    expected = sign(body, timestamp=timestamp, secret=secret)
    return None if hmac.compare_digest(expected, signature) else FORGED


def is_oversized(headers: Mapping[str, HeaderValue]) -> bool:
    """Tell from Content-Length alone that a body need not even be read."""
    found = {key.lower(): value for key, value in headers.items()}
    length = _one(found, "content-length")
    return bool(_TIMESTAMP.fullmatch(length)) and int(length) > BODY_BYTES_MAX


def sign(body: bytes, *, timestamp: str, secret: str) -> str:
    """Return Slack's v0 signature of a body."""
    base = b"v0:" + timestamp.encode("ascii") + b":" + body
    digest = hmac.new(secret.encode("utf-8"), base, hashlib.sha256).hexdigest()
    return f"v0={digest}"


def _one(headers: Mapping[str, object], key: str) -> str:
    """Return a header's only value; "" when it is absent or given more than once."""
    value: object = headers.get(key, "")
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and len(value) == 1:
        return value[0] if isinstance(value[0], str) else ""
    return ""
