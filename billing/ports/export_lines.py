"""Every stored charge of some days, in pages, as protocol; the SQL adapter implements it.

Names roles only: no SQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Protocol

from billing.ports.charge_rows import ChargeCells


class ExportLines(Protocol):
    """The bill, every line of it."""

    def charge_pages(
        self, since: date, until: date, *, size: int
    ) -> Iterator[Sequence[ChargeCells]]:
        """Yield the charges of ``[since, until)`` by account and day, a page at a time."""
