"""What AWS says happened to one resource at one instant, beside what polls see.

An event is a fact with AWS's own time. Events come late, twice, in any order, and some
never: what they mean for running intervals is ``billing.core.event_runs``. Knows no
queue and no boto3.

How the parts work together: whoever reads the queue gives events to
``UsageLedger.apply_events``, which keeps them and answers which instances it has never
seen described; these are described (``Ec2FleetSource.describe``; EC2 shows ended ones
for about an hour) and given to ``apply_observation``, which makes use of the events kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class FleetState(StrEnum):
    """What an event says about an instance; all but the last are EC2's states."""

    PENDING = "pending"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    SHUTTING_DOWN = "shutting-down"
    TERMINATED = "terminated"
    #: AWS will take a spot instance back in two minutes.
    INTERRUPTION_WARNING = "interruption-warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetEvent:
    """One thing that happened to one instance.

    Two events with equal resource, state and time are one.

    Attributes:
        resource_id: Instance id, such as ``i-0abc``.
        at: AWS's time of it (``time`` of an EventBridge event), not its arrival.
    """

    resource_id: str
    account: str
    region: str
    state: FleetState
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TagEvent:
    """All tags of one resource from one instant on.

    Attributes:
        changed: Keys that this event is about; others are as they were.
    """

    resource_id: str
    account: str
    region: str
    at: datetime
    tags: Mapping[str, str] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
