"""One hand for every kind of resource: each kind's own enforcer does the work."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from billing.aws.session import AwsClients
from policies.core.actions import Live
from policies.core.finding import Target
from policies.core.holding import CHECKPOINT
from policies.enforce.aws import INSTANCE_PERMISSIONS, Ec2Enforcer
from policies.enforce.s3 import OBJECT_PERMISSIONS, S3Enforcer
from policies.ports import Enforcer

#: Everything the enforce role must allow, sorted.
ENFORCE_PERMISSIONS = tuple(sorted({*INSTANCE_PERMISSIONS, *OBJECT_PERMISSIONS}))


class AwsEnforcer:
    """Acts on instances and checkpoints through the enforce role."""

    def __init__(self, clients: AwsClients, clock: Callable[[], datetime]) -> None:
        self._instances = Ec2Enforcer(clients, clock)
        self._checkpoints = S3Enforcer(clients, clock)

    def look(self, target: Target) -> Live:
        """Return a resource as AWS tells it now."""
        return self._of(target).look(target)

    def act(self, verb: str, target: Target) -> None:
        """Do one verb to one resource."""
        self._of(target).act(verb, target)

    def _of(self, target: Target) -> Enforcer:
        return self._checkpoints if target.kind == CHECKPOINT else self._instances
