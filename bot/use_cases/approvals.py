"""Ask for approval of a run: stored, recorded and posted in one transaction.

Equal requests are one; pieces of one run count together.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from billing.core.estimate import Estimate, EstimateRequest
from billing.core.money import USD, Money, total
from billing.ports import JobRecord
from bot.ports import Json, Store, UnitOfWork
from bot.use_cases.cards import post_card
from policies.core.approvals import (
    ApprovalRequest,
    ApprovalRule,
    Envelope,
    RequestState,
    job_family,
)
from policies.core.grants import ends_at

#: Pieces of one run asked for within this time count together.
SPLIT_WINDOW = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A run somebody asks approval for.

    Attributes:
        estimate: None when there is no price; then a person must decide.
        requester / caller: Pseudonyms of who asks and of who filed it.
        context: Sentences that help to decide.
    """

    plan: EstimateRequest
    estimate: Estimate | None
    requester: str
    caller: str
    reason: str
    context: tuple[str, ...] = ()


def file_request(
    store: Store,
    ask: Ask,
    rule: ApprovalRule | None,
    *,
    owner: str,
    record: JobRecord | None,
    channel: str,
    now: datetime,
    passed_over: Collection[str] = (),
) -> ApprovalRequest:
    """Store a request and post its card; an equal live request is returned as it is.

    Requests passed over are those whose grant is known to cover nothing more.
    An approval holds for a day and its hours: after them the same run is asked anew.
    Without a rule nobody needs to be asked: it is recorded as approved at once.
    """
    key = idempotency_key(ask.requester, ask.plan)
    request = _request(ask, rule, owner=owner, record=record, now=now)
    with store.write() as unit:
        pieces = pieces_of(unit, owner, ask.plan.job, now)
        request = replace(request, pieces=pieces, context=ask.context)
        stored = unit.journal.add_request(request, key)
        while stored.request_id != request.request_id:
            if not _is_over(stored, now) and stored.request_id not in passed_over:
                return stored
            # What followed a request that is over is stored under that one's id.
            key = f"{key[:64]}:{stored.request_id}"
            stored = unit.journal.add_request(request, key)
        unit.audit.append(
            "approval_requested",
            actor=ask.caller or ask.requester,
            subject=request.request_id,
            data=_audit_data(request),
            now=now,
        )
        if stored.state is RequestState.PENDING:
            post_card(unit, stored, channel, now)
        return stored


def _is_over(request: ApprovalRequest, now: datetime) -> bool:
    """Tell whether an approved run must have ended: asking for it again is new."""
    ends = ends_at(request)
    return ends is not None and now >= ends


def _request(
    ask: Ask,
    rule: ApprovalRule | None,
    *,
    owner: str,
    record: JobRecord | None,
    now: datetime,
) -> ApprovalRequest:
    estimate, plan = ask.estimate, ask.plan
    return ApprovalRequest(
        request_id=f"apr-{secrets.token_hex(5)}",
        version=1,
        state=RequestState.APPROVED if rule is None else RequestState.PENDING,
        envelope=Envelope(
            job=plan.job,
            instance_type=plan.instance_type,
            count=plan.count,
            hours=plan.hours,
            purchase=plan.purchase,
            region=plan.region,
            cost_ceiling=estimate.high if estimate else None,
        ),
        requester=ask.requester,
        caller=ask.caller,
        owner=owner,
        reason=ask.reason,
        low=estimate.low if estimate else None,
        expected=estimate.expected if estimate else None,
        high=estimate.high if estimate else None,
        rule=rule,
        created_at=now,
        expires_at=now + timedelta(seconds=rule.expires_after_s) if rule else None,
        decided_at=now if rule is None else None,
        team=record.team if record else "",
        basis=basis_of(estimate),
        alternatives=estimate.alternatives if estimate else (),
    )


def basis_of(estimate: Estimate | None) -> str:
    """Say where the price of an estimate is from."""
    if estimate is None:
        return "no price is known for this"
    as_of = f"{estimate.price_as_of:%Y-%m-%d}"
    return (
        f"{estimate.list_rate} list price from the {estimate.price_source} of {as_of}"
    )


def asks_for(request: ApprovalRequest, plan: EstimateRequest) -> bool:
    """Tell whether a request is of exactly this plan."""
    envelope = request.envelope
    return (
        envelope.job, envelope.instance_type, envelope.count, envelope.hours,
        envelope.purchase, envelope.region,
    ) == (
        plan.job, plan.instance_type, plan.count, plan.hours, plan.purchase, plan.region,
    )  # fmt: skip


def idempotency_key(requester: str, plan: EstimateRequest) -> str:
    """Return what equal requests of somebody share."""
    parts = (
        requester, plan.job, plan.instance_type, str(plan.count), str(plan.hours),
        plan.purchase.value, plan.region,
    )  # fmt: skip
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def committed_cost(
    unit: UnitOfWork, owner: str, job: str, now: datetime, *, without: str = ""
) -> Money:
    """Return what an owner's pieces of one job family already ask for or were granted.

    ``without`` is the id of a request that is itself about to change.
    """
    found = unit.journal.pieces(owner, job_family(job), now - SPLIT_WINDOW)
    amounts = [amount for one, amount in found if one != without and amount is not None]
    return total(amounts, amounts[0].currency if amounts else USD)


def pieces_of(
    unit: UnitOfWork, owner: str, job: str, now: datetime, *, without: str = ""
) -> tuple[str, ...]:
    """Return the ids of those pieces, oldest first."""
    found = unit.journal.pieces(owner, job_family(job), now - SPLIT_WINDOW)
    return tuple(one for one, _ in found if one != without)


def _audit_data(request: ApprovalRequest) -> Json:
    envelope = request.envelope
    return {
        "job": envelope.job,
        "instance_type": envelope.instance_type,
        "count": envelope.count,
        "hours": str(envelope.hours),
        "purchase": envelope.purchase.value,
        "region": envelope.region,
        "cost_ceiling": envelope.cost_ceiling.text() if envelope.cost_ceiling else None,
        "policy": request.rule.policy if request.rule else None,
        "requester": request.requester,
        "owner": request.owner,
        "state": request.state.value,
    }
