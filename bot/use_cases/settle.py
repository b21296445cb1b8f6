"""What readings of the fleet and the bill settle: fees, shares really paid, ends at hand.

A fee is what somebody configured, else what AWS names, else the one line of the bill it
can be; a fee nobody knows stays unknown. What ends soon is told once for each warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from billing.core.categories import is_usage_record, running_type_of
from billing.core.charges import PricingCategory
from billing.core.fees import fee_days, fee_lines, fee_of
from billing.core.money import Money
from billing.core.paid_shares import (
    LOOKBACK,
    BilledHours,
    PaidShare,
    paid_shares,
)
from billing.core.periods import day_of
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.resources import Reservation, ReservationKind
from billing.ports import BillLedger
from billing.ports.charge_lines import ChargeFilter, ChargeSum
from bot.ports import Store
from bot.use_cases.cards import post
from bot.use_cases.pricing import PriceBook, price_book
from bot.views.reservations import reservation_ends

#: Before the end of what was paid at purchase; instances of a Capacity Block are ended
#: by AWS half an hour before it.
WARNINGS = (timedelta(hours=24), timedelta(hours=4), timedelta(minutes=40))
CONFIGURED = "configuration"
BILLED = "bill"
_PURCHASES = {
    ReservationKind.CAPACITY_BLOCK: Purchase.CAPACITY_BLOCK,
    ReservationKind.TRAINING_PLAN: Purchase.TRAINING_PLAN,
}
_USED_UP = frozenset({"cancelled", "failed", "payment-failed", "expired"})


def settle_fees(
    store: Store, configured: Mapping[str, Money], *, now: datetime
) -> tuple[str, ...]:
    """Settle what was paid at purchase, and price its hours; return what is not known."""
    with store.read() as unit:
        held = [one for one in unit.ledger.reservations() if one.is_prepaid]
    if not held:
        return ()
    unknown = []
    with store.write() as unit:
        sources = unit.ledger.fee_sources()
        for one in held:
            fee, source = _fee(unit.ledger, one, held, configured=configured)
            if fee is None:
                unknown.append(f"fee not known: {one.reservation_id}")
                continue
            if (fee, source) != (one.fee, sources.get(one.reservation_id)):
                unit.ledger.set_fee(one.reservation_id, fee, source)
            _price(unit.ledger, replace(one, fee=fee), source, now)
    return tuple(unknown)


def _fee(
    ledger: BillLedger,
    held: Reservation,
    others: list[Reservation],
    *,
    configured: Mapping[str, Money],
) -> tuple[Money | None, str]:
    stated = configured.get(held.reservation_id)
    if stated is not None:
        return stated, CONFIGURED
    known = ledger.fee_sources().get(held.reservation_id, "")
    if known and known not in {CONFIGURED, BILLED}:
        return held.fee, known
    return fee_of(lines_of_fee(ledger, held, others)), BILLED


def lines_of_fee(
    ledger: BillLedger, held: Reservation, others: list[Reservation]
) -> list[ChargeSum]:
    """Return the lines of the stored bill that are a reservation's fee; often none."""
    days = fee_days(held)
    if days is None:
        return []
    lines = ledger.charge_sums(*days, ChargeFilter(account=held.account))
    return list(fee_lines(held, others, lines))


def _price(ledger: BillLedger, held: Reservation, source: str, now: datetime) -> None:
    """Keep the price of an hour of a reservation, when it is a new one."""
    rate = held.rate
    if rate is None:
        return
    key = PriceKey(
        region=held.region,
        product=held.instance_type,
        purchase=_PURCHASES[held.kind],
        zone=held.reservation_id,
    )
    before = ledger.latest_prices([key]).get(key)
    if before is None or before.rate != rate:
        stated = f"fee over its hours ({source})"
        ledger.record_prices([Price(key=key, rate=rate, source=stated, as_of=now)], now)


def measure_shares(store: Store) -> None:
    """Measure which share of public prices each account paid in its last complete days."""
    with store.read() as unit:
        prices = price_book(unit.ledger, ())
        measured = {
            account: _shares(unit.ledger, prices, account, through)
            for account, through in unit.ledger.billed_through().items()
        }
    with store.write() as unit:
        for account, shares in measured.items():
            unit.ledger.set_paid_shares(account, shares)


def _shares(
    ledger: BillLedger, prices: PriceBook, account: str, through: datetime
) -> list[PaidShare]:
    until = day_of(through)
    since = until - LOOKBACK
    sums = ledger.charge_sums(since, until, ChargeFilter(account=account))
    hours = [one for line in sums if (one := _hours(line)) is not None]

    def price_of(instance_type: str, region: str) -> int | None:
        found = prices.list_price(PriceKey(region=region, product=instance_type))
        return None if found is None else found.rate.nanos

    return paid_shares(hours, price_of, since, until)


def _hours(line: ChargeSum) -> BilledHours | None:
    """Return on-demand hours of a line of the bill; None when it holds none."""
    instance_type = running_type_of(line.usage_type)
    is_hourly = is_usage_record(line.record_type) and instance_type != ""
    if not is_hourly or line.pricing is PricingCategory.DYNAMIC or line.is_credit:
        return None
    if line.quantity is None:
        return None
    return BilledHours(
        account=line.account,
        instance_type=instance_type,
        region=line.region,
        hours=line.quantity,
        effective=line.effective,
        list_cost=line.list_cost,
    )


def tell_ending(store: Store, *, channel: str, now: datetime) -> None:
    """Queue a word about capacity that was paid for and ends soon: once a warning.

    After an outage only the last warning that is due is told.
    """
    if not channel:
        return
    with store.read() as unit:
        ending = [
            (one, warning)
            for one in unit.ledger.reservations()
            if (warning := due_warning(one, now)) is not None
        ]
    if not ending:
        return
    with store.write() as unit:
        for one, warning in ending:
            minutes = warning // timedelta(minutes=1)
            ends = "" if one.ends_at is None else f"{one.ends_at:%Y%m%dT%H%M}"
            key = f"reservation-ends:{one.reservation_id}:{ends}:{minutes}"
            unit.outbox.put(post(key, channel, reservation_ends(one, now)), now)


def due_warning(held: Reservation, now: datetime) -> timedelta | None:
    """Return the tightest warning that is due; None when none is."""
    if not held.is_prepaid or held.ends_at is None or held.state in _USED_UP:
        return None
    left = held.ends_at - now
    due = [one for one in WARNINGS if timedelta(0) < left <= one]
    return min(due, default=None)
