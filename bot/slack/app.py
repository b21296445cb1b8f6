"""The Bolt app: acknowledge first, always; the work is done in a pool of its own.

Listeners run in the thread that received the request and do nothing but ack and hand
over, so no other work can hold an ack back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from slack_bolt import App, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient

from bot.slack.client import quiet_logger
from bot.slack.handlers import Handlers, Home
from bot.slack.listeners import Listeners
from bot.slack.pressed import PATTERN
from bot.slack.work import Work
from bot.views.alert_buttons import ALERT_ACTIONS
from bot.views.asked import LEAKS, MORE, REFRESH, SHARE, WHY
from bot.views.errors import busy
from bot.views.my_day import HOME_ACTIONS
from bot.views.request_form import CALLBACK, FIRST_FIELD, TYPED
from bot.views.untagged import CONFIRM, UNDO

COMMAND = "/gpucost"

#: Scopes of the bot token; the manifest and the methods called are tested against it.
BOT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:write",
    "usergroups:read",
    "users:read",
    "users:read.email",
)
#: Buttons of answers, which carry the command that they ask.
_ASKING = (SHARE, REFRESH, WHY, MORE, LEAKS, CONFIRM, UNDO)
BOT_EVENTS = ("app_home_opened", "app_mention", "message.im")


def build_app(
    *,
    client: WebClient,
    home: Home,
    handlers: Handlers,
    work: Work,
    signing_secret: str = "",
    command: str = COMMAND,
) -> App:
    """Build the app; it makes no request to Slack by itself.

    `signing_secret` is for HTTP mode; a second look after ``http.check_request``.
    """
    app = App(
        logger=quiet_logger("gpucost.slack.bolt"),
        client=client,
        signing_secret=signing_secret or None,
        request_verification_enabled=bool(signing_secret),
        authorize=_authorize(home, client.token or ""),
        process_before_response=True,
    )
    listeners = Listeners(handlers=handlers, home=home, client=client, command=command)
    _register_command(app, listeners, work=work, command=command)
    _register_events(app, listeners, work=work)
    _register_clicks(app, listeners, work=work)
    _register_answer_clicks(app, listeners, work=work)
    _register_alert_clicks(app, listeners, work=work)
    _register_home(app, listeners, work=work)
    _register_form(app, listeners, work=work)
    return app


def _authorize(home: Home, token: str) -> Callable[..., AuthorizeResult]:
    def authorize(**_: Any) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=home.enterprise_id or None,
            team_id=home.team_id,
            bot_user_id=home.bot_user_id,
            bot_id=home.bot_id or None,
            bot_token=token,
        )

    return authorize


def _register_command(
    app: App, listeners: Listeners, *, work: Work, command: str
) -> None:
    @app.command(command)
    def on_command(ack: Any, body: dict[str, Any]) -> None:
        if work.submit(lambda: listeners.on_command(body)):
            ack()
        else:
            ack(text=busy().text, response_type="ephemeral")


def _register_events(app: App, listeners: Listeners, *, work: Work) -> None:
    @app.event("app_mention")
    def on_mention(body: dict[str, Any]) -> BoltResponse:
        return _accepted(work.submit(lambda: listeners.on_mention(body)))

    @app.event("message")
    def on_message(body: dict[str, Any]) -> BoltResponse:
        return _accepted(work.submit(lambda: listeners.on_message(body)))


def _register_clicks(app: App, listeners: Listeners, *, work: Work) -> None:
    @app.action(re.compile(f"^{PATTERN}$"))
    def on_click(
        ack: Any, body: dict[str, Any], action: dict[str, Any]
    ) -> BoltResponse | None:
        if work.submit(lambda: listeners.on_click(body, action)):
            ack()
            return None
        return _accepted(False)  # noqa: FBT003 - named by the function


def _register_answer_clicks(app: App, listeners: Listeners, *, work: Work) -> None:
    @app.action(re.compile(f"^(?:{'|'.join(_ASKING)})$"))
    def on_answer_click(
        ack: Any, body: dict[str, Any], action: dict[str, Any]
    ) -> BoltResponse | None:
        if work.submit(lambda: listeners.on_answer_click(body, action)):
            ack()
            return None
        return _accepted(False)  # noqa: FBT003 - named by the function


def _register_alert_clicks(app: App, listeners: Listeners, *, work: Work) -> None:
    @app.action(re.compile(f"^(?:{'|'.join(ALERT_ACTIONS)})$"))
    def on_alert_click(
        ack: Any, body: dict[str, Any], action: dict[str, Any]
    ) -> BoltResponse | None:
        if work.submit(lambda: listeners.on_alert_click(body, action)):
            ack()
            return None
        return _accepted(False)  # noqa: FBT003 - named by the function


def _register_home(app: App, listeners: Listeners, *, work: Work) -> None:
    @app.event("app_home_opened")
    def on_home(body: dict[str, Any]) -> BoltResponse:
        return _accepted(work.submit(lambda: listeners.on_home(body)))

    @app.action(re.compile(f"^(?:{'|'.join(HOME_ACTIONS)})$"))
    def on_setting(
        ack: Any, body: dict[str, Any], action: dict[str, Any]
    ) -> BoltResponse | None:
        if work.submit(lambda: listeners.on_setting(body, action)):
            ack()
            return None
        return _accepted(False)  # noqa: FBT003 - named by the function


def _register_form(app: App, listeners: Listeners, *, work: Work) -> None:
    @app.action(TYPED)
    def on_typed(ack: Any, body: dict[str, Any]) -> None:
        ack()
        work.submit(lambda: listeners.on_typed(body))

    @app.view(CALLBACK)
    def on_form(ack: Any, body: dict[str, Any]) -> None:
        problems = listeners.forms.problems(body)
        if problems:
            ack(response_action="errors", errors=problems)
        elif work.submit(lambda: listeners.on_form(body)):
            ack()
        else:
            ack(response_action="errors", errors={FIRST_FIELD: busy().text})


def _accepted(is_taken: bool) -> BoltResponse:  # noqa: FBT001 - the only argument
    """Answer an event or a press: 503 makes Slack deliver again, or tell the presser."""
    return BoltResponse(status=200 if is_taken else 503, body="")
