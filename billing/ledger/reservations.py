"""Reserved capacity in SQL, as it was last seen. Knows no source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session

from billing.core.money import USD, Money
from billing.core.resources import Reservation, ReservationKind
from billing.ledger.columns import table_of
from billing.ledger.database import execute
from billing.ledger.existing import existing
from billing.ledger.hot import Hot, instants
from billing.ledger.tables_resources import ReservationRow

_RESERVATION = table_of(ReservationRow)
_NAMES = tuple(ReservationRow.model_fields)
#: Every answer asks: a table of a few rows, and mostly of none.
_ALL = Hot(
    lambda _: select(*(_RESERVATION.c[name] for name in _NAMES)).order_by(
        _RESERVATION.c.reservation_id
    )
)
#: What is kept once known: when it was first seen, and its fee.
_KEPT = ("fee", "bought_at")
#: A fee that AWS itself named with the reservation.
AWS = "AWS"


def store_reservations(
    session: Session, reservations: Iterable[Reservation], now: datetime
) -> None:
    """Keep how reservations stand; a fee once known stays known."""
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    for one in reservations:
        values = _values(one, now)
        statement = dialect.insert(_RESERVATION).values(**values)
        new = statement.excluded
        changed: dict[str, Any] = {
            name: new[name]
            for name in values
            if name not in {"reservation_id", "first_seen_at", "fee_source", "currency"}
        }
        for name in _KEPT:
            changed[name] = func.coalesce(new[name], _RESERVATION.c[name])
        if one.fee is not None:
            changed |= {"fee_source": new.fee_source, "currency": new.currency}
        execute(
            session,
            statement.on_conflict_do_update(
                index_elements=["reservation_id"], set_=changed
            ),
        )


class SqlReservations:
    """Reserved capacity within one session."""

    _session: Session

    def reservations(self) -> Sequence[Reservation]:
        """Return every reservation ever seen, by id."""
        if not existing(
            self._session
        ).reservations:  # Every answer asks, and most have none.
            return []
        instant = instants(self._session)
        rows = _ALL.rows(self._session)
        return [
            _reservation(dict(zip(_NAMES, row, strict=True)), instant) for row in rows
        ]

    def fee_sources(self) -> dict[str, str]:
        """Return who says what each reservation cost; unknown fees are absent."""
        rows = self._session.connection().execute(
            select(_RESERVATION.c.reservation_id, _RESERVATION.c.fee_source).where(
                _RESERVATION.c.fee.is_not(None)
            )
        )
        return {row.reservation_id: row.fee_source for row in rows}

    def set_fee(self, reservation_id: str, fee: Money, source: str) -> None:
        """Record what a reservation cost at purchase, and who says so."""
        execute(
            self._session,
            update(_RESERVATION)
            .where(_RESERVATION.c.reservation_id == reservation_id)
            .values(fee=fee.nanos, currency=fee.currency, fee_source=source),
        )


def _values(one: Reservation, now: datetime) -> dict[str, Any]:
    return {
        "reservation_id": one.reservation_id,
        "kind": one.kind.value,
        "account": one.account,
        "region": one.region,
        "zone": one.zone,
        "instance_type": one.instance_type,
        "instances": one.count,
        "available": one.available,
        "state": one.state,
        "starts_at": one.starts_at,
        "ends_at": one.ends_at,
        "bought_at": one.bought_at,
        "fee": None if one.fee is None else one.fee.nanos,
        "extension_fee": None if one.extension_fee is None else one.extension_fee.nanos,
        "instance_s": one.instance_s,
        "currency": USD if one.fee is None else one.fee.currency,
        "fee_source": "" if one.fee is None else AWS,
        "block_id": one.block_id,
        "platform": one.platform,
        "tenancy": one.tenancy,
        "first_seen_at": now,
        "seen_at": now,
    }


def _reservation(
    row: dict[str, Any], instant: Callable[[Any], datetime]
) -> Reservation:
    def maybe(name: str) -> datetime | None:
        return None if row[name] is None else instant(row[name])

    return Reservation(
        reservation_id=row["reservation_id"],
        kind=ReservationKind(row["kind"]),
        account=row["account"],
        region=row["region"],
        zone=row["zone"],
        instance_type=row["instance_type"],
        count=row["instances"],
        available=row["available"],
        state=row["state"],
        starts_at=instant(row["starts_at"]),
        ends_at=maybe("ends_at"),
        bought_at=maybe("bought_at"),
        fee=_money(row["fee"], row["currency"]),
        extension_fee=_money(row["extension_fee"], row["currency"]),
        instance_s=row["instance_s"],
        block_id=row["block_id"],
        platform=row["platform"],
        tenancy=row["tenancy"],
    )


def _money(amount: int | None, currency: str) -> Money | None:
    return None if amount is None else Money(amount, currency)
