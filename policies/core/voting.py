"""What the votes on a request come to. Pure: the same values, the same decision."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from policies.core.approvals import ApprovalRequest, RequestState, Verdict, Vote


def outcome(
    request: ApprovalRequest, votes: Iterable[Vote], now: datetime
) -> RequestState:
    """Return where a request stands with these votes.

    A decided one never changes. Votes are counted in order of time: one denial
    decides, and so do enough distinct people; whichever comes first, a denial when
    both come at once. Votes after the expiry, and of those who have a part in the
    request, count for nothing. Nothing but an emergency approves a request that waits
    for an answer.
    """
    if not request.state.is_open:
        return request.state
    if request.rule is None:
        return RequestState.APPROVED
    decided = _by_votes(request, votes, now)
    if decided is not None:
        return decided
    if request.expires_at is not None and now >= request.expires_at:
        return RequestState.EXPIRED
    return request.state


def _by_votes(
    request: ApprovalRequest, votes: Iterable[Vote], now: datetime
) -> RequestState | None:
    assert request.rule is not None
    needed, count, used = max(1, request.rule.tier.required), 0, set[str]()
    for vote in sorted(votes, key=_in_time):
        if not _counts(request, vote, now):
            continue
        if vote.verdict is Verdict.DENY:
            return RequestState.DENIED
        if vote.verdict is Verdict.BREAK_GLASS:
            return RequestState.APPROVED
        count += _new_seat(vote, used)
        if count >= needed and request.state is RequestState.PENDING:
            return RequestState.APPROVED
    return None


def _new_seat(vote: Vote, used: set[str]) -> bool:
    """Take the seat of a vote; False when person or seat counted already."""
    names = {vote.person_id, vote.seat} - {""}
    if names & used:
        return False
    used |= names
    return True


def _in_time(vote: Vote) -> tuple[datetime, bool, str]:
    return (vote.at, vote.verdict is not Verdict.DENY, vote.person_id)


def _counts(request: ApprovalRequest, vote: Vote, now: datetime) -> bool:
    """Tell whether a vote is of somebody independent and came in time."""
    is_late = request.expires_at is not None and vote.at >= request.expires_at
    if is_late or vote.at > now or not vote.person_id:
        return False
    if vote.verdict is Verdict.BREAK_GLASS:
        return request.rule is not None and bool(request.rule.break_glass)
    parts = {request.requester, request.caller, request.owner} - {""}
    return not parts & {vote.person_id, vote.seat}


def approvals_missing(request: ApprovalRequest, votes: Iterable[Vote]) -> int:
    """Return how many more distinct people must approve."""
    if request.rule is None:
        return 0
    parts, used = {request.requester, request.caller, request.owner, ""}, set[str]()
    yes = [
        vote
        for vote in sorted(votes, key=_in_time)
        if vote.verdict is Verdict.APPROVE
        and vote.person_id not in parts
        and (not vote.seat or vote.seat not in parts)
    ]
    have = sum(_new_seat(vote, used) for vote in yes)
    return max(0, max(1, request.rule.tier.required) - have)
