"""Evaluate policies on gathered facts: plan only, or record and tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.ports import OutboxMessage, Store
from bot.views.alert import finding_alert, finding_resolved
from bot.views.answers import Message
from policies.core.catalogue import Policy
from policies.core.decide import decide
from policies.core.evaluate import evaluate
from policies.core.facts import Facts
from policies.core.finding import Evaluation, Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Where notices go.

    Attributes:
        alerts: Channel for everything without a better place; "" posts nothing.
        teams: Channel of a team.
        owners: Slack id of an owner tag's value; one that is missing is shown as text.
    """

    alerts: str
    teams: Mapping[str, str] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)

    def channel(self, finding: Finding) -> str:
        """Return where a finding is told."""
        return self.teams.get(finding.team, "") or self.alerts


def plan(policies: Sequence[Policy], facts: Facts, *, now: datetime) -> Evaluation:
    """Return what the policies find; nothing is recorded and nobody is told."""
    return evaluate(policies, facts, now)


def run_policies(
    store: Store,
    policies: Sequence[Policy],
    facts: Facts,
    *,
    routing: Routing,
    now: datetime,
) -> Evaluation:
    """Evaluate, record what opened, changed and resolved, and queue what to tell.

    Findings, their notices and the marks that people were told commit together.
    """
    evaluation = evaluate(policies, facts, now)
    with store.write() as unit:
        before = unit.journal.open_findings()
        decisions = decide(
            evaluation, before, now, is_paused=unit.control.paused() is not None
        )
        unit.journal.record_findings(
            decisions.to_record, [policy.name for policy in policies], now
        )
        for notice in decisions.notices:
            channel = routing.channel(notice.finding)
            if not channel:
                continue
            message = finding_alert(notice.finding, people=routing.owners, now=now)
            key = f"finding:{notice.finding.fingerprint}:{notice.key}"
            unit.outbox.put(_post(key, channel, message), now)
            unit.journal.mark_notified(notice.finding.fingerprint, now)
        for stored in decisions.resolved:
            if stored.notified_at is None:
                continue
            channel = routing.channel(stored.finding)
            message = finding_resolved(stored.finding, people=routing.owners, now=now)
            opened = stored.opened_at.isoformat()
            key = f"finding:{stored.finding.fingerprint}:resolved:{opened}"
            unit.outbox.put(_post(key, channel, message), now)
    return evaluation


def _post(key: str, channel: str, message: Message) -> OutboxMessage:
    payload = {"text": message.text, "blocks": [*message.blocks]}
    return OutboxMessage(key=key, kind="post", channel=channel, payload=payload)
