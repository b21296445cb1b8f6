"""What a retention plan costs and saves, and the sentences people read of it; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.core.money import Money
from billing.core.storage_prices import GIB, early_fee, listing_price, monthly
from billing.ports import UnfinishedUpload
from policies.core.facts import CheckpointFacts
from policies.core.finding import Evidence
from policies.core.judging import number_text, plural
from policies.core.retention import Checkpoint, Plan

STEPS_SHOWN = 5
#: An upload younger than this may still be under way.
UPLOAD_MAY_LIVE = timedelta(days=7)
#: Beyond so many versions S3 Inventory is the better way to know them.
INVENTORY_FROM = 1_000_000
LISTING_TOLD_FROM = 100_000
WHAT_ENFORCE_DOES = (
    "In `enforce` it is tagged, nothing moves, and deleted after that; "
    "removing the tag stops it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a plan means in money.

    Attributes:
        before / after: A month; None where a price is unknown.
        fee: For deleting before the class's minimum time; None where unknown.
    """

    before: Money | None
    after: Money | None
    fee: Money | None

    @property
    def saved(self) -> Money | None:
        """Return what is saved a month; None when unknown."""
        known = self.before is not None and self.after is not None
        return self.before - self.after if known else None  # type: ignore[operator] # both are known


def cost_of(decided: Plan, prices: Mapping[str, Money], now: datetime) -> Cost:
    """Return what all costs now, what is left then, and what deleting costs."""
    kept = [one for one, _ in decided.keep]
    before = _monthly([*kept, *decided.drop], prices)
    fees = [
        early_fee(
            part.storage_class,
            prices[part.storage_class],
            part.size_bytes,
            written_at=part.modified_at,
            now=now,
        )
        for one in decided.drop
        for part in one.parts
        if part.storage_class in prices
    ]
    fee = sum(fees[1:], fees[0]) if fees and before is not None else None
    return Cost(before=before, after=_monthly(kept, prices), fee=fee)


def _monthly(some: Iterable[Checkpoint], prices: Mapping[str, Money]) -> Money | None:
    """Return what checkpoints cost a month; None when a class has no known price."""
    total: Money | None = None
    for one in some:
        for part in one.parts:
            price = prices.get(part.storage_class)
            if price is None:
                return None
            cost = monthly(price, part.size_bytes)
            total = cost if total is None else total + cost
    return total


def evidence_of(decided: Plan, cost: Cost) -> tuple[Evidence, ...]:
    """Return the values behind a plan."""
    dropped_old = sum(one.old_bytes for one in decided.drop)
    found = [
        Evidence(name="bytes before", value=str(decided.bytes_before), unit="B"),
        Evidence(name="bytes after", value=str(decided.bytes_after), unit="B"),
        _money("cost per month before", cost.before),
        _money("cost per month after", cost.after),
    ]
    if dropped_old:
        found.append(Evidence(name="old versions", value=str(dropped_old), unit="B"))
    if cost.fee is not None and cost.fee.nanos:
        found.append(_money("early deletion", cost.fee))
    return tuple(found)


def _money(name: str, amount: Money | None) -> Evidence:
    if amount is None:
        return Evidence(name=name, value=None)
    return Evidence(name=name, value=amount.text(), unit=amount.currency)


def sentences_of(decided: Plan, cost: Cost) -> tuple[str, ...]:
    """Return what a plan means for people."""
    kept = [one for one, _ in decided.keep]
    size = f"{_size(decided.bytes_before)} would become {_size(decided.bytes_after)}"
    price = (
        "the storage price is unknown"
        if cost.before is None
        else f"{cost.before} a month would become {cost.after}"
    )
    found = [
        f"{plural(len(decided.drop), 'checkpoint')} could go: {_steps(decided.drop)}.",
        f"{plural(len(kept), 'checkpoint')} would stay: {_steps(kept)}.",
        f"{size}; {price}.",
    ]
    if cost.fee is not None and cost.fee.nanos:
        found.append(
            f"Deleting now costs {cost.fee} once: part of it is in a storage class "
            "that is billed for a minimum time."
        )
    old = sum(one.old_bytes for one in (*kept, *decided.drop))
    if old:
        found.append(
            f"{_size(old)} of it are old versions: the bucket is versioned, and a "
            "plain delete frees nothing."
        )
    return tuple(found)


def leftovers(
    facts: CheckpointFacts, folder: str, deleted: int, now: datetime
) -> tuple[str, ...]:
    """Return sentences about what is billed there and belongs to no checkpoint."""
    found = []
    if deleted:
        found.append(
            f"{_size(deleted)} more are versions of deleted checkpoints, billed on."
        )
    uploads = [one for one in facts.uploads or () if one.key.startswith(folder)]
    if uploads:
        old = [one for one in uploads if now - one.started_at >= UPLOAD_MAY_LIVE]
        found.append(_unfinished(uploads, len(old)))
    return tuple(found)


def _unfinished(uploads: list[UnfinishedUpload], old: int) -> str:
    sizes = [one.size_bytes for one in uploads]
    size = (
        "of unknown size"
        if None in sizes
        else f"of {_size(sum(one or 0 for one in sizes))}"
    )
    return (
        f"{plural(len(uploads), 'unfinished upload')} {size} are billed and never "
        f"listed: {old} of them older than {UPLOAD_MAY_LIVE.days} days could be "
        "aborted, the others may be under way."
    )


def listing(facts: CheckpointFacts) -> tuple[str, ...]:
    """Return what listing costs, where there is so much that it matters."""
    count = len(facts.objects)
    if count < LISTING_TOLD_FROM:
        return ()
    price = listing_price(count).text()
    return (f"Listing its {count:,} versions costs {price} USD each time.",)


def unlisted(facts: CheckpointFacts | None, location: str) -> str:
    """Say what is missing where no complete listing is at hand."""
    if facts is None:
        return f"a listing of {location}"
    what = f"a complete listing of {location}"
    if len(facts.objects) > INVENTORY_FROM:
        return f"{what}: it has over {INVENTORY_FROM:,} versions, use S3 Inventory"
    return what


def _steps(checkpoints: Iterable[Checkpoint]) -> str:
    steps = [one.step for one in checkpoints]
    shown = ", ".join(str(step) for step in steps[:STEPS_SHOWN])
    left = len(steps) - STEPS_SHOWN
    return f"step {shown} and {left} more" if left > 0 else f"step {shown}"


def _size(size_bytes: int) -> str:
    return f"{number_text(size_bytes / GIB)} GiB"
