"""The tables of attribution. Rows only: no rule and no arithmetic lives here."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field

from billing.ledger.columns import Row, instant, nanos, serial


class PlacementRow(Row, table=True):
    """One attempt of a job on one resource."""

    __tablename__ = "placement"
    __table_args__ = (
        UniqueConstraint("source", "external_id", "resource_id", "attempt"),
        Index(None, "job", "started_at"),
        Index(None, "resource_id", "started_at"),
    )

    placement_id: int | None = serial()
    source: str
    external_id: str
    resource_id: str
    attempt: int
    job: str
    started_at: datetime = instant()
    ended_at: datetime | None = instant(default=None)
    gpus: str | None = None
    recorded_at: datetime = instant()


class ResourceHostRow(Row, table=True):
    """A name that an instance is reached by; addresses are given to others later."""

    __tablename__ = "resource_host"
    __table_args__ = (Index(None, "name"),)

    resource_id: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    seen_at: datetime = instant()


class AssignmentRow(Row, table=True):
    """What a person confirmed; taken back, never deleted."""

    __tablename__ = "assignment"
    __table_args__ = (Index(None, "account"),)

    assignment_id: int | None = serial()
    account: str
    resource_id: str
    usage_type: str
    region: str
    job: str
    since: datetime = instant()
    until: datetime | None = instant(default=None)
    by: str
    at: datetime = instant()
    reason: str
    ended_by: str = ""
    ended_at: datetime | None = instant(default=None)


class TransferRow(Row, table=True):
    """Part of a key's cost on one account and day, moved to another key."""

    __tablename__ = "transfer"
    __table_args__ = (
        Index(None, "account", "day"),
        Index(None, "to_key", "day"),
        Index(None, "from_key", "day"),
    )

    transfer_id: int | None = serial()
    account: str
    day: date
    region: str
    service: str
    usage_type: str
    pricing: str
    cost_category: str
    resource_id: str
    from_key: str
    to_key: str
    billed: int = nanos()
    effective: int = nanos()
    list_cost: int | None = nanos(default=None)
    rule: str
    basis: str
    evidence: str


class AttributionDayRow(Row, table=True):
    """How far the transfers of a stored day are up to date.

    Attributes:
        rules: Mark of the configuration that they were computed under.
        due_since: Since when they are not; None while they are.
    """

    __tablename__ = "attribution_day"
    __table_args__ = (Index(None, "due_since"), Index(None, "rules"))

    account: str = Field(primary_key=True)
    day: date = Field(primary_key=True)
    rules: str
    attributed_at: datetime | None = instant(default=None)
    due_since: datetime | None = instant(default=None)
