"""Answer where the money of a run went that it did not need to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from billing.core.attribution import TagKeys
from billing.core.categories import instance_type_of
from billing.core.charges import BUCKET_PREFIX, Bucket
from billing.core.fleet import Lifecycle
from billing.core.gpus import bare_type, gpu_count
from billing.core.leak_time import Time, UseOfTime, merged, pieces, spans_of
from billing.core.leaks import LeakFacts, LeakReport, leaks
from billing.core.money import Money, Rate
from billing.core.priced import price_keys
from billing.core.prices import PriceKey
from billing.core.progress import Counter, Progress
from billing.ports import BillLedger, Freshness
from bot.use_cases.cost import ask_cost
from bot.use_cases.groups import Part, grouped
from bot.use_cases.parts import CostQuestion, unpriced_keys
from bot.use_cases.pricing import PriceBook
from bot.use_cases.run_read import RunRead, cost_lines, read_run
from bot.views.leaks import LeakAnswer

#: Shares of an instance as whole numbers.
_SCALE = 1_000_000


def ask_leaks(
    ledger: BillLedger,
    question: CostQuestion,
    *,
    prices: PriceBook,
    keys: TagKeys,
    stale: Iterable[Freshness],
    now: datetime,
) -> LeakAnswer:
    """Answer where the money of a run went, out of one snapshot of the ledger.

    Raises:
        UnknownJobError: With the nearest names.
    """
    read = read_run(ledger, question, prices=prices, keys=keys, now=now)
    report = run_leaks(read)
    cost = ask_cost(
        ledger,
        replace(question, by="category"),
        prices=prices,
        keys=keys,
        stale=tuple(stale),
        now=now,
    )
    parts = [
        Part(
            key=one.key, account=one.line.account, day=one.line.day,
            nanos=one.amount.nanos, currency=read.currency, is_open=one.line.is_open,
        )
        for one in report.parts
    ]  # fmt: skip
    unpriced = unpriced_keys(read.gathered, "category")
    return LeakAnswer(
        cost=replace(cost, by="leak", groups=grouped(parts, unpriced=unpriced)),
        report=report,
        commitment_unused=_commitment_unused(ledger, read),
    )


def run_leaks(read: RunRead) -> LeakReport:
    """Divide the cost of a run into leaks and what is none."""
    return leaks(cost_lines(read), leak_facts(read), read.currency)


def leak_facts(read: RunRead) -> LeakFacts:
    """Put together what the leaks of a run depend on."""
    found = _counted(read.progress)
    began = min((one.period.start for one in read.held), default=None)
    lost, waiting = spans_of(found, began)
    return LeakFacts(
        times=[*_times(read)],
        use=UseOfTime(
            hours={
                (one.resource_id, one.hour): (one.gpu_pct, one.covered_s)
                for one in read.use
            },
            lost=lost,
            waiting=merged(waiting),
            restarts=found.restarts if found else (),
        ),
        watched_since=read.watched_since,
        rates=_managed_rates(read),
        counts_progress=found is not None,
        stopped=read.stopped,
        reclaimed=sum(one.interval.is_reclaimed is True for one in read.held),
    )


def _counted(progress: Mapping[Counter, Progress]) -> Progress | None:
    """Return the counter that restarts are seen by: the first that is reported."""
    return next((progress[one] for one in Counter if one in progress), None)


def _times(read: RunRead) -> Iterable[Time]:
    weights = _weights(read)
    for one in read.held:
        whole = weights[one.interval.shape, one.interval.lifecycle]
        for piece in pieces(one.period):
            yield Time(
                account=one.interval.account,
                resource_id=one.interval.resource_id,
                period=piece,
                weight=round(whole * _SCALE * one.share),
            )


def _weights(read: RunRead) -> Mapping[tuple[str, Lifecycle], int]:
    """Return what an hour of each kind of instance costs, relative to the others.

    By list price; where a kind has none, every kind counts by its accelerators.
    """
    kinds = {
        (one.interval.shape, one.interval.lifecycle): one.interval for one in read.held
    }
    keys = {kind: price_keys(one)[0] for kind, one in kinds.items()}
    found = read.gathered.prices.list_prices(keys.values())
    if all(key in found for key in keys.values()):
        return {kind: found[key].rate.nanos for kind, key in keys.items()}
    return {kind: gpu_count(kind[0]) or 1 for kind in kinds}


def _managed_rates(read: RunRead) -> Mapping[tuple[str, str], Rate]:
    """Return EC2 prices of the managed instances that the bill names."""
    wanted = {
        (bare_type(kind), one.region)
        for one in read.sums
        if (kind := instance_type_of(one.usage_type)).startswith("ml.")
    }
    keys = {
        PriceKey(region=region, product=kind): (kind, region) for kind, region in wanted
    }
    book = read.gathered.prices
    found = book.list_prices(sorted(keys))
    return {keys[key]: book.yours(price) for key, price in found.items()}


def _commitment_unused(ledger: BillLedger, read: RunRead) -> Money:
    key = f"{BUCKET_PREFIX}{Bucket.COMMITMENT_UNUSED}"
    cells = ledger.cells("job", *read.gathered.days)
    return Money(
        sum(
            one.effective.nanos for one in cells if one.key == key and not one.is_credit
        ),
        read.currency,
    )
