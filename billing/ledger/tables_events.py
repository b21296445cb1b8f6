"""Rows of events that were handled. Rows only: no rule lives here."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import Index
from sqlmodel import Field

from billing.ledger.columns import Row, instant


class HeardEventRow(Row, table=True):
    """One event that was handled, under AWS's own id of it.

    Attributes:
        heard_at: By the clock of rules.
    """

    __tablename__ = "heard_event"
    __table_args__ = (Index(None, "heard_at"), Index(None, "kind", "at"))

    event_id: str = Field(primary_key=True)
    kind: str
    account: str
    region: str
    resource_id: str
    state: str
    at: datetime = instant()
    heard_at: datetime = instant()


class EventCountRow(Row, table=True):
    """How many messages of one UTC day came to what end."""

    __tablename__ = "event_count"

    day: date = Field(primary_key=True)
    outcome: str = Field(primary_key=True)
    messages: int
