"""A client of gpucost's HTTP side in one file: nothing but the standard library.

Copy it beside a launcher. It estimates a run, asks for approval, waits, checks a grant
right before the start, and reports progress. While gpucost does not answer, `may_start`
follows `WhenDown`, and says so.

    client = Client("https://gpucost.example.com", token)
    plan = Plan(job="llm-1", instance_type="p5.48xlarge", count=8, hours=72)
    grant = client.cleared(plan, reason="new tokenizer")
    answer = client.may_start(plan, grant)
    if not answer.covered:
        raise SystemExit(answer.reason)
"""

from __future__ import annotations

import base64
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

#: Longest wait that one question may ask gpucost for, in seconds.
LONG_POLL_S: Final = 30
#: How often a question is asked again while gpucost is busy or away.
TRIES: Final = 3
_BUSY: Final = frozenset({429, 502, 503, 504})
_WAIT_MAX_S: Final = 30.0


class ClientError(Exception):
    """gpucost said no, or could not be asked."""


class RefusedError(ClientError):
    """gpucost answered, and the answer is no; the text says why."""


class DownError(ClientError):
    """gpucost did not answer, or could not: nothing is known."""


@dataclass(frozen=True)
class Plan:
    """A run as it is planned; a restart says the same as the first start."""

    job: str
    instance_type: str
    count: int
    hours: float
    purchase: str = "on-demand"
    region: str = ""

    @property
    def instance_hours(self) -> float:
        """Return the size of the run, which is known without any price."""
        return self.count * self.hours


@dataclass(frozen=True)
class WhenDown:
    """What to do while gpucost does not answer.

    Attributes:
        open_up_to: Instance hours up to which a run starts unchecked; above them it is
            refused. 0 refuses everything, ``inf`` refuses nothing.
    """

    open_up_to: float = 0.0


@dataclass(frozen=True)
class Answer:
    """Whether a run may start.

    Attributes:
        reason: Why not; or, with ``checked`` false, why it may although nobody checked.
        checked: Whether gpucost judged it.
    """

    covered: bool
    reason: str = ""
    checked: bool = True


def _say(text: str) -> None:
    sys.stderr.write(f"gpucost: {text}\n")


@dataclass(frozen=True)
class Client:
    """Asks one gpucost with one token.

    Attributes:
        url: Such as ``https://gpucost.example.com``.
        token: From ``gpucost token create``.
        say: Told what people should know; by default standard error.
    """

    url: str
    token: str
    timeout_s: float = 10.0
    when_down: WhenDown = WhenDown()
    say: Callable[[str], None] = _say
    sleep: Callable[[float], None] = time.sleep

    def estimate(self, plan: Plan) -> dict[str, Any]:
        """Return what a run may cost."""
        return self._post("/v1/estimates", asdict(plan))

    def request(
        self, plan: Plan, *, reason: str, requester: str = ""
    ) -> dict[str, Any]:
        """Ask for approval; asking for the same again returns the same request."""
        body = asdict(plan) | {"reason": reason}
        if requester:
            body["requester"] = requester
        return self._post("/v1/approvals", body)

    def wait(self, request_id: str, *, timeout_s: float) -> dict[str, Any]:
        """Return a request once it is decided, or as it is when the time is up."""
        ends = time.monotonic() + timeout_s
        while True:
            left = max(ends - time.monotonic(), 0.0)
            wait = int(min(left, LONG_POLL_S))
            path = f"/v1/approvals/{urllib.parse.quote(request_id)}?wait={wait}"
            found = self._ask("GET", path, None, self.timeout_s + wait)
            if found["state"] not in {"pending", "needs-info"} or wait == 0:
                return found

    def cleared(self, plan: Plan, *, reason: str, timeout_s: float = 86_400) -> str:
        """Ask for approval, wait for it, and return the grant.

        Raises:
            RefusedError: It was not approved in time, or not at all.
        """
        found = self.request(plan, reason=reason)
        if found["state"] == "pending":
            self.say(f"{found['id']} waits for approval")
            found = self.wait(found["id"], timeout_s=timeout_s)
        if not found.get("grant"):
            raise RefusedError(f"{found['id']} is {found['state']}")
        return str(found["grant"])

    def verify(self, plan: Plan, grant: str) -> Answer:
        """Tell whether a grant covers a run right now.

        Raises:
            DownError: Nobody can say.
        """
        found = self._post("/v1/approvals/check", asdict(plan) | {"grant": grant})
        return Answer(covered=found["covered"] is True, reason=found["reason"] or "")

    def may_start(self, plan: Plan, grant: str) -> Answer:
        """Tell whether to start a run; while gpucost is down, as `when_down` says."""
        try:
            return self.verify(plan, grant)
        except RefusedError as error:
            return Answer(covered=False, reason=str(error))
        except DownError as error:
            return self._unchecked(plan, str(error))

    def progress(self, job: str, **counts: int) -> None:
        """Say how far a job is: `steps`, `tokens`, `samples`, and `attempt`."""
        path = f"/v1/jobs/{urllib.parse.quote(job)}/progress"
        self._post(path, counts)

    def _unchecked(self, plan: Plan, why: str) -> Answer:
        size, limit = plan.instance_hours, self.when_down.open_up_to
        if size <= limit:
            told = f"{why}; {size:g} instance hours are started unchecked"
            self.say(told)
            return Answer(covered=True, reason=told, checked=False)
        told = (
            f"{why}; {size:g} instance hours are more than the {limit:g} started then"
        )
        self.say(f"not started: {told}")
        return Answer(covered=False, reason=told, checked=False)

    # -------------------------------------------------------------------- asking

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._ask("POST", path, {k: v for k, v in body.items() if v != ""})

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        timeout_s: float | None = None,
    ) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310 - the address of one's own server
            self.url.rstrip("/") + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={
                "authorization": f"Bearer {self.token}",
                "content-type": "application/json",
            },
        )
        for left in reversed(range(TRIES)):
            try:
                return self._once(request, timeout_s or self.timeout_s)
            except _BusyError as busy:
                if not left:
                    raise DownError(str(busy)) from busy
                self.sleep(busy.after_s)
        raise AssertionError

    def _once(
        self, request: urllib.request.Request, timeout_s: float
    ) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:  # noqa: S310 - as above
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            told = _told(error)
            if error.code in _BUSY:
                raise _BusyError(told, _after(error)) from error
            if error.code >= 500:  # noqa: PLR2004 - where the fault is the server's
                raise DownError(told) from error
            raise RefusedError(told) from error
        except (urllib.error.URLError, OSError, ValueError) as error:
            why = getattr(error, "reason", error)
            raise _BusyError(f"gpucost does not answer: {why}", 1.0) from error


class _BusyError(Exception):
    def __init__(self, text: str, after_s: float) -> None:
        super().__init__(text)
        self.after_s = after_s


def _told(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"]["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"gpucost answered with {error.code}"


def _after(error: urllib.error.HTTPError) -> float:
    try:
        return min(float(error.headers.get("retry-after") or 1), _WAIT_MAX_S)
    except ValueError:
        return 1.0


def grant_id(grant: str) -> str:
    """Return the request a grant is of, for the tag ``gpucost-grant-id``.

    Read, not verified: that is what `verify` is for.
    """
    try:
        payload = grant.split(".")[1]
        padded = payload + "=" * (-len(payload) % 4)
        return str(json.loads(base64.urlsafe_b64decode(padded))["sub"])
    except (IndexError, KeyError, ValueError, TypeError) as error:
        message = "this is no grant of gpucost"
        raise RefusedError(message) from error
