"""The kind `commitment-coverage`: how much of the baseline commitments cover.

No eligible usage is "n/a", never 0 %. The band is held against the covered share of
the baseline where that is known, else against AWS's own coverage figure, which says so.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from math import isfinite
from typing import Literal

from pydantic import Field

from billing.core.money import Money
from billing.core.periods import start_of
from billing.ports import CommitmentFacts
from policies.core.document import PolicyBase
from policies.core.fields import Duration, Name, PercentBand
from policies.core.finding import Evidence, Finding, Severity, Subject, Unknown
from policies.core.judging import Judgement, message_of, number_text
from policies.core.quantities import (
    PercentRange,
    duration_text,
    parse_percent_range,
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


def judge(policy: CommitmentCoveragePolicy, view: View, now: datetime) -> Judgement:
    """Return the family when its coverage is outside the band."""
    del now  # the window is that of the facts
    subject = Subject(type="commitment", id=policy.family)
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
    finding = _finding(policy, subject, facts)
    return Judgement(findings=(finding,) if finding else (), in_scope=1)


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
    return sentences


def message(finding: Finding) -> str:
    """Return the message for whoever buys commitments."""
    headline = f"coverage of {finding.subject.id} is off target ({finding.policy})"
    return message_of(finding, headline)
