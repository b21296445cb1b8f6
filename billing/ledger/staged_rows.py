"""Staging for those who bring charges as rows: the same checks, no object of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from sqlalchemy import update

from billing.ledger.bulk import CHARGE_COLUMNS, insert_rows
from billing.ledger.columns import table_of
from billing.ledger.database import execute
from billing.ledger.imports import ForeignChargeError, SqlImports
from billing.ledger.tables import ImportRow
from billing.ports.charge_rows import (
    ACCOUNT,
    CHARGE_CELLS,
    DAY,
    ChargeCells,
    charge_of,
)

_IMPORT = table_of(ImportRow)
assert ("import_id", "source", *CHARGE_CELLS) == CHARGE_COLUMNS


class SqlStagedRows(SqlImports):
    """Imports that take rows too."""

    def stage_rows(
        self, import_id: int, rows: Sequence[ChargeCells], currency: str
    ) -> None:
        """Add one page of charges, as rows, to an import's staging area.

        Raises:
            ImportSupersededError: A newer import took this one's place.
            MixedCurrencyError: The charges are not in the ledger's one currency.
            ForeignChargeError: A charge is of another account or day than the import.
        """
        if not rows:
            return
        row = self._running(import_id)
        places = {(cells[ACCOUNT], cells[DAY]) for cells in rows}
        for account, day in sorted(places):
            if account != row.account or not row.since <= day < row.until:
                found = next(one for one in rows if one[:2] == (account, day))
                raise ForeignChargeError(charge_of(found, currency))
        known = self._check_currency({currency}, row.currency)
        execute(
            self._session,
            update(_IMPORT)
            .where(_IMPORT.c.import_id == import_id)
            .values(charges=_IMPORT.c.charges + len(rows), currency=known),
        )
        is_sqlite = self._session.get_bind().dialect.name == "sqlite"
        insert_rows(
            self._session,
            "charge_staging",
            CHARGE_COLUMNS,
            _rows(rows, import_id, row.source, is_sqlite=is_sqlite),
        )


def _rows(
    rows: Sequence[ChargeCells], import_id: int, source: str, *, is_sqlite: bool
) -> Iterator[tuple[Any, ...]]:
    texts: dict[date, Any] = {}
    for cells in rows:
        day = texts.get(cells[DAY])
        if day is None:
            day = cells[DAY].isoformat() if is_sqlite else cells[DAY]
            texts[cells[DAY]] = day
        yield (import_id, source, cells[ACCOUNT], day, *cells[DAY + 1 :])
