"""What accounts really pay for families, in SQL; replaced whole for each account."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlmodel import Session

from billing.core.money import Money
from billing.core.paid_shares import PaidShare
from billing.ledger.columns import table_of
from billing.ledger.database import execute
from billing.ledger.existing import existing
from billing.ledger.hot import Hot, days
from billing.ledger.tables_resources import PaidShareRow

_SHARE = table_of(PaidShareRow)
#: Every answer with running time asks: one row for each account and family.
_ALL = Hot(
    lambda _: select(*(_SHARE.c[name] for name in PaidShareRow.model_fields)).order_by(
        _SHARE.c.account, _SHARE.c.family
    )
)


class SqlPaidShares:
    """Shares within one session."""

    _session: Session

    def paid_shares(self) -> Sequence[PaidShare]:
        """Return every share, by account and family."""
        if not existing(
            self._session
        ).paid_shares:  # Every answer asks, and many have none.
            return []
        day = days(self._session)
        return [
            PaidShare(
                account=account,
                family=family,
                effective=Money(effective, currency),
                list_cost=Money(list_cost, currency),
                since=day(since),
                until=day(until),
            )
            for account, family, effective, list_cost, currency, since, until in (
                _ALL.rows(self._session)
            )
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
