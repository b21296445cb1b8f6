"""Machines held in memory, as the ``Enforcer`` port promises; counts what was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from billing.ports import SourceUnavailableError
from policies.core.actions import Live

if TYPE_CHECKING:
    from policies.core.finding import Target

_AFTER = {
    "stop": "stopping",
    "terminate": "shutting-down",
    "quarantine": "quarantined",
    "delete": "",
}


@dataclass
class InMemoryEnforcer:
    """Machines by id.

    Attributes:
        done: How often each (verb, id) was done.
        broken: Ids that AWS refuses to touch; ``dark`` ids cannot even be looked at.
        before_act: Called right before something is done.
    """

    machines: dict[str, Live] = field(default_factory=dict)
    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: set[str] = field(default_factory=set)
    dark: set[str] = field(default_factory=set)
    before_act: Callable[[], None] = lambda: None
    after_act: Callable[[], None] = lambda: None

    def look(self, target: Target) -> Live:
        if target.resource_id in self.dark:
            raise SourceUnavailableError("enforce", "ec2:DescribeInstances failed")
        gone = Live(state="", skew=timedelta())
        return self.machines.get(target.resource_id, gone)

    def act(self, verb: str, target: Target) -> None:
        self.before_act()
        if target.resource_id in self.broken:
            raise SourceUnavailableError("enforce", "UnauthorizedOperation")
        self.done[(verb, target.resource_id)] += 1
        known = self.machines[target.resource_id]
        self.machines[target.resource_id] = replace(known, state=_AFTER[verb])
        self.after_act()
