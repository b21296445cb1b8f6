"""Proof that a delivery may be believed: whole, of one currency, summing to its files.

The sums over cells are held to sums over the rows themselves, of another query.
Whatever reads the rows, DuckDB here or Athena far away, is held to the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Protocol

from billing.exports.celltable import Check
from billing.exports.errors import (
    EmptyExportError,
    ExportCurrencyError,
    ImbalancedExportError,
    IncompleteExportError,
    UnreadableExportError,
)
from billing.exports.watch import Share

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


class Provable(Protocol):
    """Rows that can be rolled up to cells, and the cells."""

    def roll_up(self, held: Collection[str] = (), share: Share | None = None) -> None:
        """Sum rows into cells, telling how far that has come."""

    def control(self) -> tuple[int, Decimal, Decimal]:
        """Sum all rows at once, of a query of its own."""

    def totals(self) -> tuple[int, Decimal, Decimal]:
        """Sum all cells."""

    def checks(self) -> Sequence[Check]:
        """Sum the cells by what decides whether they may be believed."""

    def unknown_sample(self) -> str:
        """Return what rows lack, in words."""

    def cell_count(self) -> int:
        """Return how many lines of the ledger the cells are."""

    def bound_resources(self) -> int:
        """Return how many resources are not told apart, to keep the cells few."""


def prove(
    reader: Provable,
    *,
    period: date | None,
    currency: str | None,
    held: Collection[str] = (),
    share: Share | None = None,
) -> Proof:
    """Roll the rows up, check what they say, and hold the sums together.

    Raises:
        EmptyExportError: There is nothing to prove.
        ExportCurrencyError: Rows are in more than one currency, or not the ledger's.
        IncompleteExportError: Rows lack an amount, or are of another month.
        ImbalancedExportError: The cells do not sum to the rows.
    """
    reader.roll_up(held, share)
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
    if reader.totals() != (rows := reader.control()):
        raise ImbalancedExportError(f"rows are {rows}, cells {reader.totals()}")
    notes = _left_out(checks)
    if merged := reader.bound_resources():
        notes += (f"{merged} resources of little cost are not told apart",)
    count = reader.cell_count()
    if count > CELLS_MAX:
        raise UnreadableExportError(
            f"it would become {count} lines of the ledger, at most {CELLS_MAX} are taken"
        )
    return Proof(currency=found, ends=ends, notes=notes)


def _currency(kept: Sequence[Check], known: str | None) -> str:
    sums: dict[str, Decimal] = {}
    for one in kept:
        name = one.currency or "no currency"
        sums[name] = sums.get(name, Decimal(0)) + one.billed
    if len(sums) != 1 or (known and known not in sums) or "no currency" in sums:
        raise ExportCurrencyError(sums, known)
    return next(iter(sums))


def _left_out(checks: Sequence[Check]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for one in checks:
        if one.skip:
            counts[one.skip] = counts.get(one.skip, 0) + one.rows
    return tuple(
        f"{count} rows left out: {why}" for why, count in sorted(counts.items())
    )
