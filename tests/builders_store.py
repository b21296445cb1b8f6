"""Stores, imports and effects for tests of what is stored."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from billing.core.charges import Charge, DayControl, Source
from billing.core.money import Money, total
from billing.core.periods import DAY
from bot import migrations
from bot.ports import OutboxMessage
from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders import ACCOUNT, NOW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date, datetime

    from billing.ports import ImportReport

AUDIT_KEY = b"a key that only tests know 01234"
CE = Source.COST_EXPLORER


@contextmanager
def opened_store(url: str, settings: StoreSettings | None = None) -> Iterator[SqlStore]:
    """Open a store on a database, bringing its schema up."""
    store = SqlStore.open(url, settings or StoreSettings(audit_key=AUDIT_KEY))
    try:
        migrations.upgrade(store.database.engine)
        yield store
    finally:
        store.close()


def controls_of(
    charges: Sequence[Charge],
    days: Sequence[date] = (),
    *,
    account: str = ACCOUNT,
    mark: str = "",
    read_at: datetime = NOW,
) -> list[DayControl]:
    """Make the controls that the charges sum to; `days` adds days without charges."""
    controls = []
    for on in sorted({charge.day for charge in charges} | set(days)):
        mine = [charge for charge in charges if charge.day == on]
        currency = mine[0].billed.currency if mine else "USD"
        billed = total((charge.billed for charge in mine), currency)
        effective = total((charge.effective for charge in mine), currency)
        controls.append(
            DayControl(
                account=account,
                day=on,
                billed=billed,
                effective=effective,
                fingerprint=f"{billed.text()}|{effective.text()}|{mark}",
                is_estimated=any(charge.is_estimated for charge in mine),
                read_at=read_at,
            )
        )
    return controls


def import_charges(
    store: SqlStore,
    charges: Sequence[Charge],
    *,
    days: Sequence[date] = (),
    controls: Sequence[DayControl] | None = None,
    account: str = ACCOUNT,
    source: Source = CE,
    now: datetime = NOW,
    mark: str = "",
) -> ImportReport:
    """Import charges as the import does: begin, stage in two pages, swap."""
    if controls is None:
        controls = controls_of(charges, days, account=account, mark=mark)
    import_id = begin(store, controls, account=account, source=source, now=now)
    middle = len(charges) // 2
    for page in (charges[:middle], charges[middle:]):
        with store.write() as unit:
            unit.ledger.stage(import_id, page)
    with store.write() as unit:
        return unit.ledger.swap(import_id, controls, now)


def begin(
    store: SqlStore,
    controls: Sequence[DayControl],
    *,
    account: str = ACCOUNT,
    source: Source = CE,
    now: datetime = NOW,
) -> int:
    days = [control.day for control in controls]
    with store.write() as unit:
        return unit.ledger.begin_import(
            source, account, min(days), max(days) + DAY, now
        )


def off_by(control: DayControl, nanos: int) -> DayControl:
    """Move a control away from what was staged."""
    return replace(control, billed=control.billed + Money(nanos))


def make_effect(
    key: str = "card-1",
    *,
    channel: str = "C1",
    kind: str = "post",
    text: str = "hello",
    ref: str = "",
    thread_of: str = "",
    user: str = "",
) -> OutboxMessage:
    return OutboxMessage(
        key=key,
        kind=kind,
        channel=channel,
        payload={"text": text},
        ref=ref,
        thread_of=thread_of,
        user=user,
    )


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)
