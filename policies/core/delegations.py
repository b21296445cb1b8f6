"""Delegation for absence: somebody else speaks for an approver, until an end. Pure.

A delegate takes the seat of one absent approver instead of adding to it: never with a
part in the request, never for somebody who has one, and never passed on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.core.approvals import (
    ApprovalRequest,
    Person,
    has_a_part_in,
    is_no_voter,
    is_not_among,
    stands_against,
)

#: An absence that lasts longer is a change of the policy.
LONGEST = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """Whose word counts instead of whose, and when; half-open.

    Attributes:
        ended_at: When it was ended early; None when it was not.
    """

    delegation_id: str
    from_id: str
    to_id: str
    since: datetime
    until: datetime
    ended_at: datetime | None = None

    def is_active(self, now: datetime) -> bool:
        """Tell whether it holds at an instant."""
        is_ended = self.ended_at is not None and now >= self.ended_at
        return self.since <= now < self.until and not is_ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What delegations make of somebody now.

    Attributes:
        away_until: Until when somebody else speaks for them; None when nobody does.
        stands_for: Those they speak for, as the directory knows them at this moment.
    """

    away_until: datetime | None = None
    stands_for: Sequence[Person] = ()


@dataclass(frozen=True, slots=True)
class Seat:
    """Whose seat somebody takes: "" for their own; or why they have none."""

    of: str = ""
    refused: str = ""


def seat_of(
    request: ApprovalRequest,
    person: Person,
    eligible: Collection[str],
    standing: Standing,
    now: datetime,
) -> Seat:
    """Return whose seat a vote of somebody takes, or why it would not count."""
    why = (
        stands_against(request, now)
        or is_no_voter(person)
        or has_a_part_in(request, person)
    )
    if why:
        return Seat(refused=why)
    if standing.away_until is not None:
        until = f"{standing.away_until:%Y-%m-%d %H:%M} UTC"
        return Seat(refused=f"somebody else speaks for you until {until}")
    why = is_not_among(person, eligible)
    if why is None:
        return _taken(request, person.person_id) or Seat()
    seats = [one for one in standing.stands_for if _is_free(request, one, eligible)]
    return Seat(of=seats[0].person_id) if seats else Seat(refused=why)


def _taken(request: ApprovalRequest, person_id: str) -> Seat | None:
    if any(vote.seat == person_id for vote in request.votes):
        return Seat(refused="somebody spoke for you on this request already")
    return None


def _is_free(
    request: ApprovalRequest, absent: Person, eligible: Collection[str]
) -> bool:
    """Tell whether an absent person could have voted, and nobody did for them."""
    spoken = {name for vote in request.votes for name in (vote.person_id, vote.seat)}
    return (
        is_no_voter(absent) is None
        and has_a_part_in(request, absent) is None
        and is_not_among(absent, eligible) is None
        and absent.person_id not in spoken
    )
