"""Approval requests and votes in SQL.

Every change of a request is one compare-and-set with its event, so two of them never
both happen. Knows no rule: who may vote is `policies.core.approvals`, which state
follows on which is `policies.core.approval_states`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, insert, select, update
from sqlmodel import Session

from billing.core.money import USD, Money, total
from billing.ledger.codec import decode, encode
from billing.ledger.columns import table_of
from billing.ledger.database import insert_or_nothing
from policies.core import approvals as rules
from policies.core.approval_states import DECIDING
from policies.core.approvals import (
    ApprovalRequest,
    PastEvent,
    RequestEvent,
    RequestState,
    Verdict,
    Vote,
)
from policies.journal.tables import ApprovalRequestRow, ApprovalVoteRow
from policies.journal.tables_approvals import ApprovalEventRow
from policies.ports import ApprovalConflictError

_REQUEST = table_of(ApprovalRequestRow)
_VOTE = table_of(ApprovalVoteRow)

#: States in which a request still stands for what was asked.
LIVE = ("pending", "needs-info", "approved")
#: States of which the amount was asked for or granted.
COMMITTED = (*LIVE, "consumed", "lapsed")
_DECIDED = {*DECIDING.values(), RequestEvent.BREAK_GLASS}
_EVENT = table_of(ApprovalEventRow)


class SqlApprovals:
    """Approval requests within one session."""

    _session: Session
    _locks: bool

    def add_request(
        self, request: ApprovalRequest, idempotency_key: str
    ) -> ApprovalRequest:
        """Store a request, or return the live one already stored under the key.

        An empty key stands for none: such a request is always stored.
        """
        envelope = request.envelope
        ceiling = envelope.cost_ceiling
        stored = self._session.execute(
            insert_or_nothing(self._session, ApprovalRequestRow)
            .values(
                request_id=request.request_id,
                version=request.version,
                state=request.state.value,
                idempotency_key=idempotency_key,
                job=envelope.job,
                owner=request.owner,
                ceiling=None if ceiling is None else ceiling.nanos,
                currency="" if ceiling is None else ceiling.currency,
                created_at=request.created_at,
                decided_at=request.decided_at,
                decided_by=request.decided_by,
                data=encode(request),
            )
            .returning(_REQUEST.c.request_id)
        ).scalar_one_or_none()
        if stored is not None:
            at = request.created_at
            self._happened(
                request, RequestEvent.FILE, request.state, request.requester, at
            )
            return request
        return self._live(request.request_id, idempotency_key)

    def _live(self, request_id: str, idempotency_key: str) -> ApprovalRequest:
        found = self._session.execute(
            select(_REQUEST.c.request_id).where(
                _REQUEST.c.idempotency_key == idempotency_key,
                _REQUEST.c.idempotency_key != "",
                _REQUEST.c.state.in_(LIVE),
            )
        ).scalar_one_or_none()
        existing = self.request(found) if found else None
        if existing is None:  # The id itself is taken, or the live one just ended.
            raise ApprovalConflictError(request_id)
        return existing

    def request(self, request_id: str) -> ApprovalRequest | None:
        """Return a request with its votes of the current version."""
        query = select(ApprovalRequestRow).where(_REQUEST.c.request_id == request_id)
        if self._locks:
            query = query.with_for_update()
        row = self._session.execute(
            query.execution_options(populate_existing=True)
        ).scalar_one_or_none()
        return None if row is None else self._requests([row])[0]

    def requests(
        self, *, state: RequestState | None = None, limit: int = 200
    ) -> Sequence[ApprovalRequest]:
        """Return requests, newest first."""
        query = select(ApprovalRequestRow).order_by(_REQUEST.c.number.desc())
        if state is not None:
            query = query.where(_REQUEST.c.state == state.value)
        rows = self._session.execute(
            query.limit(limit).execution_options(populate_existing=True)
        ).scalars()
        return self._requests(list(rows))

    def _requests(self, rows: Sequence[ApprovalRequestRow]) -> list[ApprovalRequest]:
        ids = [row.request_id for row in rows]
        votes: dict[tuple[str, int], list[Vote]] = {}
        cast_ = select(_VOTE).where(_VOTE.c.request_id.in_(ids))
        for one in self._session.execute(cast_.order_by(_VOTE.c.vote_id)):
            votes.setdefault((one.request_id, one.version), []).append(_vote(one))
        past: dict[str, list[PastEvent]] = {}
        happened = select(_EVENT).where(_EVENT.c.request_id.in_(ids))
        for one in self._session.execute(happened.order_by(_EVENT.c.event_id)):
            past.setdefault(one.request_id, []).append(_past(one))
        return [
            _request(
                row,
                votes.get((row.request_id, row.version), []),
                past.get(row.request_id, []),
            )
            for row in rows
        ]

    def add_vote(self, request: ApprovalRequest, vote: Vote) -> bool:
        """Store a vote for this version; False when this person voted before.

        Raises:
            ApprovalConflictError: The request is decided or has another version by now.
        """
        query = select(_REQUEST.c.version, _REQUEST.c.state).where(
            _REQUEST.c.request_id == request.request_id
        )
        if self._locks:
            query = query.with_for_update()
        current = self._session.execute(query).one_or_none()
        if current is None or tuple(current) != (request.version, request.state.value):
            raise ApprovalConflictError(request.request_id)
        stored = self._session.execute(
            insert_or_nothing(self._session, ApprovalVoteRow)
            .values(
                request_id=request.request_id,
                version=request.version,
                person_id=vote.person_id,
                verdict=vote.verdict.value,
                at=vote.at,
                reason=vote.reason,
                asserted=vote.asserted,
                seat=vote.seat,
            )
            .returning(_VOTE.c.vote_id)
        ).scalar_one_or_none()
        if stored is None:
            return False
        event = RequestEvent.VOTE
        text = vote.verdict.value
        self._happened(
            request, event, request.state, vote.person_id, vote.at, text=text
        )
        return True

    def move(
        self,
        request: ApprovalRequest,
        event: RequestEvent,
        state: RequestState,
        *,
        by: str,
        now: datetime,
        text: str = "",
    ) -> bool:
        """Let something happen to a request as it was read; False when it lost."""
        decided = {"decided_by": by, "decided_at": now} if event in _DECIDED else {}
        if not self._set(request, {"state": state.value, **decided}):
            return False
        self._happened(request, event, state, by, now, text=text)
        return True

    def decide(
        self, request: ApprovalRequest, state: RequestState, *, by: str, now: datetime
    ) -> bool:
        """Move a request to the state of a decision; False when it lost."""
        return self.move(request, DECIDING[state], state, by=by, now=now)

    def edit(
        self,
        request: ApprovalRequest,
        changed: ApprovalRequest,
        *,
        idempotency_key: str,
        by: str,
        now: datetime,
        text: str,
    ) -> bool:
        """Put the next version in the place of a request; False when it lost.

        Raises:
            ApprovalConflictError: Another live request asks for exactly this.
        """
        ceiling = changed.envelope.cost_ceiling
        bare = replace(changed, votes=(), history=())
        taken = select(_REQUEST.c.request_id).where(
            _REQUEST.c.idempotency_key == idempotency_key,
            _REQUEST.c.request_id != request.request_id,
            _REQUEST.c.state.in_(LIVE),
        )
        if self._session.execute(taken).first() is not None:
            raise ApprovalConflictError(request.request_id)
        values = {
            "version": changed.version,
            "state": changed.state.value,
            "idempotency_key": idempotency_key,
            "job": changed.envelope.job,
            "ceiling": None if ceiling is None else ceiling.nanos,
            "currency": "" if ceiling is None else ceiling.currency,
            "decided_at": changed.decided_at,
            "decided_by": changed.decided_by,
            "data": encode(bare),
        }
        if not self._set(request, values):
            return False
        state = changed.state
        self._happened(changed, RequestEvent.EDIT, state, by, now, text=text)
        return True

    def _set(self, request: ApprovalRequest, values: dict[str, Any]) -> bool:
        """Write columns of a request unless it changed since it was read."""
        result = cast(
            "CursorResult[Any]",
            self._session.execute(
                update(_REQUEST)
                .where(
                    _REQUEST.c.request_id == request.request_id,
                    _REQUEST.c.version == request.version,
                    _REQUEST.c.state == request.state.value,
                )
                .values(**values)
            ),
        )
        return result.rowcount == 1

    def _happened(
        self,
        request: ApprovalRequest,
        event: RequestEvent,
        state: RequestState,
        by: str,
        at: datetime,
        *,
        text: str = "",
    ) -> None:
        self._session.execute(
            insert(_EVENT).values(
                request_id=request.request_id,
                version=request.version,
                event=event.value,
                state=state.value,
                by=by,
                at=at,
                text=text,
            )
        )

    def committed_cost(self, owner: str, job_family: str, since: datetime) -> Money:
        """Return ceilings of open and granted requests of an owner and job family since.

        Requests without a price have no ceiling to add; they always need a person.
        """
        pieces = self.pieces(owner, job_family, since)
        amounts = [amount for _, amount in pieces if amount is not None]
        return total(amounts, amounts[0].currency if amounts else USD)

    def pieces(
        self, owner: str, job_family: str, since: datetime
    ) -> Sequence[tuple[str, Money | None]]:
        """Return id and ceiling of those requests, oldest first."""
        rows = self._session.execute(
            select(
                _REQUEST.c.request_id,
                _REQUEST.c.job,
                _REQUEST.c.ceiling,
                _REQUEST.c.currency,
            )
            .where(
                _REQUEST.c.owner == owner,
                _REQUEST.c.created_at >= since,
                _REQUEST.c.state.in_(COMMITTED),
            )
            .order_by(_REQUEST.c.number)
        )
        return [
            (
                row.request_id,
                None if row.ceiling is None else Money(row.ceiling, row.currency),
            )
            for row in rows
            if rules.job_family(row.job) == job_family
        ]


def _vote(row: Any) -> Vote:  # noqa: ANN401 - a row of the table of votes
    return Vote(
        person_id=row.person_id,
        verdict=Verdict(row.verdict),
        at=row.at,
        reason=row.reason,
        asserted=row.asserted,
        seat=row.seat,
    )


def _past(row: Any) -> PastEvent:  # noqa: ANN401 - a row of the table of events
    return PastEvent(
        event=RequestEvent(row.event),
        version=row.version,
        state=RequestState(row.state),
        by=row.by,
        at=row.at,
        text=row.text,
    )


def _request(
    row: ApprovalRequestRow, votes: Sequence[Vote], past: Sequence[PastEvent]
) -> ApprovalRequest:
    return replace(
        decode(ApprovalRequest, row.data),
        version=row.version,
        state=RequestState(row.state),
        decided_at=row.decided_at,
        decided_by=row.decided_by,
        votes=tuple(votes),
        history=tuple(past),
    )
