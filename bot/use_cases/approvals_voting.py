"""Count one person's word on a request, and decide when it decides.

Who may is looked up when somebody speaks; the decision is a compare-and-set, and its
audit event and the rewritten card commit with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.ports import Directory, Store, UnitOfWork
from bot.use_cases.approvals_delegating import standing_of, still_standing
from bot.use_cases.approvals_moving import happen, known, record
from bot.use_cases.cards import card_key, people_names, post, rewrite_card
from bot.views.approval_events import glass_broken
from policies.core.approvals import (
    ApprovalRequest,
    Person,
    RequestEvent,
    Verdict,
    Vote,
    approvers_of,
    break_glass_refusal,
    unfit,
)
from policies.core.delegations import Seat, Standing, seat_of
from policies.core.voting import approvals_missing, outcome

_EVENTS = {
    Verdict.APPROVE: RequestEvent.APPROVE,
    Verdict.DENY: RequestEvent.DENY,
    Verdict.BREAK_GLASS: RequestEvent.BREAK_GLASS,
}


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


def vote(
    store: Store, directory: Directory, ballot: Ballot, *, channel: str, now: datetime
) -> VoteOutcome:
    """Count one person's word, decide when it decides, and rewrite the card.

    Raises:
        UnknownRequestError: No such request.
    """
    with store.read() as unit:
        seen = known(unit, ballot.request_id)
    # Asked of Slack at the moment of the click, and before the transaction opens.
    eligible, _ = directory.resolve(_named(seen, ballot.verdict, now))
    standing = standing_of(store, directory, ballot.voter, now)
    with store.write() as unit:
        request = known(unit, ballot.request_id)
        standing = still_standing(unit, ballot.voter, standing, now)
        seat = _seat(request, ballot, eligible, standing, now)
        if request.version != (ballot.version or seen.version):
            seat = Seat(refused=CHANGED)
        if seat.refused:
            _audit_refusal(unit, request, ballot, seat.refused, now)
            return VoteOutcome(request=request, refused=seat.refused)
        word = Vote(
            person_id=ballot.voter.person_id,
            verdict=ballot.verdict,
            at=now,
            reason=ballot.reason.strip(),
            asserted=ballot.asserted,
            seat=seat.of,
        )
        if not unit.journal.add_vote(request, word):
            why = "you already spoke on this request"
            return VoteOutcome(request=request, refused=why)
        return _after_vote(unit, request, word, channel, now)


CHANGED = "the request changed since this card was posted; decide on its new card"


def _named(
    request: ApprovalRequest, verdict: Verdict, now: datetime
) -> tuple[str, ...]:
    """Return who may speak so, as the policy names them."""
    if verdict is Verdict.BREAK_GLASS:
        return request.rule.break_glass if request.rule else ()
    return approvers_of(request, now)


def _seat(
    request: ApprovalRequest,
    ballot: Ballot,
    eligible: frozenset[str],
    standing: Standing,
    now: datetime,
) -> Seat:
    voter = ballot.voter
    if ballot.verdict is Verdict.BREAK_GLASS:
        why = break_glass_refusal(request, voter, eligible, now)
        seat = Seat(refused=why or "")
    else:
        seat = seat_of(request, voter, eligible, standing, now)
    why = seat.refused or unfit(request, ballot.verdict, ballot.reason)
    return Seat(refused=why) if why else seat


def _after_vote(
    unit: UnitOfWork, request: ApprovalRequest, word: Vote, channel: str, now: datetime
) -> VoteOutcome:
    votes = (*request.votes, word)
    record(
        unit, request, RequestEvent.VOTE, by=word.person_id, now=now, text=word.reason,
        data={
            "verdict": word.verdict.value, "asserted": word.asserted,
            **({"seat": word.seat} if word.seat else {}),
        },
    )  # fmt: skip
    if outcome(replace(request, votes=votes), votes, now) is request.state:
        voted = known(unit, request.request_id)
        rewrite_card(unit, voted, channel, now)
        return VoteOutcome(request=voted, left=approvals_missing(request, votes))
    decided = happen(
        unit, request, _EVENTS[word.verdict], by=word.person_id, channel=channel,
        now=now, text=word.reason,
    )  # fmt: skip
    if decided is None:
        again = known(unit, request.request_id)
        return VoteOutcome(request=again, refused="it was decided meanwhile")
    if word.verdict is Verdict.BREAK_GLASS and channel:
        told = glass_broken(decided, people=people_names(unit, [decided]))
        key = card_key(decided).removesuffix("card") + "glass"
        unit.outbox.put(post(key, channel, told), now)
    return VoteOutcome(request=decided)


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
