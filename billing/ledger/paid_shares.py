"""What accounts really pay for families, in SQL; replaced whole for each account."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlmodel import Session

from billing.core.money import Money
from billing.core.paid_shares import PaidShare
from billing.ledger.columns import table_of
from billing.ledger.database import execute
from billing.ledger.tables_resources import PaidShareRow

_SHARE = table_of(PaidShareRow)


class SqlPaidShares:
    """Shares within one session."""

    _session: Session

    def paid_shares(self) -> Sequence[PaidShare]:
        """Return every share, by account and family."""
        rows = self._session.connection().execute(
            select(_SHARE).order_by(_SHARE.c.account, _SHARE.c.family)
        )
        return [
            PaidShare(
                account=row.account,
                family=row.family,
                effective=Money(row.effective, row.currency),
                list_cost=Money(row.list_cost, row.currency),
                since=row.since,
                until=row.until,
            )
            for row in rows
        ]

    def set_paid_shares(self, account: str, shares: Sequence[PaidShare]) -> None:
        """Replace what is known of an account."""
        execute(self._session, delete(_SHARE).where(_SHARE.c.account == account))
        if shares:
            self._session.connection().execute(
                _SHARE.insert(),
                [
                    {
                        "account": one.account,
                        "family": one.family,
                        "effective": one.effective.nanos,
                        "list_cost": one.list_cost.nanos,
                        "currency": one.effective.currency,
                        "since": one.since,
                        "until": one.until,
                    }
                    for one in shares
                ],
            )
