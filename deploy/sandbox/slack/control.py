"""The control interface: a person's hands over HTTP, for another process.

Every body and answer is JSON. What is named wrongly answers 400 with a message.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
)
from starlette.routing import Route

from deploy.sandbox.slack.messages import Message, View
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.render import render_channel, render_view
from deploy.sandbox.slack.render_html import render_page, render_view_page

if TYPE_CHECKING:
    from deploy.sandbox.slack.sandbox import SlackSandbox

Thing = TypeVar("Thing")

WAIT_MAX_S = 60.0
_BAD_REQUEST = 400


def control_routes(sandbox: SlackSandbox) -> list[Route]:
    """Return the routes below `/control/`."""
    return _Control(sandbox).routes()


class _Control:
    def __init__(self, sandbox: SlackSandbox) -> None:
        self._sandbox = sandbox

    def routes(self) -> list[Route]:
        acts: dict[str, Callable[[Json], object]] = {
            "command": self._command,
            "click": self._click,
            "mention": self._mention,
            "say": self._say,
            "submit_view": self._submit_view,
            "open_home": self._open_home,
            "faults": self._fault,
            "clear_faults": self._clear,
            "outage": self._outage,
            "revoke_token": self._revoke,
            "disconnect": self._disconnect,
            "data_blocks": self._data_blocks,
            "archive": self._archive,
        }
        reads: dict[str, Callable[[Json], object]] = {
            "messages": self._messages,
            "ephemerals": self._ephemerals,
            "calls": self._calls,
            "interaction": self._interaction,
            "view": self._view,
            "home": self._home,
            "state": self._state,
            "wait": self._wait,
            "faults": lambda _query: self._sandbox.faults.to_json(),
        }
        routes = [_route(name, act, "POST") for name, act in acts.items()]
        routes += [_route(name, read, "GET") for name, read in reads.items()]
        pages = (("render", self._render), ("html", self._html))
        routes += [Route(f"/control/{name}", _page(page)) for name, page in pages]
        return routes

    def _command(self, body: Json) -> Json:
        sandbox = self._sandbox
        done = sandbox.command(body["user"], body["channel"], body.get("text", ""))
        return done.to_json()

    def _click(self, body: Json) -> Json:
        target = self._target(body)
        done = self._sandbox.click(
            body["user"],
            target,
            body["action_id"],
            body.get("value"),
            forge=bool(body.get("forge")),
        )
        return done.to_json()

    def _target(self, body: Json) -> Message | View:
        state = self._sandbox.state
        if "view_id" in body:
            return _found(state.views.get(body["view_id"]), body["view_id"])
        with state.lock:
            fitting = [item for item in state.messages if item.ts == body["ts"]]
        return _found(fitting[0] if fitting else None, body["ts"])

    def _mention(self, body: Json) -> Json:
        return self._sandbox.mention(
            body["user"], body["channel"], body["text"], thread_ts=body.get("thread_ts")
        ).to_json()

    def _say(self, body: Json) -> Json:
        return self._sandbox.say(
            body["user"], body["channel"], body["text"], thread_ts=body.get("thread_ts")
        ).to_json()

    def _submit_view(self, body: Json) -> Json:
        values = body.get("values") or {}
        done = self._sandbox.submit_view(body["user"], body["view_id"], values)
        return done.to_json()

    def _open_home(self, body: Json) -> Json:
        return self._sandbox.open_home(body["user"]).to_json()

    def _fault(self, body: Json) -> Json:
        details = {key: value for key, value in body.items() if key != "kind"}
        self._sandbox.fault(body["kind"], **details)
        return self._sandbox.faults.to_json()

    def _clear(self, _body: Json) -> Json:
        self._sandbox.clear_faults()
        return self._sandbox.faults.to_json()

    def _outage(self, body: Json) -> Json:
        self._sandbox.outage(on=bool(body["on"]))
        return self._sandbox.faults.to_json()

    def _revoke(self, body: Json) -> Json:
        self._sandbox.revoke_token(body.get("error", "token_revoked"))
        return {"ok": True}

    def _disconnect(self, body: Json) -> Json:
        self._sandbox.disconnect(body.get("reason", "refresh_requested"))
        return {"ok": True}

    def _data_blocks(self, body: Json) -> Json:
        self._sandbox.refuse_data_blocks(on=bool(body["refuse"]))
        return {"ok": True}

    def _archive(self, body: Json) -> Json:
        self._sandbox.archive(body["channel"], on=bool(body.get("on", True)))
        return {"ok": True}

    def _messages(self, query: Json) -> Json:
        found = self._sandbox.messages(query["channel"])
        return {"messages": [message.to_json() for message in found]}

    def _ephemerals(self, query: Json) -> Json:
        found = self._sandbox.ephemerals(query["user"])
        return {"messages": [message.to_json() for message in found]}

    def _calls(self, query: Json) -> Json:
        calls = self._sandbox.calls(query.get("method"))
        fields = ("method", "args", "ok", "error")
        rows = [{name: getattr(call, name) for name in fields} for call in calls]
        return {"calls": rows}

    def _interaction(self, query: Json) -> Json:
        """Return an interaction, after waiting for `until`: done, response, answer."""
        done = _found(self._sandbox.interaction(query["id"]), query["id"])
        timeout_s = min(float(query.get("wait", 0)), WAIT_MAX_S)
        waits: dict[str, Callable[[float], object]] = {
            "done": done.wait_done,
            "response": done.wait_response,
            "answer": done.wait_answer,
            "view": done.wait_view,
        }
        wait = waits[query.get("until", "done")]
        try:
            if timeout_s > 0:
                wait(timeout_s)
        except TimeoutError:
            return done.to_json() | {"timed_out": True}
        return done.to_json()

    def _view(self, query: Json) -> Json:
        view = _found(self._sandbox.state.views.get(query["id"]), query["id"])
        ids = self._sandbox.state.view_ids()
        return view.as_slack(ids) | {"status": view.state, "errors": view.errors}

    def _home(self, query: Json) -> Json:
        view = self._sandbox.home(query["user"])
        ids = self._sandbox.state.view_ids()
        return {"view": view.as_slack(ids) if view else None}

    def _state(self, _query: Json) -> Json:
        sandbox = self._sandbox
        with sandbox.state.lock:
            return {
                "revision": sandbox.state.revision,
                "connections": len(sandbox.connections),
                "workspace": sandbox.workspace.to_json(),
                "messages": [item.to_json() for item in sandbox.state.messages],
                "deliveries": [item.to_json() for item in sandbox.deliveries],
            }

    def _wait(self, query: Json) -> Json:
        """Wait for anything to change after revision `since`."""
        state = self._sandbox.state
        since = int(query.get("since", 0))
        timeout_s = min(float(query.get("wait", 0)), WAIT_MAX_S)
        with suppress(TimeoutError):
            state.wait_for(lambda: state.revision > since, timeout_s)
        connections = len(self._sandbox.connections)
        return {"revision": state.revision, "connections": connections}

    def _seen_by(self, request: Request) -> list[Message]:
        query = request.query_params
        found = self._sandbox.messages(query["channel"])
        if "user" in query:
            place = self._sandbox.state.directory.known_channel(query["channel"])
            own = self._sandbox.ephemerals(query["user"])
            found += [message for message in own if message.channel == place.id]
        return sorted(found, key=lambda message: message.ts)

    def _asked_view(self, request: Request) -> View | None:
        """Return the form or home tab that `view` or `home` names, if either does."""
        query = request.query_params
        if "home" in query:
            return _found(self._sandbox.home(query["home"]), query["home"])
        if "view" in query:
            return _found(self._sandbox.state.views.get(query["view"]), query["view"])
        return None

    def _render(self, request: Request) -> Response:
        has_colour = request.query_params.get("colour") == "1"
        directory = self._sandbox.state.directory
        view = self._asked_view(request)
        if view is not None:
            return PlainTextResponse(
                render_view(view, directory, has_colour=has_colour)
            )
        messages = self._seen_by(request)
        text = render_channel(messages, directory, has_colour=has_colour)
        return PlainTextResponse(text)

    def _html(self, request: Request) -> Response:
        view = self._asked_view(request)
        if view is not None:
            directory = self._sandbox.state.directory
            return HTMLResponse(render_view_page(view, directory))
        name = request.query_params["channel"]
        channel = self._sandbox.state.directory.known_channel(name)
        page = render_page(
            self._seen_by(request), self._sandbox.state.directory, title=channel.name
        )
        return HTMLResponse(page)


def _found(value: Thing | None, name: str) -> Thing:
    if value is None:
        message = f"nothing is called {name!r}"
        raise ValueError(message)
    return value


def _page(draw: Callable[[Request], Response]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        try:
            return draw(request)
        except KeyError as missing:
            return JSONResponse({"error": f"missing {missing}"}, _BAD_REQUEST)
        except ValueError as problem:
            return JSONResponse({"error": str(problem)}, _BAD_REQUEST)

    return endpoint


def _route(name: str, act: Callable[[Json], object], method: str) -> Route:
    async def endpoint(request: Request) -> Response:
        try:
            if method == "GET":
                body: Json = dict(request.query_params)
            else:
                body = json.loads(await request.body() or b"{}")
            return JSONResponse(await run_in_threadpool(act, body))
        except KeyError as missing:
            return JSONResponse({"error": f"missing {missing}"}, _BAD_REQUEST)
        except (TypeError, ValueError) as problem:
            return JSONResponse({"error": str(problem)}, _BAD_REQUEST)

    return Route(f"/control/{name}", endpoint, methods=[method])
