"""Runs the app over Socket Mode until told to stop, across outages of Slack."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk.errors import SlackApiError

from bot.ports import SlackFailedError
from bot.slack.client import quiet_logger

FIRST_WAIT_S = 1.0
WAIT_MAX_S = 60.0
#: How soon a dead connection is noticed. Stopping sits out the SDK's read: 3 s.
PING_INTERVAL_S = 5.0
#: Connecting again with these cannot help: somebody must change the token.
_FINAL = frozenset(
    {
        *("invalid_auth", "not_authed", "account_inactive", "token_revoked"),
        *("missing_scope", "not_allowed_token_type", "token_expired"),
    }
)


def run_socket_mode(
    app: App,
    app_token: str,
    stop: Event,
    *,
    on_connected: Callable[[], None] = lambda: None,
    first_wait_s: float = FIRST_WAIT_S,
    ping_interval_s: float = PING_INTERVAL_S,
) -> None:
    """Receive until `stop` is set; the SDK connects again by itself afterwards.

    Raises:
        SlackFailedError: The token is refused; trying again cannot help.
    """
    wait_s = first_wait_s
    handler = SocketModeHandler(
        app,
        app_token,
        logger=quiet_logger("gpucost.slack.socket"),
        ping_interval=ping_interval_s,
        concurrency=16,
    )
    try:
        while not stop.is_set():
            if _connect(handler):
                on_connected()
                stop.wait()
                return
            stop.wait(wait_s)
            wait_s = min(wait_s * 2, WAIT_MAX_S)
    finally:
        handler.close()  # type: ignore[no-untyped-call]


def _connect(handler: SocketModeHandler) -> bool:
    """Connect once; False when it may work later."""
    try:
        handler.connect()  # type: ignore[no-untyped-call]
    except SlackApiError as error:
        code = str(getattr(error.response, "data", {}).get("error") or "")
        if code in _FINAL:
            raise SlackFailedError(code, is_final=True) from error
        return False
    except Exception:  # noqa: BLE001 - the SDK names its connection failures in many ways
        return False
    return True
