"""Machines, an enforcing policy over them and what the bot did, at a movable time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from billing.core.attribution import TagKeys
from bot.use_cases.acting import Hand, Outcome, act_due
from bot.use_cases.policies import Routing, run_policies
from policies.core.actions import Action, ActionState, Live, policy_hash
from policies.core.catalogue import Policy
from policies.core.evaluate import evaluate
from policies.core.facts import Facts, InstanceFacts
from tests.builders_policies import NOW, idle_instance, make_facts, policy
from tests.fakes.enforcer import InMemoryEnforcer

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

ENFORCED = """
    name: stop-idle
    kind: idle
    mode: enforce
    steps: [warn, {after: 15m, do: stop}]
    limits: {max_actions: 5, max_share: 100%}
"""
MINUTE = timedelta(minutes=1)
ADMINS = ("p-ada", "p-bob")


class KilledError(BaseException):
    """The process dies here."""


@dataclass
class Floor:
    """Machines, a policy over them and what the bot did, at a movable time."""

    store: SqlStore
    now: datetime = NOW
    machines: list[InstanceFacts] = field(default_factory=lambda: [idle_instance()])
    policy: Policy = field(default_factory=lambda: policy(ENFORCED))
    enforcer: InMemoryEnforcer = field(default_factory=InMemoryEnforcer)
    alerts: str = "C0ALERTS"

    def __post_init__(self) -> None:
        for one in self.machines:
            self.enforcer.machines[one.instance.resource_id] = live(one)
        self.confirm(*ADMINS)

    def confirm(self, *people: str) -> None:
        with self.store.write() as unit:
            for by in people:
                unit.journal.confirm_policy(
                    self.policy.name, policy_hash(self.policy), by=by, now=self.now
                )

    @property
    def facts(self) -> Facts:
        return make_facts(*self.machines)

    def evaluate(self, *, can_act: bool = True) -> Sequence[str]:
        """Run the policies; return why they do not act."""
        found = run_policies(
            self.store, [self.policy], self.facts,
            routing=Routing(alerts=self.alerts), now=self.now, can_act=can_act,
        )  # fmt: skip
        return [one.reason for one in found.refused]

    def deliver(self) -> None:
        """Let Slack post what waits, now."""
        with self.store.write() as unit:
            for row in unit.outbox.claim(self.now, worker="w", limit=50):
                unit.outbox.sent(
                    row.row_id, channel=row.message.channel, now=self.now,
                    ts=f"{self.now.timestamp():.6f}",
                )  # fmt: skip

    def wait(self, minutes: float) -> None:
        self.now += minutes * MINUTE

    def act(self) -> tuple[Outcome, ...]:
        return act_due(self.hand())

    def hand(self) -> Hand:
        return Hand(
            store=self.store,
            enforcer=self.enforcer,
            policies=[self.policy],
            evaluate=lambda some: evaluate(some, self.facts, NOW),
            keys=TagKeys(),
            now=lambda: self.now,
            system_now=lambda: self.now,
        )

    def actions(self) -> Sequence[Action]:
        with self.store.read() as unit:
            return unit.journal.recent_actions(NOW - timedelta(days=1))

    def states(self) -> list[str]:
        return [one.state.value for one in self.actions()]

    def posted(self) -> list[str]:
        with self.store.read() as unit:
            keys = [
                key
                for one in self.actions()
                for key in (
                    one.warning_key,
                    *(f"action:{one.action_id}:{state.value}" for state in ActionState),
                )
            ]
            return [key.rpartition(":")[2] for key in keys if unit.outbox.find(key)]


def live(one: InstanceFacts, **tags: str) -> Live:
    held = {"gpucost-managed": "true", "job-id": one.job} | tags
    return Live(
        state="running", tags=tuple(sorted(held.items())), is_protected=False,
        started_at=one.running_since, skew=timedelta(),
    )  # fmt: skip
