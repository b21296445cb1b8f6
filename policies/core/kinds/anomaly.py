"""The kind `anomaly`: a day that cost far more than days like it did.

Judged by `billing.core.anomalies`; here, a day that stands out becomes a finding of its
team or account, once. It tells, and never acts.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from billing.core.anomalies import FLOOR, Anomaly
from billing.core.periods import start_of
from policies.core.document import PolicyBase
from policies.core.fields import Amount, Text
from policies.core.finding import (
    Evidence,
    Finding,
    PlannedAction,
    Severity,
    Subject,
    Unknown,
)
from policies.core.judging import Judgement, message_of
from policies.core.quantities import money_text
from policies.core.view import View

TEAM, ACCOUNT = "team ", "account "


class AnomalyPolicy(PolicyBase):
    """A day that cost far more than days like it did."""

    kind: Literal["anomaly"] = "anomaly"
    team: Text | None = Field(None, description="one team; none: teams and accounts")
    floor: Amount = Field(FLOOR, description="dollars over the usual; strictly more")

    @property
    def needs_anomalies(self) -> bool:
        """Tell that the days before are looked at."""
        return True


def judge(policy: AnomalyPolicy, view: View, now: datetime) -> Judgement:
    """Return the days that stand out, each once."""
    if not view.facts.anomalies_known:
        subject = Subject(type="account", id="anomalies")
        unknown = Unknown(
            policy=policy.name, subject=subject, missing="enough days of cost"
        )
        return Judgement(unknown=(unknown,))
    findings = [
        _finding(policy, one, now)
        for one in sorted(view.facts.anomalies, key=lambda one: (one.series, one.day))
        if one.excess.currency == policy.floor.currency
        and one.excess > policy.floor
        and (policy.team is None or one.series == f"{TEAM}{policy.team.lower()}")
    ]
    return Judgement(findings=tuple(findings), in_scope=len(findings))


def _finding(policy: AnomalyPolicy, one: Anomaly, now: datetime) -> Finding:
    is_team = one.series.startswith(TEAM)
    subject = Subject(
        type="team" if is_team else "account",
        id=one.series.removeprefix(TEAM).removeprefix(ACCOUNT),
    )
    grew = [
        f"{cause.key} by {cause.cost - cause.usual}"
        for cause in one.causes[:3]
        if cause.cost > cause.usual
    ]
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=subject,
        job="",
        severity=Severity.WARNING,
        clause=f"{one.day.isoformat()} over the usual by more than "
        f"{money_text(policy.floor)}",
        since=start_of(one.day),
        cost_at_stake=one.excess,
        evidence=(
            Evidence(
                name=f"cost on {one.day.isoformat()}",
                value=one.cost.text(),
                unit=one.cost.currency,
                threshold=f"about {one.usual.text()}",
                as_of=now,
            ),
        ),
        explanation=(
            (
                f"{one.series[0].upper()}{one.series[1:]} cost {one.cost} on "
                f"{one.day.isoformat()}, where about {one.usual} is usual."
            ),
            f"What grew most: {', '.join(grew)}."
            if grew
            else "No job stands out among what grew.",
            *(("The day is not complete yet.",) if one.is_open else ()),
        ),
        actions=(PlannedAction(do="warn", at=now),),
        team=subject.id if is_team else "",
    )


def message(finding: Finding) -> str:
    """Return the message a team gets."""
    return message_of(
        finding, f"unusual cost of {finding.subject.id} ({finding.policy})"
    )
