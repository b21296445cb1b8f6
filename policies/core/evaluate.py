"""Policies and facts in, findings out: pure, deterministic, in a stated order.

The same policies, facts and instant give the same answer, whatever the order or
duplicates of either. Nothing acts here; what a policy's limits forbid is refused with
the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.core.capabilities import allowance
from policies.core.catalogue import KINDS, Policy
from policies.core.document import WARN, Mode
from policies.core.facts import Facts
from policies.core.finding import Evaluation, Finding, Refusal, Unknown
from policies.core.judging import Judgement
from policies.core.kinds.budget import BudgetPolicy
from policies.core.kinds.checkpoint_retention import CheckpointRetentionPolicy
from policies.core.kinds.commitment_coverage import CommitmentCoveragePolicy
from policies.core.locations import Location
from policies.core.view import view_of

#: Signals are gathered this much further back, to tell since when something is quiet.
LOOKBACK_SPARE = timedelta(hours=1)


def evaluate(policies: Iterable[Policy], facts: Facts, now: datetime) -> Evaluation:
    """Judge every policy against the same facts at one instant."""
    view = view_of(facts)
    findings: list[Finding] = []
    unknown: list[Unknown] = []
    refused: list[Refusal] = []
    judged = {policy.name: policy for policy in policies}
    for policy in judged.values():
        judgement = KINDS[policy.kind].judge(policy, view, now)
        findings += judgement.findings
        unknown += judgement.unknown
        refused += judgement.refused
        if policy.mode is Mode.ENFORCE:
            refused += _refused(policy, judgement)
    return Evaluation(
        now=now,
        findings=tuple(sorted(findings, key=_order)),
        unknown=tuple(
            sorted(unknown, key=lambda one: (one.policy, one.subject, one.missing))
        ),
        refused=tuple(
            sorted(refused, key=lambda one: (one.policy, one.action, one.reason))
        ),
        judged=tuple(sorted(judged)),
    )


def _order(finding: Finding) -> tuple[object, ...]:
    return (finding.policy, finding.subject, finding.clause)


def _refused(policy: Policy, judgement: Judgement) -> list[Refusal]:
    """Say what `enforce` does not do because of its limits."""
    wanted = sum(acts(finding) for finding in judgement.findings)
    allowed = allowance(wanted, judgement.in_scope, policy.limits)
    if not allowed.reason:
        return []
    return [Refusal(policy=policy.name, action="act", reason=allowed.reason)]


def acts(finding: Finding) -> bool:
    """Tell whether a finding calls for more than words."""
    return any(action.do not in {WARN, "ask"} for action in finding.actions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Which facts some policies need, so that no other is fetched.

    Attributes:
        signals_lookback: How far back signals are needed; None when none is.
        locations: Checkpoint locations to list.
        families: Instance families whose coverage is asked for.
        coverage_lookback: The longest window of coverage; None when none is.
        team_months: Whether what teams spent this month is asked for.
        launches_lookback: How far back starts of jobs are needed; None when none is.
        progress / reservations / anomalies: Whether these are asked for.
        work_windows / transfer_windows: How far back these are looked at, each once.
    """

    signals_lookback: timedelta | None
    locations: tuple[Location, ...]
    families: tuple[str, ...]
    coverage_lookback: timedelta | None
    team_months: bool = False
    launches_lookback: timedelta | None = None
    progress: bool = False
    reservations: bool = False
    anomalies: bool = False
    work_windows: tuple[timedelta, ...] = ()
    transfer_windows: tuple[timedelta, ...] = ()


def needs_of(policies: Sequence[Policy]) -> Needs:
    """Return which facts the policies look at."""
    windows = [one.signals_window for one in policies if one.signals_window is not None]
    coverage = [one for one in policies if isinstance(one, CommitmentCoveragePolicy)]
    locations = {
        policy.location.text: policy.location
        for policy in policies
        if isinstance(policy, CheckpointRetentionPolicy)
    }
    return Needs(
        signals_lookback=max(windows) + LOOKBACK_SPARE if windows else None,
        locations=tuple(locations[text] for text in sorted(locations)),
        families=tuple(sorted({policy.family for policy in coverage})),
        coverage_lookback=max((one.lookback for one in coverage), default=None),
        team_months=any(isinstance(one, BudgetPolicy) for one in policies),
        launches_lookback=max(
            (one.launches_window for one in policies if one.launches_window),
            default=None,
        ),
        progress=any(one.needs_progress for one in policies),
        reservations=any(one.needs_reservations for one in policies),
        anomalies=any(one.needs_anomalies for one in policies),
        work_windows=_each(one.work_window for one in policies),
        transfer_windows=_each(one.transfer_window for one in policies),
    )


def _each(windows: Iterable[timedelta | None]) -> tuple[timedelta, ...]:
    return tuple(sorted({one for one in windows if one is not None}))
