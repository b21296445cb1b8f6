"""Delegations in SQL: who speaks for whom. Knows no rule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import insert, or_, select, update
from sqlmodel import Session

from billing.ledger.columns import table_of
from billing.ledger.database import execute
from policies.core.delegations import Delegation
from policies.journal.tables_approvals import ApprovalDelegationRow

_DELEGATION = table_of(ApprovalDelegationRow)


class SqlDelegations:
    """Delegations within one session."""

    _session: Session

    def add_delegation(self, delegation: Delegation) -> None:
        """Store a delegation."""
        values = {
            name: getattr(delegation, name)
            for name in (
                "delegation_id", "from_id", "to_id", "since", "until", "ended_at",
            )
        }  # fmt: skip
        execute(self._session, insert(_DELEGATION).values(**values))

    def delegations(self, now: datetime, person_id: str = "") -> Sequence[Delegation]:
        """Return those that hold at an instant or will, from or to somebody, by end."""
        query = (
            select(_DELEGATION)
            .where(_DELEGATION.c.until > now, _DELEGATION.c.ended_at.is_(None))
            .order_by(_DELEGATION.c.until, _DELEGATION.c.delegation_number)
        )
        if person_id:
            query = query.where(
                or_(
                    _DELEGATION.c.from_id == person_id,
                    _DELEGATION.c.to_id == person_id,
                )
            )
        return [
            Delegation(
                delegation_id=row.delegation_id,
                from_id=row.from_id,
                to_id=row.to_id,
                since=row.since,
                until=row.until,
                ended_at=row.ended_at,
            )
            for row in self._session.execute(query)
        ]

    def end_delegations(self, from_id: str, now: datetime) -> int:
        """End what somebody handed over; return how many ended."""
        ended = execute(
            self._session,
            update(_DELEGATION)
            .where(
                _DELEGATION.c.from_id == from_id,
                _DELEGATION.c.until > now,
                _DELEGATION.c.ended_at.is_(None),
            )
            .values(ended_at=now),
        )
        return ended.rowcount
