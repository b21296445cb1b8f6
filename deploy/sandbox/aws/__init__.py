"""A loopback AWS for a real boto3 application, and the worlds it answers from."""

from __future__ import annotations

from deploy.sandbox.aws.faults import Fault
from deploy.sandbox.aws.sandbox import AwsSandbox
from deploy.sandbox.aws.world import World, load_world

__all__ = ["AwsSandbox", "Fault", "World", "load_world"]
