"""Attribute stored days anew: whatever came in late is worked off in small pieces.

Each piece is one account's days in one transaction, so that a kill leaves old or new.
Knows ports only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from billing.ports import LedgerStore

#: Days of one account in one transaction.
DAYS_AT_ONCE = 31
#: Days that one run works off; the next run goes on.
DAYS_MAX = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reattributed:
    """What one run did.

    Attributes:
        days: Days computed anew.
        transfers: How many transfers they have now.
        is_done: False when days were left for the next run.
    """

    days: int = 0
    transfers: int = 0
    is_done: bool = True


def reattribute_due(
    store: LedgerStore,
    now: datetime,
    *,
    limit: int = DAYS_MAX,
    progress: Callable[[str], None] = lambda _: None,
) -> Reattributed:
    """Compute the transfers of days that are due, an account's days at a time."""
    days = transfers = 0
    while days < limit:
        with store.read() as unit:
            due = unit.ledger.due_days(limit=DAYS_AT_ONCE)
        some = [one.day for one in due if one.account == due[0].account]
        if not some:
            return Reattributed(days=days, transfers=transfers)
        account = due[0].account
        progress(f"attributing {len(some)} days of {account}")
        with store.write() as unit:
            transfers += unit.ledger.reattribute(account, some, now)
        days += len(some)
    return Reattributed(days=days, transfers=transfers, is_done=False)
