"""Faults that a test or a demo switches on while the AWS double runs.

It must not know how a fault is carried out on the wire, only which one applies to a
call. Percentages draw from a seeded generator, so a run can be repeated.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pydantic import ConfigDict, TypeAdapter

from deploy.sandbox.aws.errors import AwsError
from deploy.sandbox.aws.world import CostSeed

Kind = Literal[
    "throttle",
    "fail",
    "drop",
    "truncate",
    "cut",
    "delay",
    "deny",
    "expired-token",
    "repeat-token",
    "endless-token",
    "change-data",
]
KINDS: tuple[str, ...] = get_args(Kind)

THROTTLE_CODES = {
    "ce": ("LimitExceededException", 400),
    "ec2": ("RequestLimitExceeded", 503),
    "s3": ("SlowDown", 503),
    "sts": ("Throttling", 400),
    "iam": ("Throttling", 400),
    "sqs": ("RequestThrottled", 403),
    "organizations": ("TooManyRequestsException", 400),
}
DENY_CODES = {
    "ec2": ("UnauthorizedOperation", 403),
    "s3": ("AccessDenied", 403),
    "sts": ("AccessDenied", 403),
    "iam": ("AccessDenied", 403),
}
EXPIRED_CODES = {
    "ec2": ("RequestExpired", 400),
    "s3": ("ExpiredToken", 400),
    "sts": ("ExpiredToken", 403),
    "iam": ("ExpiredToken", 403),
}


@dataclass(slots=True, kw_only=True)
class Fault:
    """One fault, the calls that it hits, and how many of them."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Kind
    service: str | None = None
    operation: str | None = None
    region: str | None = None
    account: str | None = None
    #: Hit this many matching calls, then disappear; None hits them all.
    times: int | None = None
    #: Let this many matching calls pass first.
    skip: int = 0
    #: Hit this share of the matching calls, 0 to 100; None hits every one.
    percent: float | None = None
    #: Replace the error code that belongs to the service and kind.
    code: str | None = None
    #: Replace the HTTP status that belongs to the service and kind.
    status: int | None = None
    #: How long a `delay` waits before the call is answered.
    seconds: float = 0.0
    #: Lines that `change-data` adds to the world before the call is answered.
    costs: list[CostSeed] = field(default_factory=list)

    def matches(
        self, *, service: str, operation: str, region: str, account: str
    ) -> bool:
        """Return whether the fault is meant for this call."""
        wanted = (self.service, self.operation, self.region, self.account)
        seen = (service, operation, region, account)
        return all(w in (None, s) for w, s in zip(wanted, seen, strict=True))

    def check(self, service: str) -> None:
        """Raise the error that this fault answers with, if it is one."""
        if self.kind == "throttle":
            table, default = THROTTLE_CODES, ("ThrottlingException", 400)
            text = "Rate exceeded"
        elif self.kind == "deny":
            table, default = DENY_CODES, ("AccessDeniedException", 400)
            text = "You are not authorized to perform this operation."
        elif self.kind == "expired-token":
            table, default = EXPIRED_CODES, ("ExpiredTokenException", 400)
            text = "The security token included in the request is expired"
        elif self.kind == "fail":
            table, default = {}, ("InternalFailure", 500)
            text = "We encountered an internal error. Please try again."
        else:
            return
        code, status = table.get(service, default)
        raise AwsError(self.code or code, text, status=self.status or status)


class Faults:
    """The faults that are switched on, asked once for every call."""

    def __init__(self, *, seed: int = 0) -> None:
        """Start with none."""
        self._items: list[Fault] = []
        self._lock = threading.Lock()
        self._random = random.Random(seed)  # repeatable, not secret

    def add(self, fault: Fault | None = None, **fields: Any) -> Fault:
        """Switch a fault on, given whole or by its fields."""
        added = fault or FAULT.validate_python(fields)
        with self._lock:
            self._items.append(added)
        return added

    def clear(self) -> None:
        """Switch every fault off."""
        with self._lock:
            self._items.clear()

    def active(self) -> list[Fault]:
        """Return the faults that are switched on."""
        with self._lock:
            return list(self._items)

    def hit(
        self, *, service: str, operation: str, region: str, account: str
    ) -> Fault | None:
        """Return the first fault that hits this call, and use it up by one."""
        with self._lock:
            for fault in self._items:
                if fault.matches(
                    service=service, operation=operation, region=region, account=account
                ) and self._fires(fault):
                    return fault
        return None

    def _fires(self, fault: Fault) -> bool:
        if fault.skip > 0:
            fault.skip -= 1
            return False
        if fault.percent is not None:
            return self._random.uniform(0, 100) < fault.percent
        if fault.times is not None:
            fault.times -= 1
            if fault.times <= 0:
                self._items.remove(fault)
        return True


FAULT: TypeAdapter[Fault] = TypeAdapter(Fault)
