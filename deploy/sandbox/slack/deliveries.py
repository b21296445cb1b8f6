"""Bringing commands, clicks and events to the app, as often as Slack would.

Commands, clicks and submissions go once. Events go again, up to three times,
until the app acknowledges. How one attempt travels is the transport's part.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

from deploy.sandbox.slack.faults import DELIVERY_KINDS, Fault, Faults
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.state import State

EVENTS = "events_api"
COMMANDS = "slash_commands"
INTERACTIVE = "interactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try.

    Attributes:
        outcome: acked, timeout, not_connected, connection_lost, http_error or lost.
        latency_s: from sending to the acknowledgement; None without one.
        payload: what the app answered with.
        no_retry: the app asked for no further try.
    """

    number: int
    outcome: str
    latency_s: float | None = None
    payload: Json | None = None
    detail: str = ""
    no_retry: bool = False


@dataclass(slots=True, kw_only=True)
class Delivery:
    """One thing that happened and that the app is told of.

    Attributes:
        is_done: no further attempt will be made.
        late_ack_s: latency of an acknowledgement that came after the limit.
    """

    kind: str
    payload: Json
    id: str = field(default_factory=lambda: str(uuid4()))
    attempts: list[Attempt] = field(default_factory=list)
    is_done: bool = False
    late_ack_s: float | None = None

    @property
    def ack(self) -> Attempt | None:
        """The attempt that was acknowledged, if any."""
        acked = (item for item in self.attempts if item.outcome == "acked")
        return next(acked, None)

    def to_json(self) -> Json:
        """Return what is known of it; the payload stays out."""
        return {
            "id": self.id,
            "kind": self.kind,
            "done": self.is_done,
            "acked": self.ack is not None,
            "ack_latency_s": self.ack.latency_s if self.ack else None,
            "ack_payload": self.ack.payload if self.ack else None,
            "late_ack_s": self.late_ack_s,
            "attempts": [item.outcome for item in self.attempts],
        }


class Transport(Protocol):
    """The way to the app."""

    async def send(
        self, delivery: Delivery, *, number: int, reason: str | None
    ) -> Attempt:
        """Try once; `number` counts from 0, `reason` says why it is tried again."""


AckEffect = Callable[[Delivery, Json | None], None]

_REASONS = {
    "http_error": "http_error",
    "connection_lost": "connection_failed",
    "not_connected": "connection_failed",
}


class Dispatcher:
    """Runs the deliveries on the server's event loop."""

    def __init__(
        self,
        state: State,
        faults: Faults,
        *,
        retry_delays_s: Iterable[float],
        on_ack: AckEffect,
    ) -> None:
        self._state = state
        self._faults = faults
        self._retry_delays_s = tuple(retry_delays_s)
        self._on_ack = on_ack
        self._held: list[Delivery] = []
        self._tasks: set[asyncio.Task[object]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.transport: Transport | None = None
        self.deliveries: list[Delivery] = []

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use this loop from now on."""
        self._loop = loop

    def submit(self, delivery: Delivery) -> Delivery:
        """Start a delivery, from any thread."""
        if self._loop is None:
            message = "the sandbox is not started: call start() first"
            raise RuntimeError(message)
        with self._state.lock:
            self.deliveries.append(delivery)
        self._loop.call_soon_threadsafe(self._admit, delivery)
        return delivery

    def flush(self) -> None:
        """Send what a reordering still holds."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._release)

    async def cancel(self) -> None:
        """Stop every delivery that is still under way."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _admit(self, delivery: Delivery) -> None:
        faults = {
            fault.kind: fault
            for fault in self._faults.take(delivery.kind, DELIVERY_KINDS)
        }
        if "reorder" in faults:
            self._held.append(delivery)
            if len(self._held) >= faults["reorder"].window:
                self._release()
            return
        self._start(delivery, faults)

    def _release(self) -> None:
        held, self._held = self._held, []
        for delivery in reversed(held):
            self._start(delivery, {})

    def _start(self, delivery: Delivery, faults: dict[str, Fault]) -> None:
        duplicate = faults.get("duplicate")
        for _ in range(duplicate.copies if duplicate else 0):
            self._spawn(self._try(delivery, number=0, reason=None))
        self._spawn(self._run(delivery, first_is_lost="lose" in faults))

    def _spawn(self, work: Coroutine[Any, Any, object]) -> None:
        task: asyncio.Task[object] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, delivery: Delivery, *, first_is_lost: bool) -> None:
        delays_s = self._retry_delays_s if delivery.kind == EVENTS else ()
        reason: str | None = None
        for number, delay_s in enumerate((0.0, *delays_s)):
            if number:
                await asyncio.sleep(delay_s)
            if first_is_lost and number == 0:
                attempt = Attempt(number=0, outcome="lost")
                self._record(delivery, attempt)
            else:
                attempt = await self._try(delivery, number=number, reason=reason)
            if attempt.outcome == "acked" or attempt.no_retry:
                break
            reason = _REASONS.get(attempt.outcome, "timeout")
        with self._state.lock:
            delivery.is_done = True
            self._state.touch()

    async def _try(
        self, delivery: Delivery, *, number: int, reason: str | None
    ) -> Attempt:
        if self.transport is None or self._faults.outage:
            attempt = Attempt(number=number, outcome="not_connected")
        else:
            attempt = await self.transport.send(delivery, number=number, reason=reason)
        self._record(delivery, attempt)
        return attempt

    def _record(self, delivery: Delivery, attempt: Attempt) -> None:
        with self._state.lock:
            is_first_ack = attempt.outcome == "acked" and delivery.ack is None
            delivery.attempts.append(attempt)
            if is_first_ack:
                self._on_ack(delivery, attempt.payload)
            self._state.touch()
