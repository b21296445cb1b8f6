"""The kind `approval`: runs that cost more than an amount need somebody's word.

Its rule decides requests (``policies.core.approvals``); here, a job that already runs
past the amount without an approval becomes a finding. Strictly more than: the amount
itself needs nobody.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from billing.core.money import Money
from billing.core.periods import rfc3339
from policies.core.document import Part, PolicyBase
from policies.core.facts import JobFacts
from policies.core.fields import (
    Amount,
    Approver,
    CountFromOne,
    Drift,
    Duration,
    JobCondition,
)
from policies.core.finding import (
    Evidence,
    Finding,
    PlannedAction,
    Severity,
    Subject,
)
from policies.core.judging import Judgement, Judging, message_of
from policies.core.quantities import QuantityError, money_text
from policies.core.scoping import judged_jobs, miss_job
from policies.core.view import View

ASK = "ask"


class Tier(Part):
    """More approvals, or other approvers, above a higher amount."""

    over: Amount = Field(description="strictly more than this")
    required: CountFromOne = Field(1, description="distinct people who must approve")
    approvers: tuple[Approver, ...] = Field(
        (), description="who may approve; empty: those of the policy"
    )


class ApprovalPolicy(PolicyBase):
    """Runs that cost more than an amount need somebody's word."""

    kind: Literal["approval"] = "approval"
    where: JobCondition | None = Field(None, description="condition in CEL")
    over: Amount = Field(
        description="predicted total, the high end; strictly more than"
    )
    count: Literal["full", "marginal"] = Field(
        "full", description="runs on paid capacity: in full, or what they add"
    )
    required: CountFromOne = Field(1, description="distinct people who must approve")
    approvers: tuple[Approver, ...] = Field(description="who may approve")
    tiers: tuple[Tier, ...] = Field((), description="stricter rules above more")
    expires_after: Duration = Field(
        timedelta(hours=24), description="a request not decided by then has lapsed"
    )
    drift: Drift = Field(
        Fraction(1, 5), description="outside the envelope by this much: ask again"
    )
    escalate_after: Duration | None = Field(
        None, description="then the next tier's approvers may decide too"
    )
    remind_every: Duration | None = Field(
        None, description="remind approvers, at most this often"
    )
    break_glass: tuple[Approver, ...] = Field(
        (), description="who may approve alone in an emergency"
    )

    @field_validator("approvers")
    @classmethod
    def _somebody(cls, approvers: tuple[str, ...]) -> tuple[str, ...]:
        if not approvers:
            raise QuantityError("nobody", "at least one approver")
        return approvers

    @field_validator("tiers")
    @classmethod
    def _rising(cls, tiers: tuple[Tier, ...], info: ValidationInfo) -> tuple[Tier, ...]:
        over: Money | None = info.data.get("over")
        for tier in tiers:
            if over is not None and tier.over.currency != over.currency:
                raise QuantityError(money_text(tier.over), "one currency in all tiers")
            if over is not None and tier.over <= over:
                expected = f"a tier over more than {money_text(over)}"
                raise QuantityError(money_text(tier.over), expected)
            over = tier.over
        return tiers

    @model_validator(mode="after")
    def _enough_people(self) -> Self:
        for required, approvers in self._demands():
            is_everybody = not any(_may_be_group(name) for name in approvers)
            if is_everybody and required > len(set(approvers)):
                expected = f"at most as many as the approvers ({len(set(approvers))})"
                raise QuantityError(f"required: {required}", expected)
        return self

    def _demands(self) -> list[tuple[int, tuple[str, ...]]]:
        tiers = [(one.required, one.approvers or self.approvers) for one in self.tiers]
        return [(self.required, self.approvers), *tiers]


def _may_be_group(name: str) -> bool:
    """Tell whether a name may stand for several people."""
    return name.startswith(("@", "S"))


def judge(policy: ApprovalPolicy, view: View, now: datetime) -> Judgement:
    """Return running jobs past the amount that no live approval covers."""
    judging = Judging(policy)
    for job in judged_jobs(judging, policy, view):
        missing = _missing(policy, job)
        if missing:
            miss_job(judging, job, missing)
        elif not _is_covered(job, now):
            finding = _finding(policy, job, now)
            judging.findings += [finding] if finding else []
    return judging.result()


def _missing(policy: ApprovalPolicy, job: JobFacts) -> str:
    amounts = [amount for amount in (job.spent, job.predicted) if amount is not None]
    if not amounts:
        return "cost so far and predicted cost"
    if any(amount.currency != policy.over.currency for amount in amounts):
        return f"cost in {policy.over.currency}"
    if job.spent is None and max(amounts) <= policy.over:
        return "cost so far"
    return ""


def _is_covered(job: JobFacts, now: datetime) -> bool:
    ends = job.grant_ends_at
    return job.has_grant and (ends is None or now < ends)


def _finding(policy: ApprovalPolicy, job: JobFacts, now: datetime) -> Finding | None:
    amounts = [amount for amount in (job.spent, job.predicted) if amount is not None]
    highest = max(amounts)
    if highest <= policy.over:
        return None
    is_spent = job.spent is not None and job.spent > policy.over
    lapsed = job.has_grant and job.grant_ends_at is not None
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=Subject(type="job", id=job.job),
        job=job.job,
        severity=Severity.CRITICAL if is_spent else Severity.WARNING,
        clause=f"over {money_text(policy.over)} without approval",
        since=job.since or now,
        cost_at_stake=highest,
        evidence=(
            _amount("cost so far", job.spent, policy.over),
            _amount("predicted cost, high end", job.predicted, policy.over),
        ),
        explanation=tuple(_sentences(policy, job, lapsed=lapsed)),
        actions=(PlannedAction(do=ASK, at=now),),
        owner=job.owner,
        team=job.team,
    )


def _amount(name: str, amount: Money | None, over: Money) -> Evidence:
    value = None if amount is None else amount.text()
    return Evidence(
        name=name, value=value, unit=over.currency, threshold=f"> {over.text()}"
    )


def _sentences(policy: ApprovalPolicy, job: JobFacts, *, lapsed: bool) -> list[str]:
    spent = "unknown" if job.spent is None else exact_beside(job.spent, policy.over)
    high = (
        "unknown" if job.predicted is None else exact_beside(job.predicted, policy.over)
    )
    sentences = [
        f"It has cost {spent} so far, the predicted total is {high}.",
        f"Approval is needed over {money_text(policy.over)}.",
    ]
    if lapsed and job.grant_ends_at is not None:
        sentences.append(f"Its approval ended at {rfc3339(job.grant_ends_at)}.")
    sentences.append("Nothing is stopped; ask for approval or stop it yourself.")
    return sentences


def exact_beside(amount: Money, limit: Money) -> str:
    """Return an amount to the cent, or exactly when the cent would hide a difference.

    >>> exact_beside(Money.of("10000.004"), Money.of("10000"))
    '$10,000.004'
    """
    if amount != limit and str(amount) == str(limit):
        return money_text(amount)
    return str(amount)


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    headline = f"job {finding.job} runs without approval ({finding.policy})"
    return message_of(finding, headline)
