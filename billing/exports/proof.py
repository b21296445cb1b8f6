"""Proof that a delivery may be believed: whole, of one currency, summing to its files.

The sums over cells are held to sums over the rows themselves, of another query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from billing.exports.engine import Check, Reader
from billing.exports.errors import (
    EmptyExportError,
    ExportCurrencyError,
    ImbalancedExportError,
    IncompleteExportError,
    UnreadableExportError,
)

#: More lines than this in one delivery are no bill by account, day and job.
CELLS_MAX = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known of a delivery once its cells sum to its rows.

    Attributes:
        ends: Billing period -> end of the last usage in it; None without usage.
        notes: Rows that are left out, and why.
    """

    currency: str
    ends: Mapping[date, datetime | None]
    notes: tuple[str, ...]


def prove(reader: Reader, *, period: date | None, currency: str | None) -> Proof:
    """Check the rows, roll them up, and hold the sums together.

    Raises:
        EmptyExportError: There is nothing to prove.
        ExportCurrencyError: Rows are in more than one currency, or not the ledger's.
        IncompleteExportError: Rows lack an amount, or are of another month.
        ImbalancedExportError: The cells do not sum to the rows.
    """
    checks = reader.checks()
    kept = [one for one in checks if not one.skip]
    if not kept:
        raise EmptyExportError
    if any(one.unknown or one.period is None for one in kept):
        raise IncompleteExportError(reader.unknown_sample())
    ends = {one.period: one.ends for one in kept if one.period is not None}
    other = sorted(ends.keys() - {period})
    if period is not None and other:
        raise IncompleteExportError(
            f"the manifest is of {period:%Y-%m}, rows are of {other[0]:%Y-%m}"
        )
    found = _currency(kept, currency)
    reader.roll_up()
    count = reader.cell_count()
    if count > CELLS_MAX:
        raise UnreadableExportError(
            f"it would become {count} lines of the ledger, at most {CELLS_MAX} are taken"
        )
    _check_sums(kept, reader.cell_sums())
    return Proof(currency=found, ends=ends, notes=_left_out(checks))


def _currency(kept: Sequence[Check], known: str | None) -> str:
    sums: dict[str, Decimal] = {}
    for one in kept:
        name = one.currency or "no currency"
        sums[name] = sums.get(name, Decimal(0)) + one.billed
    if len(sums) != 1 or (known and known not in sums) or "no currency" in sums:
        raise ExportCurrencyError(sums, known)
    return next(iter(sums))


def _check_sums(kept: Sequence[Check], cells: Sequence[tuple[Any, ...]]) -> None:
    rows = {one.period: (one.rows, one.billed, one.effective) for one in kept}
    rolled = {period: tuple(sums) for period, *sums in cells}
    for one in kept:
        if rows[one.period] != rolled.pop(one.period, None):
            raise ImbalancedExportError(f"{one.period}: rows are {rows[one.period]}")
    if rolled:
        raise ImbalancedExportError(f"cells of {sorted(rolled)} have no rows")


def _left_out(checks: Sequence[Check]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for one in checks:
        if one.skip:
            counts[one.skip] = counts.get(one.skip, 0) + one.rows
    return tuple(
        f"{count} rows left out: {why}" for why, count in sorted(counts.items())
    )
