"""The tables of what happened to requests, and of delegations. Rows only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Text
from sqlmodel import Field

from billing.ledger.columns import Row, instant, serial


class ApprovalEventRow(Row, table=True):
    """One thing that happened to a request; never changed, never deleted."""

    __tablename__ = "approval_event"
    __table_args__ = (Index(None, "request_id"),)

    event_id: int | None = serial()
    request_id: str = Field(foreign_key="approval_request.request_id")
    version: int
    event: str
    state: str
    by: str
    at: datetime = instant()
    text: str = Field(default="", sa_type=Text)


class ApprovalDelegationRow(Row, table=True):
    """Somebody who speaks for an absent approver."""

    __tablename__ = "approval_delegation"
    __table_args__ = (Index(None, "from_id"), Index(None, "to_id"))

    delegation_number: int | None = serial()
    delegation_id: str = Field(unique=True)
    from_id: str
    to_id: str
    since: datetime = instant()
    until: datetime = instant()
    ended_at: datetime | None = instant(default=None)
