"""What `gpucost export` wrote: as a document and for a terminal. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from billing.core.money import Money
from bot.views.documents import Document, money
from bot.views.words import amount, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written.

    Attributes:
        billed / effective: Sums of all lines, credits and refunds included.
    """

    since: date
    until: date
    currency: str
    charges: int
    transfers: int
    billed: Money
    effective: Money


def export_document(done: Exported, path: str, kind: str) -> Document:
    """Return what was written as JSON."""
    return {
        "path": path,
        "format": kind,
        "since": done.since.isoformat(),
        "until": done.until.isoformat(),
        "currency": done.currency,
        "charges": done.charges,
        "transfers": done.transfers,
        "rows": done.charges + 2 * done.transfers,
        "billed": money(done.billed),
        "effective": money(done.effective),
    }


def export_text(done: Exported, path: str) -> str:
    """Return what was written in words."""
    moved = plural(done.transfers, "transfer") if done.transfers else "no transfers"
    return (
        f"{path}: {plural(done.charges, 'charge')} and {moved},"
        f" {done.since} to {done.until}\n"
        f"  billed {amount(done.billed)}, effective {amount(done.effective)},"
        " credits and refunds included; equal to the ledger's totals"
    )
