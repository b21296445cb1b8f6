"""The Web API: authorises a call, does it, logs it.

Knows methods and tokens, not HTTP: the server turns an `Answer` into a response.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from deploy.sandbox.slack import chat, conversations, people, uploads, views
from deploy.sandbox.slack.arguments import Args
from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.method import Method
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.state import ApiCall, State

METHODS: dict[str, Method] = {
    **chat.METHODS,
    **conversations.METHODS,
    **people.METHODS,
    **uploads.METHODS,
    **views.METHODS,
}
_OPEN_CONNECTION = "apps.connections.open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What to say to the app: HTTP status, headers and JSON."""

    body: Json
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class WebApi:
    """Every method of the Web API that the sandbox knows."""

    def __init__(self, state: State, *, issue_socket_url: Callable[[], str]) -> None:
        self._state = state
        self._methods = METHODS | {
            _OPEN_CONNECTION: Method(
                handler=lambda _state, _args: {"url": issue_socket_url()},
                app_level=True,
            )
        }

    def call(self, name: str, values: Json, token: str | None) -> Answer:
        """Do one call under the lock and return its answer."""
        args = {key: value for key, value in values.items() if key != "token"}
        state = self._state
        headers: dict[str, str] = {}
        with state.lock:
            try:
                method = self._authorised(name, token or values.get("token"))
                headers = self._scope_headers(method)
                body: Json = {"ok": True, **method.handler(state, Args(args))}
                answer = Answer(body=body, headers=headers)
            except SlackApiProblem as problem:
                answer = _refusal(problem, headers)
            self.log(name, args, answer)
            return answer

    def log(self, name: str, args: Json, answer: Answer) -> None:
        """Remember how a call was answered."""
        call = ApiCall(
            method=name,
            args=args,
            ok=bool(answer.body.get("ok")),
            error=answer.body.get("error"),
            at=self._state.clock(),
        )
        self._state.calls.append(call)
        self._state.touch()

    def _authorised(self, name: str, token: object) -> Method:
        app = self._state.app
        if not token:
            raise SlackApiProblem("not_authed")
        if token not in {app.bot_token, app.app_token}:
            raise SlackApiProblem("invalid_auth")
        if self._state.auth_error is not None:
            raise SlackApiProblem(self._state.auth_error)
        method = self._methods.get(name)
        if method is None:
            raise SlackApiProblem("unknown_method", extra={"req_method": name})
        if method.app_level != (token == app.app_token):
            raise SlackApiProblem("not_allowed_token_type")
        if method.scopes and not set(method.scopes) & set(app.scopes):
            needed = {"needed": ",".join(method.scopes), "provided": self._provided()}
            raise SlackApiProblem("missing_scope", extra={**needed})
        return method

    def _provided(self) -> str:
        return ",".join(self._state.app.scopes)

    def _scope_headers(self, method: Method) -> dict[str, str]:
        headers = {"x-oauth-scopes": self._provided()}
        if method.scopes:
            headers["x-accepted-oauth-scopes"] = ",".join(method.scopes)
        return headers


def _refusal(problem: SlackApiProblem, headers: dict[str, str]) -> Answer:
    if problem.error == "missing_scope":
        headers = {
            "x-oauth-scopes": str(problem.extra["provided"]),
            "x-accepted-oauth-scopes": str(problem.extra["needed"]),
        }
    if problem.retry_after_s is None:
        return Answer(body=problem.body(), headers=headers)
    retry = {"Retry-After": str(problem.retry_after_s)}
    return Answer(body=problem.body(), status=429, headers=headers | retry)
