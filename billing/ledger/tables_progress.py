"""The tables of progress and use. Rows only: no rule and no arithmetic lives here."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger
from sqlmodel import Field

from billing.ledger.columns import Row, instant

#: Rows lie in the order of their key, also on SQLite: a job's reports are neighbours.
_CLUSTERED = {"sqlite_with_rowid": False}


class JobProgressRow(Row, table=True):
    """How far one counter of a job was at one instant.

    Attributes:
        attempt: None when the job does not number its starts.
        reported_by: Pseudonym of whose token it was.
    """

    __tablename__ = "job_progress"
    __table_args__ = (_CLUSTERED,)

    job: str = Field(primary_key=True)
    counter: str = Field(primary_key=True)
    at: datetime = Field(primary_key=True, sa_type=instant().sa_type)
    value: int = Field(sa_type=BigInteger)
    attempt: int | None = None
    reported_by: str = ""
    recorded_at: datetime = instant()


class UseHourRow(Row, table=True):
    """How busy the accelerators of one instance were within one hour."""

    __tablename__ = "use_hour"
    __table_args__ = (_CLUSTERED,)

    resource_id: str = Field(primary_key=True)
    hour: datetime = Field(primary_key=True, sa_type=instant().sa_type)
    gpu_pct: float
    covered_s: int
