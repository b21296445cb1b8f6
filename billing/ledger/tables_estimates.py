"""The tables of estimates, of the runs that judge them, of AWS's findings. Rows only."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import Index
from sqlmodel import Field

from billing.ledger.columns import Row, instant, nanos, serial


class EstimateRow(Row, table=True):
    """One estimate as it was answered; never changed afterwards.

    Attributes:
        hours: Planned hours as an exact fraction, such as ``72`` or ``1/3``.
        base: Quote at the organisation's own price.
        request_id: Approval request it was made for; "" for none.
    """

    __tablename__ = "estimate"
    __table_args__ = (Index(None, "job"),)

    estimate_id: int | None = serial()
    made_at: datetime = instant()
    job: str = ""
    request_id: str = ""
    instance_type: str
    count: int
    hours: str
    purchase: str
    region: str
    currency: str
    base: int = nanos()
    low: int = nanos()
    expected: int = nanos()
    high: int = nanos()


class FinishedRunRow(Row, table=True):
    """A job that is over and billed to its end, and what it cost before credits.

    Attributes:
        hours: From its first start to its last end, as an exact fraction.
    """

    __tablename__ = "finished_run"
    __table_args__ = (Index(None, "finished_at"),)

    job: str = Field(primary_key=True)
    instance_type: str
    count: int
    hours: str
    currency: str
    cost: int = nanos()
    started_at: datetime = instant()
    finished_at: datetime = instant()
    read_at: datetime = instant()


class AwsAnomalyRow(Row, table=True):
    """One finding of AWS Cost Anomaly Detection as it was last read.

    Attributes:
        until: Last day (included); None while it goes on.
    """

    __tablename__ = "aws_anomaly"

    anomaly_id: str = Field(primary_key=True)
    since: date
    until: date | None = None
    service: str = ""
    region: str = ""
    account: str = ""
    usage_type: str = ""
    monitor: str = ""
    feedback: str = ""
    currency: str
    impact: int = nanos()
    expected: int | None = nanos(default=None)
    actual: int | None = nanos(default=None)
    read_at: datetime = instant()
