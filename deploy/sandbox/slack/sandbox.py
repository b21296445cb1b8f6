"""The Slack sandbox as one object: start it, act as people, see what was posted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from deploy.sandbox.slack.clock import Clock, system_clock
from deploy.sandbox.slack.control import control_routes
from deploy.sandbox.slack.deliveries import Delivery, Dispatcher
from deploy.sandbox.slack.faults import Fault, Faults
from deploy.sandbox.slack.hands import Hands
from deploy.sandbox.slack.http_mode import HttpTransport
from deploy.sandbox.slack.interactions import WAIT_S, AckEffects, Interaction
from deploy.sandbox.slack.limits import PostLimit
from deploy.sandbox.slack.messages import Message, View
from deploy.sandbox.slack.model import Json, Workspace, example_workspace
from deploy.sandbox.slack.response_urls import ResponseUrls
from deploy.sandbox.slack.server import Endpoints, ServerThread
from deploy.sandbox.slack.socket_mode import Connection, SocketHub
from deploy.sandbox.slack.state import ApiCall, State
from deploy.sandbox.slack.web_api import WebApi

SLACK_ACK_TIMEOUT_S = 3.0
#: Slack tries an event again at once, after a minute and after five more.
SLACK_RETRY_DELAYS_S = (0.0, 60.0, 300.0)
LOOPBACK = "127.0.0.1"

Value = TypeVar("Value")


class SlackSandbox(Hands):
    """A workspace that an unchanged Slack app can be pointed at.

    Use it as a context manager, or call `start` and `stop`. With `http_url` the
    app gets signed requests there; without, it connects by Socket Mode.
    """

    def __init__(
        self,
        workspace: Workspace | None = None,
        *,
        clock: Clock = system_clock,
        post_limit: PostLimit | None = None,
        ack_timeout_s: float = SLACK_ACK_TIMEOUT_S,
        retry_delays_s: Iterable[float] = SLACK_RETRY_DELAYS_S,
        http_url: str | None = None,
    ) -> None:
        self.workspace = workspace or example_workspace()
        self.faults = Faults()
        limit = post_limit or PostLimit()
        self.state = State(self.workspace, clock=clock, post_limit=limit)
        self._ack_timeout_s = ack_timeout_s
        self._hub = SocketHub(self.state, self.faults, ack_timeout_s=ack_timeout_s)
        response_urls = ResponseUrls(self.state)
        effects = AckEffects(self.state, response_urls)
        self.dispatcher = Dispatcher(
            self.state,
            self.faults,
            retry_delays_s=retry_delays_s,
            on_ack=effects.apply,
        )
        self.dispatcher.transport = self._hub
        super().__init__(
            self.state,
            dispatcher=self.dispatcher,
            response_urls=response_urls,
            effects=effects,
        )
        endpoints = Endpoints(
            state=self.state,
            faults=self.faults,
            web_api=WebApi(self.state, issue_socket_url=self._hub.issue_url),
            response_urls=response_urls,
            hub=self._hub,
        )
        routes = [*endpoints.routes(), *control_routes(self)]
        self._server = ServerThread(routes, dispatcher=self.dispatcher, hub=self._hub)
        self._http: HttpTransport | None = None
        if http_url is not None:
            self.use_http(http_url)

    def start(self, port: int = 0) -> Self:
        """Listen on loopback; port 0 takes a free one."""
        bound = self._server.start(LOOPBACK, port)
        self.state.base_url = f"http://{LOOPBACK}:{bound}"
        return self

    def stop(self) -> None:
        """Close every connection and stop listening."""
        self._server.stop()
        if self._http is not None:
            self._http.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """Where the sandbox listens."""
        return self.state.base_url

    @property
    def api_url(self) -> str:
        """The value for `SLACK_API_URL`; ends in `/api/`."""
        return f"{self.state.base_url}/api/"

    @property
    def connections(self) -> list[Connection]:
        """The live Socket Mode connections."""
        return list(self._hub.connections)

    def use_http(self, url: str) -> None:
        """Deliver to a request URL instead of Socket Mode from now on."""
        secret = self.workspace.app.signing_secret
        self._http = HttpTransport(
            url, secret=secret, ack_timeout_s=self._ack_timeout_s
        )
        self.dispatcher.transport = self._http

    def messages(self, channel: str) -> list[Message]:
        """List what everybody in a channel sees, threads included, oldest first."""
        place = self.state.directory.known_channel(channel)
        return self.state.in_channel(place)

    def ephemerals(self, user: str) -> list[Message]:
        """List what only this person sees, oldest first."""
        person = self.state.directory.known_person(user)
        with self.state.lock:
            return [
                message
                for message in self.state.messages
                if message.ephemeral_to == person.id and not message.deleted
            ]

    @property
    def threads(self) -> dict[str, list[Message]]:
        """Replies by the timestamp of the message they stand below."""
        found: dict[str, list[Message]] = {}
        with self.state.lock:
            for message in self.state.messages:
                if message.is_reply and not message.deleted:
                    found.setdefault(str(message.thread_ts), []).append(message)
        return found

    @property
    def rings(self) -> list[Message]:
        """List messages of the app that would have notified somebody."""
        with self.state.lock:
            return [item for item in self.state.messages if item.bot_id and item.rings]

    def calls(self, method: str | None = None) -> list[ApiCall]:
        """List the app's calls, of one method or of all, oldest first."""
        with self.state.lock:
            return [call for call in self.state.calls if method in {None, call.method}]

    def home(self, user: str) -> View | None:
        """Return the home tab that the app published for a person."""
        person = self.state.directory.known_person(user)
        return self.state.homes.get(person.id)

    def open_views(self, user: str) -> list[View]:
        """List the forms that a person has open, the top one last."""
        person = self.state.directory.known_person(user)
        with self.state.lock:
            return [
                view
                for view in self.state.views.values()
                if view.user == person.id and view.state == "open"
            ]

    @property
    def deliveries(self) -> list[Delivery]:
        """Everything the app was told of, oldest first."""
        with self.state.lock:
            return list(self.dispatcher.deliveries)

    def interaction(self, interaction_id: str) -> Interaction | None:
        """Find an interaction by id."""
        return self._effects.find(interaction_id)

    def wait_for(
        self, predicate: Callable[[], Value], timeout_s: float = WAIT_S
    ) -> Value:
        """Return the first truthy value of `predicate`, tried after each change.

        Raises:
            TimeoutError: it stayed false.
        """
        found: list[Value] = []

        def is_true() -> bool:
            value = predicate()
            found[:] = [value]
            return bool(value)

        self.state.wait_for(is_true, timeout_s)
        return found[0]

    def fault(self, kind: str, method: str = "*", **details: object) -> None:
        """Switch a trouble on; see `Fault` for the kinds and their details."""
        fields: Json = dict(details)
        self.faults.add(Fault(kind=kind, method=method, **fields))

    def clear_faults(self) -> None:
        """Switch every trouble off and send what was held back."""
        self.faults.clear()
        self.state.auth_error = None
        self.dispatcher.flush()

    def outage(self, *, on: bool) -> None:
        """Take Slack down, its open connections too, or bring it back."""
        self.faults.set_outage(on=on)
        if on:
            self._run(self._hub.close())
        self.state.touch()

    def revoke_token(self, error: str | None = "token_revoked") -> None:
        """Refuse every call with a code such as `token_revoked`; None ends it."""
        self.state.auth_error = error

    def refuse_data_blocks(self, *, on: bool = True) -> None:
        """Behave like a workspace that the newest blocks have not reached."""
        self.state.accepts_data_blocks = not on

    def disconnect(
        self, reason: str = "refresh_requested", *, close_after_s: float = 0.5
    ) -> None:
        """Ask the app to reconnect: refresh_requested, warning or link_disabled."""
        self._run(self._hub.disconnect(reason, close_after_s))

    def drop_connections(self) -> None:
        """Close every Socket Mode connection without a word."""
        self._run(self._hub.close())

    def archive(self, channel: str, *, on: bool = True) -> None:
        """Archive a channel, or bring it back."""
        self.state.directory.known_channel(channel).is_archived = on
        self.state.touch()

    def set_bot_member(self, channel: str, *, on: bool) -> None:
        """Invite the bot to a channel, or remove it."""
        members = self.state.directory.known_channel(channel).members
        bot = self.workspace.app.bot_user_id
        with self.state.lock, suppress(ValueError):
            members.remove(bot)
        if on:
            members.append(bot)
        self.state.touch()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        if self._server.loop is None:
            work.close()
            return
        asyncio.run_coroutine_threadsafe(work, self._server.loop)
