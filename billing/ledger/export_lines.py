"""Every stored charge of some days in pages: however many, few are held at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from sqlalchemy import select
from sqlmodel import Session

from billing.ledger.columns import table_of
from billing.ledger.tables import ChargeRow
from billing.ports.charge_rows import CHARGE_CELLS, ChargeCells

_CHARGE = table_of(ChargeRow)


class SqlExportLines:
    """The bill, every line of it, within one session."""

    _session: Session

    def charge_pages(
        self, since: date, until: date, *, size: int
    ) -> Iterator[Sequence[ChargeCells]]:
        """Yield the charges of ``[since, until)`` by account and day, a page at a time."""
        query = (
            select(*(_CHARGE.c[name] for name in CHARGE_CELLS))
            .where(_CHARGE.c.day >= since, _CHARGE.c.day < until)
            .order_by(_CHARGE.c.account, _CHARGE.c.day, _CHARGE.c.charge_id)
        )
        found = self._session.connection().execute(
            query.execution_options(stream_results=True, yield_per=size)
        )
        for page in found.partitions(size):
            yield [tuple(row) for row in page]
