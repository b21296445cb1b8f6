"""What a Web API method is: who may call it and the function that does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from deploy.sandbox.slack.arguments import Args
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.state import State

Handler = Callable[[State, Args], Json]

READ_CONVERSATIONS = ("channels:read", "groups:read", "im:read", "mpim:read")
READ_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One method: any of `scopes` suffices; `app_level` wants the other token."""

    handler: Handler
    scopes: tuple[str, ...] = ()
    app_level: bool = False
