"""A loopback AWS: moto beside a Cost Explorer, a Price List and metrics of our own.

Worlds are plain data, so moto, which reads AWS profiles, is loaded only for `AwsSandbox`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deploy.sandbox.aws.faults import Fault
from deploy.sandbox.aws.world import World, load_world

if TYPE_CHECKING:
    from deploy.sandbox.aws.sandbox import AwsSandbox

__all__ = ["AwsSandbox", "Fault", "World", "load_world"]


def __getattr__(name: str) -> object:
    """Load the double itself when it is first asked for."""
    if name == "AwsSandbox":
        from deploy.sandbox.aws import sandbox  # noqa: PLC0415 - loads all of moto

        return sandbox.AwsSandbox
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
