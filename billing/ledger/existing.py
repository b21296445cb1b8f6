"""What a ledger holds at all, asked in one cheap statement.

Most ledgers have no placement, no assignment, no reservation and no known share, and
every answer must know. Knows nothing of what any of it means.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, Exists, Integer, literal_column, select
from sqlmodel import Session, SQLModel

from billing.ledger.columns import table_of
from billing.ledger.hot import Hot
from billing.ledger.tables import LedgerProperty
from billing.ledger.tables_attribution import AssignmentRow, PlacementRow
from billing.ledger.tables_resources import PaidShareRow, ReservationRow

_PROPERTY = table_of(LedgerProperty)
_ASSIGNMENT = table_of(AssignmentRow)
#: The name under which the ledger keeps its currency.
CURRENCY = "currency"


class Existing(NamedTuple):
    """Whether there is any of each, and the ledger's currency; None while it is empty.

    Attributes:
        assignments: Those that hold.
    """

    placements: bool
    assignments: bool
    paid_shares: bool
    reservations: bool
    currency: str | None


def existing(session: Session) -> Existing:
    """Return what there is; a unit that only reads asks once."""
    placements, assignments, shares, reservations, currency = EXISTING.rows(session)[0]
    return Existing(
        placements=bool(placements),
        assignments=bool(assignments),
        paid_shares=bool(shares),
        reservations=bool(reservations),
        currency=currency,
    )


def _some(row: type[SQLModel], *conditions: ColumnElement[bool]) -> Exists:
    one = select(literal_column("1", Integer)).select_from(table_of(row))
    return one.where(*conditions).exists()


EXISTING = Hot(
    lambda _: select(
        _some(PlacementRow),
        _some(AssignmentRow, _ASSIGNMENT.c.ended_at.is_(None)),
        _some(PaidShareRow),
        _some(ReservationRow),
        select(_PROPERTY.c.value)
        .where(_PROPERTY.c.name == literal_column(f"'{CURRENCY}'"))
        .scalar_subquery(),
    ),
    is_kept=True,
)
