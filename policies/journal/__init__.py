"""The journal in SQL: findings, approval requests, votes, decisions, launches, actions."""

from __future__ import annotations

from sqlmodel import Session

from policies.journal.actions import SqlActions
from policies.journal.approvals import SqlApprovals
from policies.journal.delegations import SqlDelegations
from policies.journal.findings import SqlFindings
from policies.journal.launches import SqlLaunches
from policies.journal.waivers import SqlWaivers

__all__ = ["SqlJournal"]


class SqlJournal(
    SqlFindings, SqlApprovals, SqlDelegations, SqlLaunches, SqlActions, SqlWaivers
):
    """Findings, approvals, launches, actions and waivers within one session.

    Args:
        session: The unit's session.
        locks: True in a writing unit on PostgreSQL: a request that is read is held, so
            that two votes are counted one after the other.
    """

    def __init__(self, session: Session, *, locks: bool = False) -> None:
        self._session = session
        self._locks = locks
