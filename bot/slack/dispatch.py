"""One HTTP request of Slack, from raw bytes to an answer: gate, parse, Bolt.

Synchronous; the web server calls it in a thread pool. Never raises and logs nothing
of a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slack_bolt import App, BoltRequest

from bot.slack.http import HeaderValue, Rejected, check_request

UNREADABLE = Rejected(status=400, reason="body cannot be read")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What the web server sends back.

    Attributes:
        rejected: Why the request was refused, for one line of log; None when it passed.
    """

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    rejected: Rejected | None = None


def handle(
    app: App,
    headers: Mapping[str, str],
    body: bytes,
    *,
    secret: str,
    now: datetime,
) -> HttpAnswer:
    """Answer one request; `now` is the system clock."""
    plain: Mapping[str, HeaderValue] = dict(headers)
    rejected = check_request(plain, body, secret=secret, now=now)
    if rejected is not None:
        return HttpAnswer(status=rejected.status, rejected=rejected)
    return dispatch_checked(app, headers, body)


def dispatch_checked(app: App, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
    """Hand a request that passed ``check_request`` to Bolt; signed nonsense is 400."""
    try:
        request = BoltRequest(body=body.decode("utf-8"), headers=dict(headers))
        response = app.dispatch(request)
    except Exception:  # noqa: BLE001 - Bolt raises on bodies that no Slack sends
        return HttpAnswer(status=UNREADABLE.status, rejected=UNREADABLE)
    first = {name: values[0] for name, values in response.headers.items() if values}
    return HttpAnswer(status=response.status, body=response.body or "", headers=first)
