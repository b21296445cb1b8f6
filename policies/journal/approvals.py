"""Approval requests and votes in SQL.

A decision is one compare-and-set, so two of them never both happen. Knows no rule:
who may vote and what votes mean is `policies.core.approvals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, select, update
from sqlmodel import Session

from billing.core.money import USD, Money, total
from billing.ledger.codec import decode, encode
from billing.ledger.columns import table_of
from billing.ledger.database import insert_or_nothing
from policies.core import approvals as rules
from policies.core.approvals import (
    ApprovalRequest,
    RequestState,
    Verdict,
    Vote,
)
from policies.journal.tables import ApprovalRequestRow, ApprovalVoteRow
from policies.ports import ApprovalConflictError

_REQUEST = table_of(ApprovalRequestRow)
_VOTE = table_of(ApprovalVoteRow)

#: States in which a request still stands for what was asked.
LIVE = (RequestState.PENDING.value, RequestState.APPROVED.value)


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
        votes: dict[tuple[str, int], list[Vote]] = {}
        found = self._session.execute(
            select(_VOTE)
            .where(_VOTE.c.request_id.in_([row.request_id for row in rows]))
            .order_by(_VOTE.c.vote_id)
        )
        for vote in found:
            votes.setdefault((vote.request_id, vote.version), []).append(
                Vote(
                    person_id=vote.person_id,
                    verdict=Verdict(vote.verdict),
                    at=vote.at,
                    reason=vote.reason,
                    asserted=vote.asserted,
                )
            )
        return [
            _request(row, votes.get((row.request_id, row.version), [])) for row in rows
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
        if current is None or tuple(current) != (
            request.version,
            RequestState.PENDING.value,
        ):
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
            )
            .returning(_VOTE.c.vote_id)
        ).scalar_one_or_none()
        return stored is not None

    def decide(
        self, request: ApprovalRequest, state: RequestState, *, by: str, now: datetime
    ) -> bool:
        """Move a pending request to a final state by compare-and-set; False when it lost."""
        assert state is not RequestState.PENDING
        result = cast(
            "CursorResult[Any]",
            self._session.execute(
                update(_REQUEST)
                .where(
                    _REQUEST.c.request_id == request.request_id,
                    _REQUEST.c.version == request.version,
                    _REQUEST.c.state == RequestState.PENDING.value,
                )
                .values(state=state.value, decided_by=by, decided_at=now)
            ),
        )
        return result.rowcount == 1

    def committed_cost(self, owner: str, job_family: str, since: datetime) -> Money:
        """Return ceilings of open and approved requests of an owner and job family since.

        Requests without a price have no ceiling to add; they always need a person.
        """
        rows = self._session.execute(
            select(
                _REQUEST.c.job,
                _REQUEST.c.ceiling,
                _REQUEST.c.currency,
            ).where(
                _REQUEST.c.owner == owner,
                _REQUEST.c.created_at >= since,
                _REQUEST.c.state.in_(LIVE),
                _REQUEST.c.ceiling.is_not(None),
            )
        )
        amounts = [
            Money(row.ceiling, row.currency)
            for row in rows
            if rules.job_family(row.job) == job_family
        ]
        return total(amounts, amounts[0].currency if amounts else USD)


def _request(row: ApprovalRequestRow, votes: Sequence[Vote]) -> ApprovalRequest:
    return replace(
        decode(ApprovalRequest, row.data),
        version=row.version,
        state=RequestState(row.state),
        decided_at=row.decided_at,
        decided_by=row.decided_by,
        votes=tuple(votes),
    )
