"""Change a request before it is decided: send back, answer, edit, hand on, withdraw.

Whoever asked changes what is asked; whoever may decide sends it back or names who should
look at it. A changed request is a new version that nobody has agreed to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from billing.core.estimate import Estimate, EstimateRequest
from bot.ports import Directory, Store, UnitOfWork
from bot.use_cases.approvals_delegating import standing_of, still_standing
from bot.use_cases.approvals_moving import (
    VoteRefusedError,
    happen,
    known,
    record,
    tell_in_thread,
)
from bot.use_cases.cards import people_names, post_card, replace_card
from bot.views.approval_events import answered, handed_on, sent_back
from policies.core.approvals import (
    ApprovalRequest,
    ApprovalRule,
    Envelope,
    Person,
    RequestEvent,
    RequestState,
    approvers_of,
    has_a_part_in,
    is_no_voter,
    is_not_among,
)
from policies.core.delegations import seat_of
from policies.ports import ApprovalConflictError

CHANGED = "it changed meanwhile; look at it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a request asks for from now on.

    Attributes:
        rule: That of the new amount; None when nobody needs to be asked.
        key: What equal requests share.
        basis: How the estimate was made.
        context: Sentences that help to decide.
    """

    plan: EstimateRequest
    estimate: Estimate | None
    rule: ApprovalRule | None
    key: str
    basis: str
    reason: str
    pieces: tuple[str, ...] = ()
    context: tuple[str, ...] = ()


def ask_back(
    store: Store,
    directory: Directory,
    request_id: str,
    *,
    by: Person,
    question: str,
    channel: str,
    now: datetime,
) -> ApprovalRequest:
    """Send a request back with a question; it waits for the answer of whoever asked.

    Raises:
        UnknownRequestError: No such request.
        VoteRefusedError: They may not, there is no question, or it is too late.
    """
    asked = _words(question, "a question")
    standing = standing_of(store, directory, by, now)
    with store.read() as unit:
        seen = known(unit, request_id)
    eligible, _ = directory.resolve(approvers_of(seen, now))
    with store.write() as unit:
        request = known(unit, request_id)
        standing = still_standing(unit, by, standing, now)
        seat = seat_of(request, by, eligible, standing, now)
        if seat.refused:
            raise VoteRefusedError(seat.refused)
        moved = _done(
            happen(
                unit, request, RequestEvent.ASK, by=by.person_id, channel=channel,
                now=now, text=asked,
            )
        )  # fmt: skip
        told = sent_back(moved, asked, people=people_names(unit, [moved]))
        tell_in_thread(unit, moved, "ask", told, channel=channel, now=now)
        return moved


def answer(
    store: Store,
    request_id: str,
    *,
    by: str,
    words: str,
    channel: str,
    now: datetime,
) -> ApprovalRequest:
    """Answer the question a request was sent back with; approvals given so far hold.

    Raises:
        UnknownRequestError: No such request.
        VoteRefusedError: It is somebody else's, or no question is open.
    """
    said = _words(words, "an answer")
    with store.write() as unit:
        request = _own(unit, request_id, by, "answer for")
        moved = _done(
            happen(
                unit, request, RequestEvent.ANSWER, by=by, channel=channel, now=now,
                text=said,
            )
        )  # fmt: skip
        told = answered(moved, said, people=people_names(unit, [moved]))
        tell_in_thread(unit, moved, "answer", told, channel=channel, now=now)
        return moved


def edit(
    store: Store,
    request_id: str,
    change: Change,
    *,
    by: str,
    channel: str,
    now: datetime,
) -> ApprovalRequest:
    """Put a new version in the place of a request: votes and grant of the old are void.

    Raises:
        UnknownRequestError: No such request.
        VoteRefusedError: It is somebody else's, over, the same as before, or the same
            as another one.
    """
    with store.write() as unit:
        request = _own(unit, request_id, by, "edit")
        changed = _changed(request, change, now)
        what = difference(request.envelope, changed.envelope)
        if not what:
            raise VoteRefusedError("nothing of it would change")
        replace_card(unit, request, channel, now)
        try:
            won = unit.journal.edit(
                request, changed, idempotency_key=change.key, by=by, now=now, text=what
            )
        except ApprovalConflictError:
            message = "another open or approved request asks for exactly this already"
            raise VoteRefusedError(message) from None
        moved = _done(known(unit, request_id) if won else None)
        record(
            unit, moved, RequestEvent.EDIT, by=by, now=now, text=what,
            data={"was": request.state.value, "state": moved.state.value},
        )  # fmt: skip
        if moved.state is RequestState.PENDING:
            post_card(unit, moved, channel, now)
        return moved


def _changed(
    request: ApprovalRequest, change: Change, now: datetime
) -> ApprovalRequest:
    plan, found, rule = change.plan, change.estimate, change.rule
    if not (request.state.is_open or request.state is RequestState.APPROVED):
        raise VoteRefusedError(f"the request is {request.state.value} already")
    is_over = request.expires_at is not None and now >= request.expires_at
    if request.state.is_open and is_over:
        raise VoteRefusedError("this request has expired; ask again")
    return replace(
        request,
        version=request.version + 1,
        state=RequestState.APPROVED if rule is None else RequestState.PENDING,
        envelope=Envelope(
            job=plan.job,
            instance_type=plan.instance_type,
            count=plan.count,
            hours=plan.hours,
            purchase=plan.purchase,
            region=plan.region,
            cost_ceiling=found.high if found else None,
        ),
        reason=change.reason or request.reason,
        low=found.low if found else None,
        expected=found.expected if found else None,
        high=found.high if found else None,
        rule=rule,
        expires_at=now + timedelta(seconds=rule.expires_after_s) if rule else None,
        decided_at=now if rule is None else None,
        decided_by="",
        votes=(),
        basis=change.basis,
        alternatives=found.alternatives if found else (),
        pieces=change.pieces,
        context=change.context,
    )


def difference(old: Envelope, new: Envelope) -> str:
    """Say what of a run differs; "" when nothing does."""
    parts = [
        ("instance type", old.instance_type, new.instance_type),
        ("count", str(old.count), str(new.count)),
        ("hours", f"{float(old.hours):g}", f"{float(new.hours):g}"),
        ("purchase", old.purchase.value, new.purchase.value),
        ("region", old.region, new.region),
    ]
    changed = [f"{what} {was} -> {now}" for what, was, now in parts if was != now]
    if not changed:
        return ""
    return ", ".join([*changed, f"high end {_high(old)} -> {_high(new)}"])


def _high(envelope: Envelope) -> str:
    return "unknown" if envelope.cost_ceiling is None else str(envelope.cost_ceiling)


def cancel(
    store: Store, request_id: str, *, by: str, channel: str, now: datetime
) -> ApprovalRequest:
    """Withdraw a request that is still open; only who asked or filed it may.

    Raises:
        UnknownRequestError: No such request.
        VoteRefusedError: It is decided, or somebody else's.
    """
    with store.write() as unit:
        request = _own(unit, request_id, by, "cancel")
        if not request.state.is_open:
            raise VoteRefusedError(f"the request is {request.state.value} already")
        return _done(
            happen(unit, request, RequestEvent.CANCEL, by=by, channel=channel, now=now)
        )


def supersede(
    store: Store,
    request_id: str,
    *,
    by: str,
    successor: str,
    channel: str,
    now: datetime,
) -> ApprovalRequest:
    """End a request, and its grant, because another one took its place.

    Raises:
        UnknownRequestError: No such request.
        VoteRefusedError: It is over, somebody else's, or the same one.
    """
    if request_id == successor:
        raise VoteRefusedError("a request cannot take its own place")
    with store.write() as unit:
        known(unit, successor)
        request = _own(unit, request_id, by, "replace")
        return _done(
            happen(
                unit, request, RequestEvent.SUPERSEDE, by=by, channel=channel, now=now,
                text=successor,
            )
        )  # fmt: skip


def reassign(
    store: Store,
    directory: Directory,
    request_id: str,
    people: Sequence[Person],
    *,
    by: Person,
    is_admin: bool,
    channel: str,
    now: datetime,
) -> ApprovalRequest:
    """Name who of the approvers should decide; who may decide stays the same.

    Raises:
        UnknownRequestError: No such request.
        VoteRefusedError: They may not, or those named may not decide it.
    """
    standing = standing_of(store, directory, by, now)
    with store.read() as unit:
        seen = known(unit, request_id)
    eligible, _ = directory.resolve(approvers_of(seen, now))
    with store.write() as unit:
        request = known(unit, request_id)
        standing = still_standing(unit, by, standing, now)
        seat = seat_of(request, by, eligible, standing, now)
        is_own = by.person_id in {request.requester, request.caller}
        if seat.refused and not (is_admin or is_own):
            raise VoteRefusedError(seat.refused)
        _all_may_decide(request, people, eligible)
        text = " ".join(sorted({one.person_id for one in people}))
        moved = _done(
            happen(
                unit, request, RequestEvent.REASSIGN, by=by.person_id, channel=channel,
                now=now, text=text,
            )
        )  # fmt: skip
        told = handed_on(moved, people=people_names(unit, [moved]))
        tell_in_thread(unit, moved, "reassign", told, channel=channel, now=now)
        return moved


def _all_may_decide(
    request: ApprovalRequest, people: Sequence[Person], eligible: frozenset[str]
) -> None:
    if not people:
        raise VoteRefusedError("expected somebody to hand it to")
    for one in people:
        is_fit = not (
            is_no_voter(one)
            or has_a_part_in(request, one)
            or is_not_among(one, eligible)
        )
        if not is_fit:
            who = one.email or one.slack_id or one.name
            raise VoteRefusedError(f"{who!r} may not decide this request")


def _own(unit: UnitOfWork, request_id: str, by: str, what: str) -> ApprovalRequest:
    request = known(unit, request_id)
    if by not in {request.requester, request.caller} - {""}:
        raise VoteRefusedError(f"only who asked for it may {what} a request")
    return request


def _words(text: str, what: str) -> str:
    said = text.strip()
    if not said:
        raise VoteRefusedError(f"expected {what}, got nothing")
    return said[:2000]


def _done(moved: ApprovalRequest | None) -> ApprovalRequest:
    if moved is None:
        raise VoteRefusedError(CHANGED)
    return moved
