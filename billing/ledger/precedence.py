"""Which source holds a day when two of them know it.

An export says more of a day than Cost Explorer does, so a day that an export holds is
not given back to Cost Explorer, however late its import comes. Decided inside the
transaction that replaces days: no other check can be overtaken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import delete, select
from sqlmodel import Session

from billing.core.charges import DayControl, Source
from billing.ledger.columns import table_of
from billing.ledger.database import execute
from billing.ledger.tables import ChargeStagingRow, DayControlRow, ImportRow

_STAGING = table_of(ChargeStagingRow)
_CONTROL = table_of(DayControlRow)

#: Source -> sources whose days it leaves alone.
YIELDS_TO: Mapping[Source, tuple[Source, ...]] = {
    Source.COST_EXPLORER: (Source.EXPORTS,),
}


def without_held_days(
    session: Session, row: ImportRow, controls: Sequence[DayControl]
) -> Sequence[DayControl]:
    """Return the controls of days that an import may replace; forget what it staged else."""
    stronger = YIELDS_TO.get(Source(row.source), ())
    if not stronger or not controls:
        return controls
    days = [control.day for control in controls]
    held = set(
        session.execute(
            select(_CONTROL.c.day).where(
                _CONTROL.c.source.in_([source.value for source in stronger]),
                _CONTROL.c.account == row.account,
                _CONTROL.c.day >= min(days),
                _CONTROL.c.day <= max(days),
            )
        ).scalars()
    )
    if not held:
        return controls
    dropped = execute(
        session,
        delete(_STAGING).where(
            _STAGING.c.import_id == row.import_id, _STAGING.c.day.in_(sorted(held))
        ),
    )
    row.charges -= dropped.rowcount
    return [control for control in controls if control.day not in held]
