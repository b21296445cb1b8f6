"""Trouble on demand: what the sandbox does wrong, to whom and how often.

Decides only; the server and the deliveries carry it out.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, replace

from deploy.sandbox.slack.model import Json

API_KINDS = frozenset(
    {"auth", "delay", "drop_after", "drop_before", "fail", "throttle", "truncate"}
)
DELIVERY_KINDS = frozenset({"duplicate", "lose", "reorder"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One kind of trouble.

    Attributes:
        kind: auth, delay, drop_after (the call is done, the answer lost),
            drop_before, fail, throttle or truncate for calls of the app;
            duplicate, lose or reorder for deliveries to it.
        method: a Web API method, `response_url`, `upload`, a kind of delivery
            (`slash_commands`, `interactive`, `events_api`) or `*`.
        times: how often; None for until it is cleared.
        status: HTTP status of `fail`; 200 makes it an `ok: false` answer.
        error: the code of `fail` and `auth`.
        retry_after_s: of `throttle`.
        delay_s: of `delay`.
        copies: further copies of `duplicate`.
        window: of `reorder`: how many are held and then sent backwards.
    """

    kind: str
    method: str = "*"
    times: int | None = 1
    status: int = 500
    error: str = "internal_error"
    retry_after_s: int = 1
    delay_s: float = 0.0
    copies: int = 1
    window: int = 2

    def __post_init__(self) -> None:
        known = API_KINDS | DELIVERY_KINDS
        if self.kind not in known:
            message = f"unknown fault {self.kind!r}, expected one of {sorted(known)}"
            raise ValueError(message)


class Faults:
    """The troubles that are switched on. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: list[Fault] = []
        self._outage = False

    @property
    def outage(self) -> bool:
        """Tell whether Slack is down altogether."""
        return self._outage

    def set_outage(self, *, on: bool) -> None:
        """Refuse every call and connection, or stop doing so."""
        self._outage = on

    def add(self, fault: Fault) -> None:
        """Switch one trouble on, after those that are on already."""
        with self._lock:
            self._active.append(fault)

    def clear(self) -> None:
        """Switch everything off, an outage too."""
        with self._lock:
            self._active.clear()
        self._outage = False

    def take(self, method: str, kinds: frozenset[str] = API_KINDS) -> list[Fault]:
        """Use up one time of the first fault of each kind that fits."""
        taken: dict[str, Fault] = {}
        with self._lock:
            remaining: list[Fault] = []
            for fault in self._active:
                fits = fault.method in {"*", method} and fault.kind in kinds
                if not fits or fault.kind in taken:
                    remaining.append(fault)
                    continue
                taken[fault.kind] = fault
                if fault.times is None:
                    remaining.append(fault)
                elif fault.times > 1:
                    remaining.append(replace(fault, times=fault.times - 1))
            self._active = remaining
        return list(taken.values())

    def to_json(self) -> Json:
        """Return what is on."""
        with self._lock:
            active = [asdict(fault) for fault in self._active]
        return {"outage": self._outage, "faults": active}
