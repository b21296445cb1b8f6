"""What the double's own services share: a call, and how its operations are found.

It must not know HTTP; `wire` and `server` do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from deploy.sandbox.aws.errors import AwsError, not_implemented
from deploy.sandbox.aws.model import problems, service_model, validation_text
from deploy.sandbox.aws.pages import Pages
from deploy.sandbox.aws.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to one of the double's own services."""

    service: str
    operation: str
    params: dict[str, Any]
    world: World
    now: datetime
    account: str
    region: str
    pages: Pages


Handler = Callable[[Call], dict[str, Any]]


def validate(call: Call, *, code: str) -> None:
    """Refuse a call that breaks botocore's model of its operation."""
    if call.operation not in service_model(call.service).operation_names:
        message = f"Unknown operation {call.operation}"
        raise AwsError("UnknownOperationException", message, status=404)
    found = problems(call.service, call.operation, call.params)
    if found:
        raise AwsError(code, validation_text(found))


def answer(call: Call, handlers: dict[str, Handler], *, code: str) -> dict[str, Any]:
    """Return the answer of the operation's handler, after the model's checks."""
    validate(call, code=code)
    handler = handlers.get(call.operation)
    if handler is None:
        raise not_implemented(call.service, call.operation)
    return handler(call)
