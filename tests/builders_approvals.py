"""Approvals in a store, for tests: people ask, others vote, hours pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from billing.core.estimate import EstimateRequest
from bot.use_cases.approvals import Ask, file_request
from bot.use_cases.approvals_voting import Ballot, VoteOutcome, vote
from bot.use_cases.estimate import estimate_run
from bot.use_cases.pricing import price_book
from policies.core.approvals import (
    ApprovalRequest,
    ApprovalRule,
    ApprovalTier,
    Verdict,
)
from tests.builders import NOW, REGION, make_price, usd
from tests.fakes.directory import InMemoryDirectory, make_person

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

CHANNEL = "C0APPROVE"
PLAN = EstimateRequest(
    instance_type="p5.48xlarge", count=8, hours=Fraction(72), region=REGION, job="llm-1"
)
MIA, ADA, OMAR, BOB = (make_person(name) for name in ("mia", "ada", "omar", "bob"))


def make_rule(required: int = 1, *approvers: str) -> ApprovalRule:
    tier = ApprovalTier(
        over=usd("10000"),
        required=required,
        approvers=approvers or ("@gpu-approvers",),
    )
    return ApprovalRule(policy="approve-large-runs", tier=tier, expires_after_s=86_400)


@dataclass
class Desk:
    """Approvals in one store; times are hours after the request."""

    store: SqlStore
    directory: InMemoryDirectory = field(
        default_factory=lambda: InMemoryDirectory(
            people=[MIA, ADA, OMAR, BOB],
            groups={"@gpu-approvers": [ADA.slack_id, OMAR.slack_id, MIA.slack_id]},
        )
    )

    def asks(
        self,
        plan: EstimateRequest = PLAN,
        *,
        rule: ApprovalRule | None = None,
        caller: str = MIA.person_id,
        owner: str = MIA.person_id,
        hours: float = 0,
        priced: bool = True,
        is_free: bool = False,
    ) -> ApprovalRequest:
        with self.store.write() as unit:
            unit.ledger.record_prices([make_price("10")], NOW)
        with self.store.read() as unit:
            estimate = estimate_run(plan, price_book(unit.ledger, ()))
        ask = Ask(
            plan=plan,
            estimate=estimate if priced else None,
            requester=MIA.person_id,
            caller=caller,
            reason="new model",
        )
        return file_request(
            self.store,
            ask,
            None if is_free else rule or make_rule(),
            owner=owner,
            record=None,
            channel=CHANNEL,
            now=after(hours),
        )

    def votes(
        self,
        request: ApprovalRequest,
        who: Any,
        verdict: Verdict = Verdict.APPROVE,
        *,
        hours: float = 1,
        version: int | None = 1,
        reason: str = "because",
    ) -> VoteOutcome:
        ballot = Ballot(
            request_id=request.request_id, version=version, voter=who, verdict=verdict,
            reason=reason,
        )  # fmt: skip
        return vote(
            self.store, self.directory, ballot, channel=CHANNEL, now=after(hours)
        )

    def stored(self, request: ApprovalRequest) -> ApprovalRequest:
        with self.store.read() as unit:
            found = unit.journal.request(request.request_id)
        assert found is not None
        return found

    def events(self) -> list[str]:
        with self.store.database.read() as session:
            rows = session.execute(text("SELECT event FROM audit_event ORDER BY 1"))
            return [event for (event,) in rows]

    def effects(self) -> list[tuple[str, str]]:
        """Return kind and ref of every effect, oldest first."""
        with self.store.database.read() as session:
            rows = session.execute(text("SELECT kind, ref FROM outbox ORDER BY row_id"))
            return [(kind, ref) for kind, ref in rows]


def after(hours: float) -> datetime:
    return NOW + timedelta(hours=hours)
