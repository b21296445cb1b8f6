"""Prices in SQL, kept over time. Knows no publisher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, literal_column, or_, select, tuple_
from sqlmodel import Session

from billing.core.charges import Source
from billing.core.money import Rate
from billing.core.periods import Period
from billing.core.prices import Price, PriceKey, Purchase
from billing.ledger.columns import table_of
from billing.ledger.database import insert_or_nothing
from billing.ledger.freshness import note_freshness
from billing.ledger.hot import Hot, instants, read_ahead
from billing.ledger.tables import PriceRow

_PRICE = table_of(PriceRow)

_KEY = ("region", "product", "purchase", "platform", "tenancy", "zone")
#: Keys asked for at once; SQLite allows 32,766 variables in a statement.
_KEYS_MAX = 500
#: Up to so many keys are each one search in the index; an answer needs a few.
_KEYS_ONE_BY_ONE = 16


class SqlPrices:
    """Prices within one session."""

    _session: Session

    def latest_prices(self, keys: Iterable[PriceKey]) -> Mapping[PriceKey, Price]:
        """Return the last good price of each key; unknown keys are absent."""
        wanted = sorted(set(keys))
        latest: dict[PriceKey, Price] = {}
        if len(wanted) <= _KEYS_ONE_BY_ONE:
            return self._newest(wanted)
        for start in range(0, len(wanted), _KEYS_MAX):
            some = [_cells(key) for key in wanted[start : start + _KEYS_MAX]]
            columns = tuple_(*(_PRICE.c[name] for name in _KEY))
            rows = self._session.connection().execute(
                select(_PRICE)
                .where(columns.in_(some))
                .order_by(_PRICE.c.as_of, _PRICE.c.price_id)
            )
            for row in rows:  # In time order, so the last one stays.
                price = _price(row)
                latest[price.key] = price
        return latest

    def _newest(self, keys: Sequence[PriceKey]) -> Mapping[PriceKey, Price]:
        """Return the newest price of each of a few keys, without what was before."""
        instant = instants(self._session)
        latest: dict[PriceKey, Price] = {}
        wanted = [(key, dict(zip(_KEY, _cells(key), strict=True))) for key in keys]
        read_ahead(self._session, *((_NEWEST, cells) for _, cells in wanted))
        for key, cells in wanted:
            for nanos, currency, source, as_of, since in _NEWEST.rows(
                self._session, **cells
            ):
                latest[key] = Price(
                    key=key,
                    rate=Rate(int(nanos), currency),
                    source=source,
                    as_of=instant(as_of),
                    effective_from=None if since is None else instant(since),
                )
        return latest

    def price_history(self, key: PriceKey, period: Period) -> Sequence[Price]:
        """Return prices of a key effective in a period, in time order.

        The price that already held when the period began comes first; a price that
        names no start holds from when it was stated.
        """
        rows = self._session.connection().execute(
            select(_PRICE)
            .where(
                *(
                    _PRICE.c[name] == value
                    for name, value in zip(_KEY, _cells(key), strict=True)
                )
            )
            .where(
                or_(
                    _PRICE.c.effective_from < period.end,
                    _PRICE.c.effective_from.is_(None) & (_PRICE.c.as_of < period.end),
                )
            )
        )
        prices = sorted((_price(row) for row in rows), key=_starts_at)
        before = [price for price in prices if _starts_at(price) <= period.start]
        return before[-1:] + prices[len(before) :]

    def record_prices(self, prices: Sequence[Price], now: datetime) -> None:
        """Keep prices; the same (key, as_of, source) again changes nothing."""
        if not prices:
            return
        self._session.connection().execute(
            insert_or_nothing(self._session, PriceRow),
            [_values(price, now) for price in prices],
        )
        note_freshness(self._session, Source.PRICES, "", as_of=now)


def _starts_at(price: Price) -> datetime:
    return price.effective_from or price.as_of


def _cells(key: PriceKey) -> tuple[str, ...]:
    return (
        key.region, key.product, key.purchase.value, key.platform, key.tenancy, key.zone
    )  # fmt: skip


def _values(price: Price, now: datetime) -> dict[str, Any]:
    return dict(zip(_KEY, _cells(price.key), strict=True)) | {
        "source": price.source,
        "as_of": price.as_of,
        "effective_from": price.effective_from,
        "rate": price.rate.nanos,
        "currency": price.rate.currency,
        "recorded_at": now,
    }


def _price(row: Any) -> Price:  # noqa: ANN401 - a row of the table
    return Price(
        key=PriceKey(
            region=row.region,
            product=row.product,
            purchase=Purchase(row.purchase),
            platform=row.platform,
            tenancy=row.tenancy,
            zone=row.zone,
        ),
        rate=Rate(row.rate, row.currency),
        source=row.source,
        as_of=row.as_of,
        effective_from=row.effective_from,
    )


_NEWEST = Hot(
    lambda _: (
        select(
            _PRICE.c.rate,
            _PRICE.c.currency,
            _PRICE.c.source,
            _PRICE.c.as_of,
            _PRICE.c.effective_from,
        )
        .where(
            *(_PRICE.c[name] == bindparam(name, required=True) for name in _KEY),
        )
        .order_by(_PRICE.c.as_of.desc(), _PRICE.c.price_id.desc())
        .limit(literal_column("1"))
    ),
    is_kept=True,
)
