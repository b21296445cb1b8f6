"""The daily rollup by team, beside the one by job. Rows only."""

from __future__ import annotations

from datetime import date

from sqlmodel import Field

from billing.ledger.columns import Row, nanos


class TeamRollupRow(Row, table=True):
    """Daily rollups of one team's jobs summed; ``bucket:*`` stands beside teams.

    Attributes:
        team: "" for jobs whose team is not known.
        listed / unlisted: List cost as far as known, and the parts without one.
        estimated: How many parts may still be restated.
    """

    __tablename__ = "team_rollup"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - SQLAlchemy's own form

    day: date = Field(primary_key=True)
    account: str = Field(primary_key=True)
    team: str = Field(primary_key=True)
    # Before the category: a day's teams are then summed in the order they lie in.
    is_credit: bool = Field(primary_key=True)
    cost_category: str = Field(primary_key=True)
    billed: int = nanos()
    effective: int = nanos()
    listed: int = nanos()
    unlisted: int
    charges: int
    estimated: int
