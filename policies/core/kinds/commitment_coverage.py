"""The kind `commitment-coverage`: how much of the baseline commitments cover.

No eligible usage is "n/a", never 0 %. The band is held against the covered share of
the baseline where that is known, else against AWS's own coverage figure, which says so.
It tells, and never buys.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from math import isfinite
from typing import Literal

from pydantic import Field, field_validator

from billing.core.money import Money
from billing.core.periods import rfc3339, start_of
from billing.ports import CommitmentFacts, OwnedPlan
from policies.core.document import PolicyBase
from policies.core.fields import Duration, Name, Percent, PercentBand
from policies.core.finding import Evidence, Finding, Severity, Subject, Unknown
from policies.core.judging import Judgement, message_of, number_text
from policies.core.quantities import (
    PercentRange,
    QuantityError,
    duration_text,
    parse_percent_range,
    percent_text,
)
from policies.core.view import View

NO_USAGE = "n/a - no eligible usage"


class CommitmentCoveragePolicy(PolicyBase):
    """How much of the baseline commitments cover."""

    kind: Literal["commitment-coverage"] = "commitment-coverage"
    family: Name = Field(description="instance family, such as p5")
    target: PercentBand = Field(
        parse_percent_range("60%..70%"), description="band of the covered share"
    )
    lookback: Duration = Field(
        timedelta(days=30), description="how far back usage is looked at"
    )
    least_used: Percent = Field(
        Fraction(95, 100),
        description="used share of all Savings Plans; strictly less is a finding",
    )
    ends_within: tuple[Duration, ...] = Field(
        (timedelta(days=60), timedelta(days=30), timedelta(days=7)),
        description="tell this long before a plan ends",
    )

    @field_validator("ends_within")
    @classmethod
    def _falling(cls, steps: tuple[timedelta, ...]) -> tuple[timedelta, ...]:
        if list(steps) != sorted(set(steps), reverse=True):
            shown = ", ".join(duration_text(one) for one in steps)
            raise QuantityError(f"[{shown}]", "times that fall, such as [60d, 30d, 7d]")
        return steps


def judge(policy: CommitmentCoveragePolicy, view: View, now: datetime) -> Judgement:
    """Return the family when its coverage is outside the band, and plans that end."""
    subject = Subject(type="commitment", id=policy.family)
    judged = _covered(policy, subject, view)
    ends, lacking = _ending(policy, view, now)
    return replace(
        judged,
        findings=(*judged.findings, *ends),
        unknown=(*judged.unknown, *lacking),
    )


def _covered(
    policy: CommitmentCoveragePolicy, subject: Subject, view: View
) -> Judgement:
    if not view.facts.commitments_known:
        return _unknown(policy, subject, "coverage of commitments")
    found = sorted(
        (one for one in view.facts.commitments if one.family == policy.family),
        key=lambda one: (one.until, one.since),
    )
    if not found:
        return _unknown(policy, subject, f"{NO_USAGE} in {_lookback(policy)}")
    facts = found[-1]
    wrong = _wrong(facts)
    if wrong:
        return _unknown(policy, subject, wrong)
    if facts.eligible.nanos == 0:
        return _unknown(policy, subject, f"{NO_USAGE} in {_lookback(policy)}")
    wrongs = (_finding(policy, subject, facts), _unused(policy, facts))
    findings = tuple(one for one in wrongs if one is not None)
    return Judgement(findings=findings, in_scope=1)


def _unused(policy: CommitmentCoveragePolicy, facts: CommitmentFacts) -> Finding | None:
    """Return a finding where what is committed is not used."""
    used = facts.utilization_pct
    if used is None or used >= policy.least_used * 100:
        return None
    until = start_of(facts.until)
    least = percent_text(policy.least_used)
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=Subject(type="commitment", id="savings plans"),
        job="",
        severity=Severity.WARNING,
        clause=f"used less than {least}",
        since=start_of(facts.since),
        cost_at_stake=None,
        evidence=(
            Evidence(
                name="utilisation of commitments",
                value=number_text(used),
                unit="%",
                threshold=f">= {least}",
                as_of=until,
            ),
        ),
        explanation=(
            (
                f"Savings Plans were used to {number_text(used)}%: more is committed than "
                "runs."
            ),
            "AWS tells this for all plans together, not for a family.",
            "Do not renew or add any until it is used; a plan cannot be given back.",
        ),
    )


def _ending(
    policy: CommitmentCoveragePolicy, view: View, now: datetime
) -> tuple[tuple[Finding, ...], tuple[Unknown, ...]]:
    if view.facts.plans is None:
        if not view.facts.commitments_known:
            return (), ()
        subject = Subject(type="commitment", id="savings plans")
        missing = "when Savings Plans end"
        return (), (Unknown(policy=policy.name, subject=subject, missing=missing),)
    about = [one for one in view.facts.plans if one.family in {"", policy.family}]
    ends = (_end(policy, one, now) for one in about)
    return tuple(one for one in ends if one is not None), ()


def _end(
    policy: CommitmentCoveragePolicy, plan: OwnedPlan, now: datetime
) -> Finding | None:
    left = plan.ends_at - now
    passed = [step for step in policy.ends_within if timedelta() < left <= step]
    if not passed:
        return None
    bound = plan.family or "any family"
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=Subject(type="commitment", id=plan.plan_id, region=plan.region),
        job="",
        severity=Severity.WARNING,
        clause=f"ends within {duration_text(passed[-1])}",
        since=plan.ends_at - passed[-1],
        cost_at_stake=None,
        evidence=(Evidence(name="end", value=rfc3339(plan.ends_at), as_of=now),),
        explanation=(
            (
                f"The {plan.kind} plan over {plan.hourly} an hour for {bound} ends at "
                f"{rfc3339(plan.ends_at)}."
            ),
            "What it covered costs the on-demand price from then on.",
        ),
    )


def _lookback(policy: CommitmentCoveragePolicy) -> str:
    return f"the last {duration_text(policy.lookback)}"


def _unknown(
    policy: CommitmentCoveragePolicy, subject: Subject, missing: str
) -> Judgement:
    unknown = Unknown(policy=policy.name, subject=subject, missing=missing)
    return Judgement(unknown=(unknown,), in_scope=1)


def _wrong(facts: CommitmentFacts) -> str:
    """Say what cannot be true of the figures; "" when they can be."""
    for pct in (facts.baseline_covered_pct, facts.utilization_pct):
        if pct is not None and not (isfinite(pct) and pct >= 0):
            return f"a plausible percentage (got {pct})"
    if facts.covered.currency != facts.eligible.currency:
        return "one currency"
    if not 0 <= facts.covered.nanos <= facts.eligible.nanos:
        return f"plausible coverage (got {facts.covered} of {facts.eligible})"
    return ""


def _finding(
    policy: CommitmentCoveragePolicy, subject: Subject, facts: CommitmentFacts
) -> Finding | None:
    aws = Fraction(facts.covered.nanos, facts.eligible.nanos)
    baseline = facts.baseline_covered_pct
    share = aws if baseline is None else Fraction(baseline) / 100
    band: PercentRange = policy.target
    if band.low <= share <= band.high:
        return None
    is_low = share < band.low
    label = "AWS's coverage figure" if baseline is None else "covered share of baseline"
    shown = number_text(float(share * 100))
    stake = _open_cost(facts, band.low - share) if is_low else None
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=subject,
        job="",
        severity=Severity.WARNING,
        clause=f"target {band}",
        since=start_of(facts.since),
        cost_at_stake=stake if baseline is None else None,
        evidence=_evidence(policy, facts, label, shown),
        explanation=tuple(_sentences(policy, facts, label, shown)),
    )


def _open_cost(facts: CommitmentFacts, gap: Fraction) -> Money:
    """Return the on-demand spend between the figure and the band's lower end."""
    return facts.eligible.scaled(gap)


def _evidence(
    policy: CommitmentCoveragePolicy, facts: CommitmentFacts, label: str, shown: str
) -> tuple[Evidence, ...]:
    until = start_of(facts.until)
    evidence = [
        Evidence(
            name=label, value=shown, unit="%", threshold=str(policy.target), as_of=until
        )
    ]
    if facts.baseline_covered_pct is not None:
        pct = number_text(100 * facts.covered.nanos / facts.eligible.nanos)
        evidence.append(
            Evidence(name="AWS's coverage figure", value=pct, unit="%", as_of=until)
        )
    used = facts.utilization_pct
    evidence.append(
        Evidence(
            name="utilisation of commitments",
            value=None if used is None else number_text(used),
            unit="%",
            as_of=until,
        )
    )
    return tuple(evidence)


def _sentences(
    policy: CommitmentCoveragePolicy, facts: CommitmentFacts, label: str, shown: str
) -> list[str]:
    subject = label[0].upper() + label[1:]
    sentences = [
        f"{subject} of {policy.family} is {shown}%, the target is {policy.target}.",
        f"{facts.covered} of {facts.eligible} eligible spend was covered.",
        f"Looked at: {facts.since} up to {facts.until}.",
    ]
    if facts.baseline_covered_pct is None:
        sentences.append(
            "The baseline is unknown, so AWS's figure, which counts peaks too, is held "
            "against the target."
        )
    elif facts.baseline is not None:
        sentences.append(
            f"Nearly every hour (9 of 10) used {facts.baseline} or more, at on-demand "
            "prices."
        )
        sentences += _advice(policy.target, facts)
    return sentences


def _advice(band: PercentRange, facts: CommitmentFacts) -> list[str]:
    """Say how much more or less would be inside the band, and when it pays."""
    assert facts.baseline is not None
    share = Fraction(facts.baseline_covered_pct or 0) / 100
    if share > band.high:
        over = facts.baseline.scaled(share - band.high)
        return [f"{over} an hour are covered beyond the band: let that much end."]
    more = facts.baseline.scaled((band.low + band.high) / 2 - share)
    if facts.plan_share is None:
        return [
            (
                f"Covering {more} an hour more, at on-demand prices, is the middle of the "
                "band; what a plan for it costs is unknown."
            )
        ]
    used = number_text(float(facts.plan_share * 100))
    return [
        (
            f"A 1-year Compute Savings Plan over {more.scaled(facts.plan_share)} an hour "
            f"would cover {more} more: the middle of the band."
        ),
        f"It pays while it is used more than {used}% of its time.",
    ]


def message(finding: Finding) -> str:
    """Return the message for whoever buys commitments."""
    what = {"used": "are not all used", "ends": "ends soon"}.get(
        finding.clause.partition(" ")[0], ""
    )
    subject = f"coverage of {finding.subject.id}"
    if what:
        subject = "Savings Plans" if "used" in what else f"plan {finding.subject.id}"
    headline = f"{subject} {what or 'is off target'} ({finding.policy})"
    return message_of(finding, headline)
