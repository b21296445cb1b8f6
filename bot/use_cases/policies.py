"""Evaluate policies on gathered facts: plan only, or record and tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.ports import Store, UnitOfWork
from bot.use_cases.actions import Acting, plan_actions
from bot.use_cases.cards import post
from bot.use_cases.waivers import remind, spent_by_job
from bot.views.alert import finding_alert, finding_resolved
from policies.core.catalogue import Policy
from policies.core.decide import decide
from policies.core.evaluate import evaluate
from policies.core.facts import Facts
from policies.core.finding import Evaluation, Finding
from policies.core.waivers import waive
from policies.ports import StoredFinding


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


def run_policies(
    store: Store,
    policies: Sequence[Policy],
    facts: Facts,
    *,
    routing: Routing,
    now: datetime,
    can_act: bool = False,
) -> Evaluation:
    """Evaluate, record what opened, changed and resolved, and queue what to tell.

    Findings, their notices, planned actions with their warnings and the marks that
    people were told commit together. Nothing in AWS is changed here.
    """
    found = evaluate(policies, facts, now)
    with store.write() as unit:
        waivers = unit.journal.waivers(since=now)
        evaluation = waive(found, waivers, spent_by_job(facts))
        remind(unit, routing.alerts, now)
        before = unit.journal.open_findings()
        decisions = decide(evaluation, before, now)
        unit.journal.record_findings(
            decisions.record, [policy.name for policy in policies], now
        )
        told = {one.finding.fingerprint: one for one in before}
        acting = Acting(
            can_act=can_act,
            channel=routing.channel,
            alerts=routing.alerts,
            people=routing.owners,
        )
        warned, refused = plan_actions(unit, evaluation, policies, acting, now=now)
        for notice in decisions.notices:
            if notice.finding.fingerprint not in warned:
                _tell(unit, notice.finding, told, routing, now)
        for stored in decisions.resolved:
            if stored.notified_at is not None:
                _tell_resolved(unit, stored, routing, now)
    return replace(evaluation, refused=(*evaluation.refused, *refused))


def _tell(
    unit: UnitOfWork,
    finding: Finding,
    before: Mapping[str, StoredFinding],
    routing: Routing,
    now: datetime,
) -> None:
    channel = routing.channel(finding)
    if not channel:
        return
    stored = before.get(finding.fingerprint)
    # The notice before this one is part of the key: the same state tells once.
    last = stored.notified_at.isoformat() if stored and stored.notified_at else "first"
    opened = stored.opened_at.isoformat() if stored else now.isoformat()
    message = finding_alert(finding, people=routing.owners, now=now)
    key = f"finding:{finding.fingerprint}:{opened}:{last}"
    unit.outbox.put(post(key, channel, message), now)
    unit.journal.mark_notified(finding.fingerprint, now)


def _tell_resolved(
    unit: UnitOfWork, stored: StoredFinding, routing: Routing, now: datetime
) -> None:
    channel = routing.channel(stored.finding)
    if not channel:
        return
    message = finding_resolved(stored.finding, people=routing.owners, now=now)
    key = (
        f"finding:{stored.finding.fingerprint}:{stored.opened_at.isoformat()}:resolved"
    )
    unit.outbox.put(post(key, channel, message), now)
