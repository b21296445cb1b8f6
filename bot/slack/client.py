"""The Slack client, and Slack's failures in our own words.

The SDK's retries are off: it would repeat a request that may have arrived. Whoever
sends decides, knowing whether the effect may exist.
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.error import URLError

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.ports import SlackFailedError
from bot.slack.handlers import Home

TIMEOUT_S = 10
UNREACHABLE = "unreachable"
RATE_LIMITED = "ratelimited"

#: Trying again cannot help: the target, the token or the message must change.
FINAL_CODES = frozenset(
    {
        *("account_inactive", "as_user_not_supported", "cannot_dm_bot"),
        *("cant_update_message", "channel_not_found", "edit_window_closed"),
        *("ekm_access_denied", "invalid_arguments", "invalid_auth", "invalid_blocks"),
        *("invalid_blocks_format", "invalid_metadata_format", "is_archived"),
        *("is_inactive", "message_not_found", "metadata_too_large", "missing_scope"),
        *("msg_blocks_too_long", "msg_too_long", "no_permission", "no_text"),
        *(
            "not_allowed_token_type",
            "not_authed",
            "not_in_channel",
            "org_login_required",
        ),
        *("restricted_action", "team_access_not_granted", "thread_not_found"),
        *("token_expired", "token_revoked", "user_disabled", "user_not_found"),
        *("user_not_in_channel", "users_not_found"),
    }
)
#: Slack's own trouble, told after it may have stored the message.
_UNSURE_CODES = frozenset({"fatal_error", "internal_error", "request_timeout"})

_CODE = re.compile(r"[a-z0-9_]{2,80}")


def quiet_logger(name: str) -> logging.Logger:
    """Return a vendor's logger that cannot print bodies, tokens or signatures."""
    logger = logging.getLogger(name)
    logger.setLevel(logging.CRITICAL)
    return logger


def build_client(
    token: str, *, api_url: str = "", timeout_s: int = TIMEOUT_S
) -> WebClient:
    """Build a client that tries once and says little."""
    return WebClient(
        token=token,
        base_url=api_url or WebClient.BASE_URL,
        timeout=timeout_s,
        retry_handlers=[],
        logger=quiet_logger("gpucost.slack.sdk"),
    )


def connect(client: WebClient) -> Home:
    """Ask Slack who we are.

    Raises:
        SlackFailedError: The token is refused or Slack cannot be reached.
    """
    said = call(client.auth_test)
    return Home(
        team_id=str(said.get("team_id") or ""),
        bot_user_id=str(said.get("user_id") or ""),
        enterprise_id=str(said.get("enterprise_id") or ""),
        bot_id=str(said.get("bot_id") or ""),
    )


def call(method: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    """Call one method of the client.

    Raises:
        SlackFailedError: With the code, and what can be said about the effect.
    """
    try:
        answer = method(**arguments)
    except SlackApiError as error:
        raise _refused(error) from error
    except (OSError, HTTPException, SlackClientError) as error:
        raise SlackFailedError(
            UNREACHABLE, may_have_happened=not is_before_send(error)
        ) from error
    data = answer.data
    if not isinstance(data, dict):
        raise SlackFailedError("invalid_answer", may_have_happened=True)
    return data


def _refused(error: SlackApiError) -> SlackFailedError:
    response = error.response
    data = getattr(response, "data", response)
    status = getattr(response, "status_code", 200)
    code = str(data.get("error") or "") if isinstance(data, dict) else ""
    if status == 429 or code in {RATE_LIMITED, "rate_limited"}:  # noqa: PLR2004 (HTTP)
        headers = getattr(response, "headers", {}) or {}
        return SlackFailedError(RATE_LIMITED, retry_after_s=_retry_after(headers))
    if status >= 500:  # noqa: PLR2004 (HTTP)
        return SlackFailedError(f"http_{status}", may_have_happened=True)
    if not _CODE.fullmatch(code):
        # An answer cut short; the SDK puts its text where the code should be.
        return SlackFailedError("invalid_answer", may_have_happened=True)
    return SlackFailedError(
        code,
        may_have_happened=code in _UNSURE_CODES,
        is_final=code in FINAL_CODES,
    )


def _retry_after(headers: Any) -> float:
    """Read Retry-After, whatever its case and form; a second when it says nothing."""
    for key, value in dict(headers).items():
        if str(key).lower() == "retry-after":
            text = value[0] if isinstance(value, list) and value else value
            try:
                return min(max(float(str(text)), 1.0), 3600.0)
            except ValueError:
                break
    return 1.0


def is_before_send(error: BaseException) -> bool:
    """Tell whether a connection failed before any byte of the request left."""
    cause = error.reason if isinstance(error, URLError) else error
    return isinstance(cause, ConnectionRefusedError | socket.gaierror)
