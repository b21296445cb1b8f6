"""The tables of actions, waivers and of who confirmed a policy. Rows only: no rule lives here."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Text, UniqueConstraint
from sqlmodel import Field

from billing.ledger.columns import Row, instant, serial


class ActionRow(Row, table=True):
    """One action; the columns that decide stand apart from the rest of it in `data`.

    Attributes:
        lease_until: An action in state ``acting`` not settled until then was left by a
            process that died (system clock).
    """

    __tablename__ = "action"
    __table_args__ = (Index(None, "state"), Index(None, "fingerprint", "opened_at"))

    action_number: int | None = serial()
    action_id: str = Field(unique=True)
    policy: str
    fingerprint: str
    opened_at: datetime = instant()
    state: str
    planned_at: datetime = instant()
    acting_at: datetime | None = instant(default=None)
    ended_at: datetime | None = instant(default=None)
    lease_until: datetime | None = instant(default=None)
    reason: str = ""
    data: str = Field(sa_type=Text)


class PolicyConfirmationRow(Row, table=True):
    """One admin's word that a policy, exactly as it is written, may act."""

    __tablename__ = "policy_confirmation"
    __table_args__ = (UniqueConstraint("policy", "policy_hash", "person_id"),)

    confirmation_id: int | None = serial()
    policy: str
    policy_hash: str
    person_id: str
    at: datetime = instant()


class WaiverRow(Row, table=True):
    """One waiver; the columns that decide stand apart from the rest of it in `data`."""

    __tablename__ = "waiver"
    __table_args__ = (Index(None, "until"),)

    waiver_number: int | None = serial()
    waiver_id: str = Field(unique=True)
    state: str
    until: datetime = instant()
    decided_at: datetime | None = instant(default=None)
    decided_by: str = ""
    data: str = Field(sa_type=Text)
