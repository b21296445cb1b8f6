"""Which approval rule a run falls under: the strictest that any policy asks for.

Strictly more than an amount; an unknown price falls under the highest tier, and so
does an amount in a currency the policy does not speak. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from billing.core.money import Money
from policies.core.approvals import ApprovalRule, ApprovalTier
from policies.core.catalogue import Policy
from policies.core.facts import JobFacts
from policies.core.kinds.approval import ApprovalPolicy
from policies.core.view import job_values


def rule_for(
    policies: Iterable[Policy],
    job: JobFacts,
    high: Money | None,
    committed: Money,
    *,
    marginal: Money | None = None,
) -> ApprovalRule | None:
    """Return the rule that decides a request; None when nobody needs to be asked.

    Args:
        policies: All policies; only those of kind ``approval`` matter.
        job: The job as `where:` sees it; build it with ``planned_job``.
        high: High end of the estimate; None when there is no price.
        committed: What the same owner and job family has asked for or runs already,
            so that splitting a run does not dodge the limit.
        marginal: What the run adds to capacity paid for already, for policies that count
            so; None: the same as ``high``.
    """
    values = job_values(job)
    rules = [
        rule
        for policy in policies
        if isinstance(policy, ApprovalPolicy)
        and (policy.where is None or policy.where.holds(values) is not False)
        and (rule := _rule(policy, _sum(_counted(policy, high, marginal), committed)))
        is not None
    ]
    return max(rules, key=_strictness, default=None)


def planned_job(
    *,
    job: str,
    team: str,
    owner: str,
    environment: str,
    instance_type: str,
    count: int,
    gpus: int | None,
    high: Money | None,
) -> JobFacts:
    """Return a run that does not exist yet, as policies look at jobs."""
    return JobFacts(
        job=job,
        team=team,
        owner=owner,
        environment=environment,
        spent=None,
        rate=None,
        predicted=high,
        instance_types=(instance_type,),
        instances=count,
        gpus=gpus,
        since=None,
    )


def _counted(
    policy: ApprovalPolicy, high: Money | None, marginal: Money | None
) -> Money | None:
    """Return the amount that a policy counts; an unknown price stays unknown."""
    is_marginal = policy.count == "marginal" and high is not None
    return marginal if is_marginal and marginal is not None else high


def _sum(high: Money | None, committed: Money) -> Money | None:
    if high is None or high.currency != committed.currency:
        return None
    return high + committed


def _rule(policy: ApprovalPolicy, amount: Money | None) -> ApprovalRule | None:
    """Return the policy's highest tier that an amount passes."""
    tiers = _tiers(policy)
    if amount is None or amount.currency != policy.over.currency:
        index = len(tiers) - 1
    else:
        index = sum(amount > tier.over for tier in tiers) - 1
    if index < 0:
        return None
    after = policy.escalate_after
    above = tiers[index + 1 : index + 2] if after is not None else []
    return ApprovalRule(
        policy=policy.name,
        tier=tiers[index],
        expires_after_s=int(policy.expires_after.total_seconds()),
        drift=policy.drift,
        escalation=above[0].approvers if above else (),
        escalate_after_s=_seconds(after),
        remind_every_s=_seconds(policy.remind_every),
        break_glass=policy.break_glass,
    )


def _seconds(span: timedelta | None) -> int | None:
    return None if span is None else int(span.total_seconds())


def _tiers(policy: ApprovalPolicy) -> list[ApprovalTier]:
    first = ApprovalTier(
        over=policy.over, required=policy.required, approvers=policy.approvers
    )
    return [
        first,
        *(
            ApprovalTier(
                over=tier.over,
                required=tier.required,
                approvers=tier.approvers or policy.approvers,
            )
            for tier in policy.tiers
        ),
    ]


def _strictness(rule: ApprovalRule) -> tuple[int, int, str]:
    return (rule.tier.required, rule.tier.over.nanos, rule.policy)
