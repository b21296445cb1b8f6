"""Socket Mode: the connections that the app opened and the envelopes on them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from time import monotonic
from uuid import uuid4

from starlette.websockets import WebSocket, WebSocketDisconnect

from deploy.sandbox.slack.deliveries import EVENTS, Attempt, Delivery
from deploy.sandbox.slack.faults import Faults
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.state import State

TICKET_LIFE_S = 30.0
CONNECTIONS_MAX = 10
_NORMAL_CLOSURE = 1000
_POLICY_VIOLATION = 1008


@dataclass(slots=True, kw_only=True, eq=False)
class Connection:
    """One live connection; a draining one gets no further envelopes."""

    id: str
    socket: WebSocket
    is_draining: bool = False
    pending: dict[str, asyncio.Future[Json | None]] = field(default_factory=dict)
    received: int = 0

    async def send(self, body: Json) -> None:
        """Send one JSON text frame."""
        await self.socket.send_text(json.dumps(body))


class SocketHub:
    """All connections of the app. Runs on the server's event loop."""

    def __init__(self, state: State, faults: Faults, *, ack_timeout_s: float) -> None:
        self._state = state
        self._faults = faults
        self._ack_timeout_s = ack_timeout_s
        self._tickets: dict[str, float] = {}
        self._turn = 0
        self._sent: dict[str, tuple[Delivery, float]] = {}
        self.connections: list[Connection] = []

    def issue_url(self) -> str:
        """Return a `ws://` address that opens one connection."""
        ticket = uuid4().hex
        self._tickets[ticket] = monotonic()
        base = self._state.base_url.replace("http://", "ws://", 1)
        return f"{base}/link/?ticket={ticket}&app_id={self._state.app.id}"

    async def serve(self, socket: WebSocket) -> None:
        """Keep one connection until either side closes it."""
        issued_s = self._tickets.pop(socket.query_params.get("ticket", ""), None)
        is_fresh = issued_s is not None and monotonic() - issued_s <= TICKET_LIFE_S
        has_room = len(self.connections) < CONNECTIONS_MAX
        if not is_fresh or not has_room or self._faults.outage:
            await socket.close(_POLICY_VIOLATION)
            return
        await socket.accept()
        connection = Connection(id=uuid4().hex[:8], socket=socket)
        try:
            await connection.send(self._hello())
            self._set_connected(connection, is_on=True)
            await self._read(connection)
        except WebSocketDisconnect:
            pass
        finally:
            self._set_connected(connection, is_on=False)
            for future in connection.pending.values():
                if not future.done():
                    future.set_exception(ConnectionError("closed"))

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.connections) + 1,
            "debug_info": {
                "host": "applink-sandbox",
                "build_number": 1,
                "approximate_connection_time": 18060,
            },
            "connection_info": {"app_id": self._state.app.id},
        }

    def _set_connected(self, connection: Connection, *, is_on: bool) -> None:
        with self._state.lock:
            if is_on:
                self.connections.append(connection)
            elif connection in self.connections:
                self.connections.remove(connection)
            self._state.touch()

    async def _read(self, connection: Connection) -> None:
        while True:
            text = await connection.socket.receive_text()
            try:
                body = json.loads(text)
            except ValueError:
                continue
            if isinstance(body, dict) and "envelope_id" in body:
                self._acknowledge(connection, body)

    def _acknowledge(self, connection: Connection, body: Json) -> None:
        envelope_id = str(body["envelope_id"])
        future = connection.pending.pop(envelope_id, None)
        if future is not None and not future.done():
            future.set_result(body.get("payload"))
            return
        sent = self._sent.get(envelope_id)
        if sent is not None:
            delivery, sent_s = sent
            delivery.late_ack_s = monotonic() - sent_s
            self._state.touch()

    async def send(
        self, delivery: Delivery, *, number: int, reason: str | None
    ) -> Attempt:
        """Send an envelope on one connection and wait for its acknowledgement."""
        connection = self._pick()
        if connection is None:
            return Attempt(number=number, outcome="not_connected")
        envelope_id = delivery.id if number == 0 else str(uuid4())
        if envelope_id in self._sent:
            envelope_id = str(uuid4())
        envelope = _envelope(delivery, envelope_id, number=number, reason=reason)
        future: asyncio.Future[Json | None] = asyncio.get_running_loop().create_future()
        connection.pending[envelope_id] = future
        sent_s = monotonic()
        self._sent[envelope_id] = (delivery, sent_s)
        try:
            await connection.send(envelope)
            connection.received += 1
            payload = await asyncio.wait_for(future, self._ack_timeout_s)
        except TimeoutError:
            return Attempt(number=number, outcome="timeout")
        except (ConnectionError, RuntimeError, WebSocketDisconnect):
            return Attempt(number=number, outcome="connection_lost")
        finally:
            connection.pending.pop(envelope_id, None)
        latency_s = monotonic() - sent_s
        return Attempt(
            number=number, outcome="acked", latency_s=latency_s, payload=payload
        )

    def _pick(self) -> Connection | None:
        open_ones = [item for item in self.connections if not item.is_draining]
        if not open_ones:
            return None
        self._turn += 1
        return open_ones[self._turn % len(open_ones)]

    async def disconnect(self, reason: str, close_after_s: float) -> None:
        """Tell every connection to go away; close them unless it is a warning."""
        for connection in tuple(self.connections):
            debug = {"host": "applink-sandbox"}
            body: Json = {"type": "disconnect", "reason": reason, "debug_info": debug}
            connection.is_draining = reason != "warning"
            await connection.send(body)
        if reason == "warning":
            return
        await asyncio.sleep(close_after_s)
        await self.close(draining_only=True)

    async def close(self, *, draining_only: bool = False) -> None:
        """Close connections at once, without a word."""
        for connection in tuple(self.connections):
            if connection.is_draining or not draining_only:
                try:
                    await connection.socket.close(_NORMAL_CLOSURE)
                except RuntimeError:
                    continue  # the other side was faster


def _envelope(
    delivery: Delivery, envelope_id: str, *, number: int, reason: str | None
) -> Json:
    envelope: Json = {
        "envelope_id": envelope_id,
        "type": delivery.kind,
        "accepts_response_payload": delivery.kind != EVENTS,
        "payload": delivery.payload,
    }
    if delivery.kind == EVENTS:
        envelope |= {"retry_attempt": number, "retry_reason": reason or ""}
    return envelope
