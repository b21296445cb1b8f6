"""What every policy makes of one subject, with the values it looked at; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.core.attribution import nearest
from billing.core.errors import GpucostError
from policies.core.catalogue import KINDS, Policy
from policies.core.facts import Facts
from policies.core.finding import Finding, Refusal, Unknown
from policies.core.view import View, job_values, view_of

FINDING, UNKNOWN, FINE, APART = "finding", "unknown", "fine", "not about it"


class UnknownSubjectError(GpucostError):
    """No job, instance or team of this name is among the facts."""

    code = "unknown_subject"
    hint = "`gpucost jobs` lists the jobs that run"

    def __init__(self, subject: str, facts: Facts) -> None:
        super().__init__(f"nothing called {subject!r} runs now")
        self.suggestions = nearest(subject, sorted(_names(facts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What one policy makes of a subject.

    Attributes:
        outcome: ``finding``, ``unknown``, ``fine`` or ``not about it``.
        missing: What is unknown; "" otherwise.
    """

    policy: str
    kind: str
    mode: str
    outcome: str
    findings: tuple[Finding, ...] = ()
    missing: str = ""
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A subject's known values, and every policy's ruling, by policy.

    Attributes:
        values: As `where:` sees them; unknown ones are absent.
    """

    subject: str
    values: Mapping[str, object]
    rulings: tuple[Ruling, ...]


def explained(
    policies: Sequence[Policy], facts: Facts, subject: str, now: datetime
) -> Explained | None:
    """Judge everything, and return what concerns one subject; None when there is none."""
    name = subject.strip().lower()
    if name not in {one.lower() for one in _names(facts)}:
        return None
    view = view_of(facts)
    alone = view_of(_only(facts, name))
    rulings = [
        _ruling(policy, view, alone, name, now)
        for policy in sorted(policies, key=lambda one: one.name)
    ]
    return Explained(
        subject=subject.strip(), values=_values(view, name), rulings=tuple(rulings)
    )


def _ruling(
    policy: Policy, view: View, alone: View, name: str, now: datetime
) -> Ruling:
    judged = KINDS[policy.kind].judge(policy, view, now)
    findings = tuple(one for one in judged.findings if _is_of(one, name))
    unknown = [one for one in judged.unknown if _is_of(one, name)]
    in_scope = KINDS[policy.kind].judge(policy, alone, now).in_scope
    outcome = FINE if in_scope else APART
    if unknown:
        outcome = UNKNOWN
    if findings:
        outcome = FINDING
    return Ruling(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        outcome=outcome,
        findings=findings,
        missing="; ".join(sorted({one.missing for one in unknown})),
        refused=tuple(
            one for one in judged.refused if name in one.action.lower().split()
        ),
    )


def _is_of(one: Finding | Unknown, name: str) -> bool:
    return name in {one.subject.id.lower(), one.job.lower()}


def _names(facts: Facts) -> set[str]:
    return {
        *(one.job for one in facts.jobs if one.job),
        *(one.job for one in facts.instances if one.job),
        *(one.instance.resource_id for one in facts.instances),
        *(one.team for one in facts.team_months),
    }


def _only(facts: Facts, name: str) -> Facts:
    """Return the facts of one subject alone."""
    instances = tuple(
        one
        for one in facts.instances
        if name in {one.job.lower(), one.instance.resource_id.lower()}
    )
    return Facts(
        currency=facts.currency,
        instances=instances,
        jobs=tuple(one for one in facts.jobs if one.job.lower() == name),
        team_months=tuple(one for one in facts.team_months if one.team == name),
        as_of=facts.as_of,
        stale_scopes=facts.stale_scopes,
        today=facts.today,
    )


def _values(view: View, name: str) -> Mapping[str, object]:
    for job in view.jobs:
        if job.job.lower() == name:
            return job_values(job)
    for group in view.groups:
        for one, values in zip(group.instances, group.values, strict=True):
            if name in {one.job.lower(), one.instance.resource_id.lower()}:
                return values
    return {}
