"""Read the bill, the fleet and prices into the ledger, each on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial

from billing.core.charges import Source
from billing.core.fleet import FleetObservation, ScopeFailure
from billing.core.periods import DAY, Period, day_of, previous_month
from billing.core.plan_rates import has_plans
from billing.core.priced import is_instance, is_published, price_keys
from billing.core.prices import PriceKey, Purchase
from billing.core.resources import SERVICE_OF
from billing.core.usage import UsageInterval
from billing.ingest import import_costs, observe_fleet, refresh_prices
from billing.ports import (
    CostSource,
    FleetSource,
    Freshness,
    PriceSource,
    SourceUnavailableError,
)
from bot.ports import Store
from bot.use_cases.cards import post
from bot.views.answers import IngestOutcome
from bot.views.service import import_refused, source_stale

#: Prices of everything that ran this recently are refreshed.
PRICED_WITHIN = 35 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Which part of the bill to read.

    Attributes:
        since / until: UTC billing days; None: the open month and the one before it, up
            to and with today.
        is_full: Every day in detail, moved or not.
    """

    since: date | None = None
    until: date | None = None
    is_full: bool = False


def ingest_costs(
    source: CostSource, store: Store, reach: Reach, *, now: datetime
) -> IngestOutcome:
    """Read what moved in the bill; nothing that fails changes what is stored."""
    today = day_of(now)
    found = import_costs(
        source,
        store,
        since=reach.since or previous_month(today),
        until=min(reach.until or today + DAY, today + DAY),
        now=now,
        full=reach.is_full,
    )
    return IngestOutcome(
        imports=found.imports,
        errors=found.errors,
        tag_keys=found.tag_keys,
        notes=found.notes,
    )


def ingest_fleet(source: FleetSource, store: Store, *, now: datetime) -> IngestOutcome:
    """Poll every scope; what failed is named and keeps its last known state."""
    seen = observe_fleet(source, store, now)
    errors = (*seen.failures, *service_failures(seen))
    return IngestOutcome(errors=errors, notes=fleet_notes(seen))


def service_failures(seen: FleetObservation) -> tuple[ScopeFailure, ...]:
    """Return other services that could not be read, as the failures they are."""
    return tuple(
        ScopeFailure(
            source=Source.RESOURCES.value,
            account=one.account,
            region=one.region,
            code=one.code,
            message=f"{one.service.value}: {one.message}",
        )
        for one in (seen.others.failures if seen.others else ())
    )


def fleet_notes(seen: FleetObservation) -> tuple[str, ...]:
    """Return what a poll saw, for people."""
    scopes = len(seen.scanned)
    place = "1 account and region" if scopes == 1 else f"{scopes} accounts and regions"
    notes = [
        f"inventory: {len(seen.instances)} instances, {len(seen.volumes)} volumes in {place}"
    ]
    if seen.others is not None and seen.others.resources:
        kinds = Counter(
            SERVICE_OF[one.kind].value
            for one in seen.others.resources
            if one.is_running
        )
        listed = ", ".join(f"{name} {count}" for name, count in sorted(kinds.items()))
        notes.append(f"other services: {listed}")
    return tuple(notes)


def ingest_prices(source: PriceSource, store: Store, *, now: datetime) -> IngestOutcome:
    """Refresh the prices of whatever ran lately, and of other ways to buy it."""
    with store.read() as unit:
        recent = unit.ledger.intervals(Period(now - PRICED_WITHIN, now))
    needed = needed_keys(recent)
    found = _ingest_keys(source, store, needed, other_ways(needed), now=now)
    plans = plan_ways(needed)
    if not plans:
        return found
    read = partial(
        _ingest_keys, source, store, set(), plans, now=now, what="Savings Plans"
    )
    # A service of its own, which may be refused while list prices are read.
    return merged([found, attempt(Source.PRICES, read)])


def ingest_new_prices(
    source: PriceSource, store: Store, *, now: datetime
) -> IngestOutcome:
    """Price at once what runs and has no price yet; the next refresh may be a day away."""
    with store.read() as unit:
        needed = needed_keys(unit.ledger.open_intervals())
        needed -= unit.ledger.latest_prices(needed).keys()
    if not needed:
        return IngestOutcome()
    return _ingest_keys(source, store, needed, set(), now=now)


def _ingest_keys(
    source: PriceSource,
    store: Store,
    needed: set[PriceKey],
    others: set[PriceKey],
    *,
    now: datetime,
    what: str = "prices",
) -> IngestOutcome:
    """Read prices; implausible ones are refused, and only a needed one is missed."""
    found = refresh_prices(source, store, sorted(needed | others), now)
    notes = [f"{what}: {len(found.kept)} recorded"] if needed or found.kept else []
    notes += [
        f"price refused: {one.price.key.product} in {one.price.key.region} at "
        f"{one.price.rate}: {one.reason}"
        for one in found.refused
    ]
    notes += [
        f"no price: {key.product} {key.purchase.value} in {key.region}"
        for key in found.missing
        if key in needed
    ]
    return IngestOutcome(notes=tuple(notes))


def needed_keys(intervals: Iterable[UsageInterval]) -> set[PriceKey]:
    """Return the keys that intervals are priced by and that somebody publishes."""
    keys = {key for one in intervals for key in price_keys(one)}
    return {key for key in keys if is_published(key)}


def other_ways(needed: Iterable[PriceKey]) -> set[PriceKey]:
    """Return on demand beside spot, and spot of every zone, for estimates to compare."""
    return {
        replace(key, purchase=purchase, zone="")
        for key in needed
        if is_instance(key)
        for purchase in (Purchase.ON_DEMAND, Purchase.SPOT)
    }


def plan_ways(needed: Iterable[PriceKey]) -> set[PriceKey]:
    """Return the keys of every Savings Plan on offer for instances that ran."""
    return {
        replace(key, purchase=Purchase.SAVINGS_PLAN, zone="")
        for key in needed
        if has_plans(key)
    }


def attempt(source: Source, read: Callable[[], IngestOutcome]) -> IngestOutcome:
    """Read one source; its failure is a value, so that the others are still read."""
    try:
        return read()
    except SourceUnavailableError as error:
        failure = ScopeFailure(
            source=source.value, account=error.account, region=error.region,
            code=error.code, message=str(error),
        )  # fmt: skip
        return IngestOutcome(errors=(failure,))


def merged(outcomes: Iterable[IngestOutcome]) -> IngestOutcome:
    """Return several outcomes as one."""
    every = list(outcomes)
    return IngestOutcome(
        imports=tuple(one for part in every for one in part.imports),
        errors=tuple(one for part in every for one in part.errors),
        tag_keys=tuple(one for part in every for one in part.tag_keys),
        notes=tuple(one for part in every for one in part.notes),
    )


def tell_refused(
    store: Store, outcome: IngestOutcome, *, channel: str, now: datetime
) -> None:
    """Queue a word about bills that were not believed: once a day for each account."""
    day = day_of(now).isoformat()
    refused = [one for one in outcome.imports if one.state == "rejected"]
    if not channel or not refused:
        return
    with store.write() as unit:
        for one in refused:
            key = f"import-refused:{one.source.value}:{one.account}:{day}"
            unit.outbox.put(post(key, channel, import_refused(one)), now)


def tell_stale(
    store: Store, stale: Sequence[Freshness], *, channel: str, now: datetime
) -> None:
    """Queue a word about sources that are too old: once a day for each.

    A single failed read is no news; it shows in answers and in `gpucost doctor`.
    """
    day = day_of(now).isoformat()
    if not channel or not stale:
        return
    with store.write() as unit:
        for one in stale:
            key = f"stale:{one.source.value}:{one.account}:{day}"
            unit.outbox.put(post(key, channel, source_stale(one)), now)
