"""The tables of the journal. Rows only: no rule lives here."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Text, UniqueConstraint, text
from sqlmodel import Field

from billing.ledger.columns import Row, instant, nanos, serial

_LIVE_KEY = "state IN ('pending', 'needs-info', 'approved') AND idempotency_key <> ''"


class FindingRow(Row, table=True):
    """One span in which one subject broke one policy."""

    __tablename__ = "finding"
    __table_args__ = (
        Index(
            "uq_finding_open",
            "fingerprint",
            unique=True,
            sqlite_where=text("resolved_at IS NULL"),
            postgresql_where=text("resolved_at IS NULL"),
        ),
        Index(None, "policy"),
    )

    finding_id: int | None = serial()
    fingerprint: str
    policy: str
    kind: str
    job: str
    severity: str
    data: str = Field(sa_type=Text)
    opened_at: datetime = instant()
    updated_at: datetime = instant()
    resolved_at: datetime | None = instant(default=None)
    updates: int = 0
    notified_at: datetime | None = instant(default=None)


class ApprovalRequestRow(Row, table=True):
    """One request; the columns that decide stand apart from the rest of it in `data`."""

    __tablename__ = "approval_request"
    __table_args__ = (
        Index(
            "uq_approval_request_live_key",
            "idempotency_key",
            unique=True,
            sqlite_where=text(_LIVE_KEY),
            postgresql_where=text(_LIVE_KEY),
        ),
        Index(None, "owner", "created_at"),
        Index(None, "state"),
    )

    number: int | None = serial()
    request_id: str = Field(unique=True)
    version: int
    state: str
    idempotency_key: str = ""
    job: str
    owner: str
    ceiling: int | None = nanos(default=None)
    currency: str = ""
    created_at: datetime = instant()
    decided_at: datetime | None = instant(default=None)
    decided_by: str = ""
    data: str = Field(sa_type=Text)


class ApprovalVoteRow(Row, table=True):
    """One person's word on one version of a request."""

    __tablename__ = "approval_vote"
    __table_args__ = (UniqueConstraint("request_id", "version", "person_id"),)

    vote_id: int | None = serial()
    request_id: str = Field(foreign_key="approval_request.request_id")
    version: int
    person_id: str
    verdict: str
    at: datetime = instant()
    reason: str = ""
    asserted: bool = False
    seat: str = Field(default="", sa_column_kwargs={"server_default": ""})


class LaunchRow(Row, table=True):
    """One launch under the grant of a request, from its start to its end.

    Attributes:
        last_at: When it was last known to run, by the clock of figures.
        lease_until: A launch not heard of until then is taken for dead (system clock).
        exit_code: Of its command; None while it runs, and when its launcher died.
    """

    __tablename__ = "launch"
    __table_args__ = (Index(None, "request_id"),)

    launch_id: int | None = serial()
    request_id: str = Field(foreign_key="approval_request.request_id")
    version: int
    count: int
    by: str
    started_at: datetime = instant()
    last_at: datetime = instant()
    lease_until: datetime = instant()
    ended_at: datetime | None = instant(default=None)
    exit_code: int | None = None
