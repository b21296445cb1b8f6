"""The attributed ledger written out: every charge and every transfer of some days.

What is written is held to the ledger's own totals within the same snapshot. Knows neither
files nor formats: they come as a sink.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Protocol

from billing.core.errors import GpucostError
from billing.core.money import USD, Money, total
from billing.core.periods import DAY, day_of, month_start
from billing.core.transfers import Transfer
from billing.ports import BillLedger
from billing.ports.charge_rows import CHARGE_CELLS, ChargeCells
from billing.ports.export_lines import ExportLines
from bot.views.export import Exported

PAGE_ROWS = 5_000
_BILLED, _EFFECTIVE = CHARGE_CELLS.index("billed"), CHARGE_CELLS.index("effective")


class ExportTotalsError(GpucostError):
    """What would be written is not what the ledger sums to; nothing is written."""

    code = "imbalance"
    hint = "`gpucost db check` names what is wrong with the stored data"

    def __init__(self, written: Money, stored: Money) -> None:
        super().__init__(
            f"lines sum to {written.text()}, the ledger to {stored.text()}"
        )


class NothingToExportError(GpucostError):
    """There is no charge in those days."""

    code = "nothing_stored"
    hint = "`gpucost ingest` reads the bill; name days with --since and --until"

    def __init__(self, since: date, until: date) -> None:
        super().__init__(f"no charge is stored from {since} to {until} (exclusive)")


class ExportSink(Protocol):
    """Takes what is written out."""

    def charges(self, page: Sequence[ChargeCells]) -> None:
        """Take a page of charges."""

    def transfers(self, page: Sequence[Transfer]) -> None:
        """Take transfers."""


class ExportingLedger(ExportLines, BillLedger, Protocol):
    """A ledger that gives out every line."""


def export_window(
    since: date | None, until: date | None, now: datetime
) -> tuple[date, date]:
    """Return the days meant: the current month up to now where nothing is named."""
    last = until or day_of(now) + DAY
    return since or month_start(last - DAY), last


def export_ledger(
    ledger: ExportingLedger, sink: ExportSink, since: date, until: date
) -> Exported:
    """Write charges and transfers of ``[since, until)`` to a sink.

    Raises:
        NothingToExportError: No charge lies in those days.
        ExportTotalsError: The lines do not sum to the ledger's totals.
    """
    currency = ledger.currency() or USD
    count = billed = effective = 0
    for page in ledger.charge_pages(since, until, size=PAGE_ROWS):
        sink.charges(page)
        count += len(page)
        billed += sum(cells[_BILLED] for cells in page)
        effective += sum(cells[_EFFECTIVE] for cells in page)
    if not count:
        raise NothingToExportError(since, until)
    _check(ledger, Money(billed, currency), Money(effective, currency), since, until)
    moved = 0
    for day in _days(since, until):
        transfers = ledger.transfers(day, day + DAY)
        sink.transfers(transfers)
        moved += len(transfers)
    return Exported(
        since=since, until=until, currency=currency, charges=count, transfers=moved,
        billed=Money(billed, currency), effective=Money(effective, currency),
    )  # fmt: skip


def _check(
    ledger: BillLedger, billed: Money, effective: Money, since: date, until: date
) -> None:
    cells = ledger.cells("", since, until)
    for ours, stored in (
        (billed, total((one.billed for one in cells), billed.currency)),
        (effective, total((one.effective for one in cells), billed.currency)),
    ):
        if ours != stored:
            raise ExportTotalsError(ours, stored)


def _days(since: date, until: date) -> Iterator[date]:
    day = since
    while day < until:
        yield day
        day += DAY
