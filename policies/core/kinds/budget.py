"""The kind `budget`: what a team may spend in a calendar month (UTC).

Told at each share of the budget that is passed, once each, and earlier when the month
is forecast to end above it. A month that cannot be summed is unknown. Nothing stops.
"""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from typing import Literal

from pydantic import Field, field_validator

from billing.core.money import Money
from billing.core.periods import start_of
from policies.core.document import PolicyBase
from policies.core.facts import TeamMonth
from policies.core.fields import Amount, Drift, Flag, Text
from policies.core.finding import (
    Evidence,
    Finding,
    PlannedAction,
    Severity,
    Subject,
    Unknown,
)
from policies.core.judging import Judgement, message_of, number_text
from policies.core.quantities import QuantityError, money_text
from policies.core.view import View


class BudgetPolicy(PolicyBase):
    """What a team may spend in a calendar month."""

    kind: Literal["budget"] = "budget"
    team: Text | None = Field(None, description="one team; none: every team")
    amount: Amount | None = Field(
        None, description="budget of the month; none: the team's in the configuration"
    )
    at: tuple[Drift, ...] = Field(
        (Fraction(4, 5), Fraction(1)), description="shares of the budget to tell at"
    )
    forecast: Flag = Field(
        True,  # noqa: FBT003 (a default)
        description="tell when the month is forecast to end above the budget",
    )

    @field_validator("at")
    @classmethod
    def _rising(cls, shares: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        if not shares or list(shares) != sorted(set(shares)):
            shown = ", ".join(f"{float(one * 100):g}%" for one in shares)
            raise QuantityError(f"[{shown}]", "shares that rise, such as [80%, 100%]")
        return shares


def judge(policy: BudgetPolicy, view: View, now: datetime) -> Judgement:
    """Return teams that passed a share of their budget, or will."""
    findings: list[Finding] = []
    unknown: list[Unknown] = []
    in_scope = 0
    wanted = policy.team.lower() if policy.team else None
    months = [one for one in view.facts.team_months if wanted in {None, one.team}]
    if wanted and not months:
        unknown.append(_unknown(policy, wanted, "what the team has spent"))
    for month in sorted(months, key=lambda one: one.team):
        budget = policy.amount or month.budget
        if budget is None and not wanted:
            continue
        in_scope += 1
        missing = _missing(month, budget)
        if missing:
            unknown.append(_unknown(policy, month.team, missing))
        elif budget is not None:
            finding = _finding(policy, month, budget, now)
            findings += [finding] if finding else []
    return Judgement(
        findings=tuple(findings), unknown=tuple(unknown), in_scope=in_scope
    )


def _unknown(policy: BudgetPolicy, team: str, missing: str) -> Unknown:
    subject = Subject(type="team", id=team)
    return Unknown(policy=policy.name, subject=subject, missing=missing)


def _missing(month: TeamMonth, budget: Money | None) -> str:
    if budget is None:
        return f"a budget: set teams.{month.team}.budget or amount"
    if month.spent is None:
        return "what the team has spent"
    if month.spent.currency != budget.currency:
        return f"spend in {budget.currency}"
    return ""


def _finding(
    policy: BudgetPolicy, month: TeamMonth, budget: Money, now: datetime
) -> Finding | None:
    spent, forecast = month.spent, month.forecast
    assert spent is not None
    passed = [share for share in policy.at if spent > budget.scaled(share)]
    will_pass = policy.forecast and forecast is not None and forecast > budget
    if not passed and not will_pass:
        return None
    share = f"{float(passed[-1] * 100):g}%" if passed else "forecast"
    is_over = spent > budget
    excess = max(spent, forecast) if forecast is not None else spent
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=Subject(type="team", id=month.team),
        job="",
        severity=Severity.CRITICAL if is_over else Severity.WARNING,
        clause=f"{money_text(budget)} in {month.since:%Y-%m}: {share}",
        since=start_of(month.since),
        cost_at_stake=excess - budget if excess > budget else None,
        evidence=(
            Evidence(
                name="spent this month",
                value=spent.text(),
                unit=budget.currency,
                threshold=f"<= {budget.text()}",
                as_of=now,
            ),
            Evidence(
                name="forecast of the month",
                value=None if forecast is None else forecast.text(),
                unit=budget.currency,
                threshold=f"<= {budget.text()}",
            ),
        ),
        explanation=(
            _sentence(month, budget),
            "How the month will end is unknown."
            if forecast is None
            else f"The month is forecast to end at {forecast}.",
            "Nothing is stopped.",
        ),
        actions=(PlannedAction(do="warn", at=now),),
        team=month.team,
    )


def _sentence(month: TeamMonth, budget: Money) -> str:
    assert month.spent is not None
    used = number_text(float(Fraction(month.spent.nanos, budget.nanos) * 100))
    return (
        f"Team {month.team} has spent {month.spent} of {money_text(budget)} "
        f"({used}%) in {month.since:%Y-%m}."
    )


def message(finding: Finding) -> str:
    """Return the message a team gets."""
    return message_of(finding, f"team {finding.subject.id} budget ({finding.policy})")
