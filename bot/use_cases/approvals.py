"""Ask for approval of a run, vote, expire: one transaction each, recorded and posted.

Who may decide is looked up when somebody speaks; the decision itself is a
compare-and-set, and its audit event and the rewritten card commit with it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from billing.core.errors import GpucostError
from billing.core.estimate import Estimate, EstimateRequest
from billing.core.money import Money
from billing.ports import JobRecord
from bot.ports import Directory, Json, Store, UnitOfWork
from bot.use_cases.cards import card_key, people_names, post, rewrite_card
from bot.views.approval import approval_card
from policies.core.approvals import (
    ApprovalRequest,
    ApprovalRule,
    Envelope,
    Person,
    RequestState,
    Verdict,
    Vote,
    job_family,
    outcome,
    refusal,
)
from policies.core.grants import ends_at

#: Pieces of one run asked for within this time count together.
SPLIT_WINDOW = timedelta(hours=24)


class UnknownRequestError(GpucostError):
    """There is no approval request of this id."""

    code = "unknown_request"
    hint = "`gpucost approval list` shows the requests there are"

    def __init__(self, request_id: str) -> None:
        super().__init__(f"there is no approval request {request_id!r}")


class VoteRefusedError(GpucostError):
    """The vote does not count; nothing was decided."""

    code = "vote_refused"
    exit_code = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A run somebody asks approval for.

    Attributes:
        estimate: None when there is no price; then a person must decide.
        requester / caller: Pseudonyms of who asks and of who filed it.
    """

    plan: EstimateRequest
    estimate: Estimate | None
    requester: str
    caller: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """One person's word on the version of a request that they saw.

    Attributes:
        version: None for whichever is current (the command line shows no card).
        asserted: True when an admin's setting, not a login, says who it is.
    """

    request_id: str
    version: int | None
    voter: Person
    verdict: Verdict
    reason: str = ""
    asserted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteOutcome:
    """What became of a vote.

    Attributes:
        refused: Why it does not count; "" when it does.
        left: Approvals still needed.
    """

    request: ApprovalRequest
    refused: str = ""
    left: int = 0


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
    key = _idempotency_key(ask)
    request = _request(ask, rule, owner=owner, record=record, now=now)
    with store.write() as unit:
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
        if stored.state is RequestState.PENDING and channel:
            names = people_names(unit, [stored])
            card = approval_card(stored, people=names, now=now)
            unit.outbox.put(post(card_key(stored), channel, card), now)
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
        basis=_basis(estimate),
        alternatives=estimate.alternatives if estimate else (),
    )


def _basis(estimate: Estimate | None) -> str:
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


def _idempotency_key(ask: Ask) -> str:
    plan = ask.plan
    parts = (
        ask.requester, plan.job, plan.instance_type, str(plan.count), str(plan.hours),
        plan.purchase.value, plan.region,
    )  # fmt: skip
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def committed_cost(unit: UnitOfWork, owner: str, job: str, now: datetime) -> Money:
    """Return what an owner's pieces of one job family already ask for or were granted."""
    return unit.journal.committed_cost(owner, job_family(job), now - SPLIT_WINDOW)


def vote(
    store: Store, directory: Directory, ballot: Ballot, *, channel: str, now: datetime
) -> VoteOutcome:
    """Count one person's word, decide when it decides, and rewrite the card.

    Raises:
        UnknownRequestError: No such request.
    """
    with store.read() as unit:
        seen = _known(unit, ballot.request_id)
    approvers = seen.rule.tier.approvers if seen.rule else ()
    # Asked of Slack at the moment of the click, and before the transaction opens.
    eligible, _ = directory.resolve(approvers)
    with store.write() as unit:
        request = _known(unit, ballot.request_id)
        why = _why_not(request, ballot, eligible, now)
        if why:
            _audit_refusal(unit, request, ballot, why, now)
            return VoteOutcome(request=request, refused=why)
        word = Vote(
            person_id=ballot.voter.person_id,
            verdict=ballot.verdict,
            at=now,
            reason=ballot.reason,
            asserted=ballot.asserted,
        )
        if not unit.journal.add_vote(request, word):
            why = "you already spoke on this request"
            return VoteOutcome(request=request, refused=why)
        return _after_vote(unit, request, word, channel, now)


def _known(unit: UnitOfWork, request_id: str) -> ApprovalRequest:
    request = unit.journal.request(request_id)
    if request is None:
        raise UnknownRequestError(request_id)
    return request


def _why_not(
    request: ApprovalRequest, ballot: Ballot, eligible: frozenset[str], now: datetime
) -> str:
    if ballot.version is not None and ballot.version != request.version:
        return "the request changed since this card was posted; decide on its new card"
    return refusal(request, ballot.voter, eligible, now) or ""


def _after_vote(
    unit: UnitOfWork, request: ApprovalRequest, word: Vote, channel: str, now: datetime
) -> VoteOutcome:
    votes = (*request.votes, word)
    voted = replace(request, votes=votes)
    unit.audit.append(
        "approval_voted",
        actor=word.person_id,
        subject=request.request_id,
        data={
            "verdict": word.verdict.value, "version": request.version,
            "asserted": word.asserted,
        },
        now=now,
    )  # fmt: skip
    state = outcome(voted, votes, now)
    required = request.rule.tier.required if request.rule else 1
    yes = sum(one.verdict is Verdict.APPROVE for one in votes)
    if state is RequestState.PENDING:
        rewrite_card(unit, voted, channel, now)
        return VoteOutcome(request=voted, left=max(required - yes, 0))
    decided = _decide(unit, voted, state, by=word.person_id, channel=channel, now=now)
    if decided is None:
        return VoteOutcome(
            request=_known(unit, request.request_id), refused="it was decided meanwhile"
        )
    return VoteOutcome(request=decided)


def _decide(
    unit: UnitOfWork,
    request: ApprovalRequest,
    state: RequestState,
    *,
    by: str,
    channel: str,
    now: datetime,
) -> ApprovalRequest | None:
    if not unit.journal.decide(request, state, by=by, now=now):
        return None
    decided = replace(request, state=state, decided_at=now, decided_by=by)
    unit.audit.append(
        f"approval_{state.value}",
        actor=by or "gpucost",
        subject=request.request_id,
        data={"version": request.version},
        now=now,
    )
    rewrite_card(unit, decided, channel, now)
    return decided


def expire_due(
    store: Store, *, channel: str, now: datetime
) -> Sequence[ApprovalRequest]:
    """Deny by default what nobody decided in time."""
    expired: list[ApprovalRequest] = []
    with store.write() as unit:
        for request in unit.journal.requests(state=RequestState.PENDING, limit=1000):
            if outcome(request, request.votes, now) is not RequestState.EXPIRED:
                continue
            done = _decide(
                unit, request, RequestState.EXPIRED, by="", channel=channel, now=now
            )
            if done is not None:
                expired.append(done)
    return expired


def cancel(
    store: Store, request_id: str, *, by: str, channel: str, now: datetime
) -> ApprovalRequest:
    """Withdraw a pending request; only who asked or filed it may.

    Raises:
        UnknownRequestError: No such request.
        VoteRefusedError: It is decided, or somebody else's.
    """
    with store.write() as unit:
        request = _known(unit, request_id)
        if by not in {request.requester, request.caller}:
            raise VoteRefusedError("only who asked for it may cancel a request")
        done = _decide(
            unit, request, RequestState.CANCELLED, by=by, channel=channel, now=now
        )
        if done is None:
            raise VoteRefusedError(f"the request is {request.state.value} already")
        return done


def _audit_refusal(
    unit: UnitOfWork, request: ApprovalRequest, ballot: Ballot, why: str, now: datetime
) -> None:
    unit.audit.append(
        "approval_vote_refused",
        actor=ballot.voter.person_id,
        subject=request.request_id,
        data={"verdict": ballot.verdict.value, "reason": why},
        now=now,
    )


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
