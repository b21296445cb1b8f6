"""Evaluate policies on gathered facts: plan only, or record and tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.ports import Store, UnitOfWork
from bot.use_cases.actions import Acting, plan_actions
from bot.use_cases.alerts import Routing, refresh, reopened, resolve, tell
from bot.use_cases.waivers import remind, spent_by_job
from policies.core.catalogue import Policy
from policies.core.decide import FLAPPING, decide
from policies.core.evaluate import evaluate
from policies.core.facts import Facts
from policies.core.finding import Evaluation
from policies.core.waivers import waive
from policies.ports import StoredFinding

__all__ = ["Routing", "run_policies"]


def run_policies(
    store: Store,
    policies: Sequence[Policy],
    facts: Facts,
    *,
    routing: Routing,
    now: datetime,
    can_act: bool = False,
    plans: bool = True,
) -> Evaluation:
    """Evaluate, record what opened, changed and resolved, and queue what to tell.

    Findings, their notices, planned actions with their warnings and the marks that
    people were told commit together. Nothing in AWS is changed here. Without `plans` no
    action is planned or called off: for a look at some of the policies alone.
    """
    found = evaluate(policies, facts, now)
    with store.write() as unit:
        waivers = unit.journal.waivers(since=now)
        evaluation = waive(found, waivers, spent_by_job(facts))
        remind(unit, routing.alerts, now)
        before = unit.journal.open_findings()
        ended = _just_ended(unit, before, now)
        decisions = decide(evaluation, [*before, *ended.values()], now)
        unit.journal.record_findings(
            decisions.record, [policy.name for policy in policies], now
        )
        acting = Acting(
            can_act=can_act,
            channel=routing.channel,
            alerts=routing.alerts,
            people=routing.owners,
        )
        warned, refused = (
            plan_actions(unit, evaluation, policies, acting, now=now)
            if plans
            else (frozenset[str](), ())
        )
        new = {one.finding.fingerprint for one in decisions.notices}
        quiet = [one for one in evaluation.findings if one.fingerprint not in new]
        reopened(unit, quiet, ended)
        notices = [
            one for one in decisions.notices if one.finding.fingerprint not in warned
        ]
        tell(unit, notices, routing, now)
        refresh(unit, evaluation.findings, routing, now)
        resolve(
            unit, [one for one in decisions.resolved if one.notified_at], routing, now
        )
    return replace(evaluation, refused=(*evaluation.refused, *refused))


def _just_ended(
    unit: UnitOfWork, still: Sequence[StoredFinding], now: datetime
) -> Mapping[str, StoredFinding]:
    """Return findings that ended a short while ago and are not open, the newest of each."""
    opened = {one.finding.fingerprint for one in still}
    found: dict[str, StoredFinding] = {}
    for one in unit.journal.resolved_findings(now - FLAPPING):
        if one.finding.fingerprint not in opened:
            found.setdefault(one.finding.fingerprint, one)
    return found
