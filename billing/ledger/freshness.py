"""How old the facts of each source and account are. Knows no age limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session

from billing.core.charges import Source
from billing.ledger.columns import table_of
from billing.ledger.database import execute
from billing.ledger.hot import Hot, instants
from billing.ledger.tables import FreshnessRow
from billing.ports import Freshness

_FRESHNESS = table_of(FreshnessRow)


def note_freshness(
    session: Session,
    source: Source,
    account: str,
    *,
    as_of: datetime | None,
    reason: str = "",
) -> None:
    """Record a read: a good one with its instant, a failed one with its reason.

    A failure (`as_of` None) keeps the instant of the last good read.
    """
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    statement = dialect.insert(_FRESHNESS).values(
        source=source.value,
        account=account,
        first_as_of=as_of,
        as_of=as_of,
        last_error=reason,
    )
    new = statement.excluded
    execute(
        session,
        statement.on_conflict_do_update(
            index_elements=["source", "account"],
            set_={
                "first_as_of": func.coalesce(_FRESHNESS.c.first_as_of, new.first_as_of),
                "as_of": func.coalesce(new.as_of, _FRESHNESS.c.as_of),
                "last_error": new.last_error,
            },
        ),
    )


class SqlFreshness:
    """Ages within one session."""

    _session: Session

    def freshness(self) -> Sequence[Freshness]:
        """Return the last good read per source and account, with staleness reasons."""
        instant = instants(self._session)
        return [
            Freshness(
                source=Source(source),
                account=account,
                as_of=None if as_of is None else instant(as_of),
                reason=reason,
                first_as_of=None if first is None else instant(first),
            )
            for source, account, as_of, reason, first in FRESHNESS.rows(self._session)
        ]

    def watched_since(self) -> Mapping[str, datetime]:
        """Return, per account, when the inventory first read it completely."""
        instant = instants(self._session)
        return {
            account: instant(first) for account, first in _WATCHED.rows(self._session)
        }

    def note_freshness(
        self, source: Source, account: str, *, as_of: datetime | None, reason: str = ""
    ) -> None:
        """Record a read that stores nothing else, or one that failed."""
        note_freshness(self._session, source, account, as_of=as_of, reason=reason)


FRESHNESS = Hot(
    lambda _: select(
        _FRESHNESS.c.source,
        _FRESHNESS.c.account,
        _FRESHNESS.c.as_of,
        _FRESHNESS.c.last_error,
        _FRESHNESS.c.first_as_of,
    ).order_by(_FRESHNESS.c.source, _FRESHNESS.c.account),
    is_kept=True,
)
_WATCHED = Hot(
    lambda _: select(_FRESHNESS.c.account, _FRESHNESS.c.first_as_of).where(
        _FRESHNESS.c.source == Source.INVENTORY.value,
        _FRESHNESS.c.first_as_of.is_not(None),
    )
)
