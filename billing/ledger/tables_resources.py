"""Rows of events about the fleet and of reserved capacity. Rows only: no rule lives here."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import Index
from sqlmodel import Field

from billing.ledger.columns import Row, instant, nanos


class FleetEventRow(Row, table=True):
    """One thing that happened to one instance, by AWS's own time."""

    __tablename__ = "fleet_event"
    __table_args__ = (Index(None, "at"),)

    resource_id: str = Field(primary_key=True)
    at: datetime = instant(primary_key=True)
    state: str = Field(primary_key=True)
    account: str
    region: str


class ReservationRow(Row, table=True):
    """Reserved capacity as it was last seen.

    Attributes:
        fee: What was paid at purchase; None when nobody knows.
        fee_source: Who says so; "" when nobody.
    """

    __tablename__ = "reservation"

    reservation_id: str = Field(primary_key=True)
    kind: str
    account: str
    region: str
    zone: str
    instance_type: str
    instances: int
    available: int | None = None
    state: str
    starts_at: datetime = instant()
    ends_at: datetime | None = instant(default=None)
    bought_at: datetime | None = instant(default=None)
    fee: int | None = nanos(default=None)
    extension_fee: int | None = nanos(default=None)
    instance_s: int | None = None
    currency: str
    fee_source: str
    block_id: str
    platform: str
    tenancy: str
    first_seen_at: datetime = instant()
    seen_at: datetime = instant()


class PaidShareRow(Row, table=True):
    """What one account paid for a family in its last complete days."""

    __tablename__ = "paid_share"

    account: str = Field(primary_key=True)
    family: str = Field(primary_key=True)
    effective: int = nanos()
    list_cost: int = nanos()
    currency: str
    since: date
    until: date
