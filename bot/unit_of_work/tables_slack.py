"""The tables of alerts, feedback, subscriptions and wishes. Rows only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field

from billing.ledger.columns import Row, instant, serial


class AlertRow(Row, table=True):
    """One message about one finding."""

    __tablename__ = "alert"
    __table_args__ = (Index(None, "fingerprint"),)

    key: str = Field(primary_key=True)
    fingerprint: str
    opened_at: datetime = instant()
    channel: str
    group_key: str
    face: str
    changed_at: datetime = instant()
    resolved_at: datetime | None = instant(default=None)
    snoozed_until: datetime | None = instant(default=None)


class FindingFeedbackRow(Row, table=True):
    """One person's word that one finding is none."""

    __tablename__ = "finding_feedback"
    __table_args__ = (
        UniqueConstraint(
            "fingerprint",
            "opened_at",
            "said_by",
            name="uq_finding_feedback_fingerprint",
        ),
    )

    feedback_id: int | None = serial()
    fingerprint: str
    opened_at: datetime = instant()
    policy: str
    job: str
    subject: str
    said_by: str
    said_at: datetime = instant()


class DigestSubscriptionRow(Row, table=True):
    """One digest that somebody asked for; ``ended_at`` while it is over."""

    __tablename__ = "digest_subscription"

    number: int | None = serial()
    channel: str
    every: str
    weekday: int
    at: str
    zone: str
    team: str
    asked_by: str
    created_at: datetime = instant()
    ended_at: datetime | None = instant(default=None)
    problem: str


class SlackWishRow(Row, table=True):
    """How one person wants to be told; times as HH:MM, "" for none."""

    __tablename__ = "slack_wish"

    person_id: str = Field(primary_key=True)
    mentions: bool
    quiet_from: str
    quiet_until: str
