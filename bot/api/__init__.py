"""The HTTP side: what other programs ask gpucost, and how they are let in."""

from __future__ import annotations

from bot.api.server import ApiServer, CannotListenError
from bot.api.service import (
    SLACK_BODY_BYTES_MAX,
    SLACK_THREADS,
    ApiHandlers,
    build_api,
)
from bot.api.v1 import V1Handlers

__all__ = [
    "SLACK_BODY_BYTES_MAX",
    "SLACK_THREADS",
    "ApiHandlers",
    "ApiServer",
    "CannotListenError",
    "V1Handlers",
    "build_api",
]
