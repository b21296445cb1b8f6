"""The tables of bot: effects to make, audit, people, schedule and switches. Rows only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Text, text
from sqlmodel import Field

from billing.ledger.columns import Row, instant, serial


class OutboxMessageRow(Row, table=True):
    """One Slack effect, stored before it is made.

    Attributes:
        claimed_by: Worker that is making it; "" when nobody is.
        user_id: Who sees an ephemeral message.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        Index(
            "ix_outbox_live",
            "channel",
            "row_id",
            sqlite_where=text("state IN ('pending', 'sending')"),
            postgresql_where=text("state IN ('pending', 'sending')"),
        ),
        Index(None, "ref"),
    )

    row_id: int | None = serial()
    key: str = Field(unique=True)
    kind: str
    channel: str
    payload: str = Field(sa_type=Text)
    ref: str = ""
    user_id: str = ""
    thread_of: str = ""
    state: str
    attempts: int = 0
    created_at: datetime = instant()
    next_attempt_at: datetime = instant()
    claimed_by: str = ""
    claimed_at: datetime | None = instant(default=None)
    finished_at: datetime | None = instant(default=None)
    slack_channel: str = ""
    slack_ts: str = ""
    error: str = ""


class OutboxChannelRow(Row, table=True):
    """When a channel may get its next message; every replica keeps to it."""

    __tablename__ = "outbox_channel"

    channel: str = Field(primary_key=True)
    free_at: datetime = instant()


class AuditEventRow(Row, table=True):
    """One link of the audit chain; never changed, never deleted."""

    __tablename__ = "audit_event"

    seq: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    at: datetime = instant()
    event: str
    actor: str
    subject: str
    data: str = Field(sa_type=Text)
    previous: str
    hash: str


class PersonRow(Row, table=True):
    """Who a pseudonym is; the only place that holds names.

    Attributes:
        alias_of: The pseudonym that stands for this one since both proved to be one
            person; "" for a pseudonym that stands for itself.
    """

    __tablename__ = "person"
    __table_args__ = (
        Index(
            "uq_person_slack_id",
            "slack_id",
            unique=True,
            sqlite_where=text("slack_id <> ''"),
            postgresql_where=text("slack_id <> ''"),
        ),
        Index(
            "uq_person_email",
            "email",
            unique=True,
            sqlite_where=text("email <> ''"),
            postgresql_where=text("email <> ''"),
        ),
    )

    number: int | None = serial()
    person_id: str = Field(unique=True)
    slack_id: str = ""
    email: str = ""
    name: str = ""
    alias_of: str = ""


class ScheduleSlotRow(Row, table=True):
    """One slot of a schedule and who works on it."""

    __tablename__ = "schedule_slot"

    schedule: str = Field(primary_key=True)
    slot: datetime = Field(primary_key=True, sa_type=instant().sa_type)
    owner: str
    claims: int
    claimed_at: datetime = instant()
    lease_until: datetime = instant()
    finished_at: datetime | None = instant(default=None)
    error: str = ""


class ControlFlagRow(Row, table=True):
    """One durable switch that is on, who turned it and why."""

    __tablename__ = "control_flag"

    name: str = Field(primary_key=True)
    by: str
    since: datetime = instant()
    reason: str = ""


class DeliveryRow(Row, table=True):
    """One delivery that was handled, so that its repetition is not."""

    __tablename__ = "delivery"
    __table_args__ = (Index(None, "seen_at"),)

    kind: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    seen_at: datetime = instant()
