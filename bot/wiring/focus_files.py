"""`gpucost export`: the attributed ledger into one FOCUS file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from billing.core.money import USD
from billing.core.transfers import Transfer
from billing.exports.focus_file import FocusFile, focus_file
from billing.exports.focus_rows import FocusMaker
from billing.ports.charge_rows import ChargeCells
from bot.clock import Now
from bot.unit_of_work import SqlStore
from bot.use_cases.export import export_ledger, export_window
from bot.views.export import Exported


def write_focus(
    store: SqlStore,
    path: Path,
    since: date | None,
    until: date | None,
    *,
    is_parquet: bool,
    now: Now,
) -> Exported:
    """Write charges and transfers of some days as one file; all of it or nothing."""
    first, last = export_window(since, until, now())
    with (
        store.read() as unit,
        focus_file(path, is_parquet=is_parquet) as file,
    ):
        maker = FocusMaker(unit.ledger.currency() or USD)
        return export_ledger(unit.ledger, _Sink(file, maker), first, last)


class _Sink:
    """The ``ExportSink`` port over a file."""

    def __init__(self, file: FocusFile, maker: FocusMaker) -> None:
        self._file = file
        self._maker = maker

    def charges(self, page: Sequence[ChargeCells]) -> None:
        """Take a page of charges."""
        self._file.write(self._maker.of_charge(cells) for cells in page)

    def transfers(self, page: Sequence[Transfer]) -> None:
        """Take transfers: two lines each, so that sums stay."""
        for one in page:
            self._file.write(self._maker.of_transfer(one))
