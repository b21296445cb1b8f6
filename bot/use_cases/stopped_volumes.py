"""Which of a run's volumes hung on instances that were stopped.

What was before the inventory began is not known, and so it is no leak.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction

from billing.core.attribution import TagKeys, split_by_job
from billing.core.periods import Period
from billing.core.stopped import Attached, stopped_shares
from billing.core.usage import ResourceKind, TagSpan, UsageInterval
from billing.ports import BillLedger

#: Storage that running time counts and whose size says nothing of a volume's cost.
_OTHERS = frozenset({ResourceKind.FILE_SYSTEM, ResourceKind.SNAPSHOT})


def stopped_of(
    ledger: BillLedger,
    job: str,
    account: str,
    period: Period,
    *,
    keys: TagKeys,
    now: datetime,
) -> Mapping[tuple[str, date], Fraction]:
    """Return the share of a job's volumes that stopped instances had, by account and day."""
    known = [
        one for one in ledger.intervals(period, job=job) if account in {"", one.account}
    ]
    volumes = [one for one in known if one.kind is ResourceKind.VOLUME]
    if not volumes or any(one.kind in _OTHERS for one in known):
        return {}
    spans: dict[str, list[TagSpan]] = {}
    ids = {one.resource_id for one in volumes} | {one.parent_id for one in volumes}
    for span in ledger.tags(sorted(ids - {""}), keys=keys.job):
        spans.setdefault(span.resource_id, []).append(span)
    ran: dict[str, list[Period]] = {}
    for one in known:
        if one.kind is ResourceKind.INSTANCE:
            part = period.overlap(_time(one, now))
            ran.setdefault(one.resource_id, []).extend([part] if part else [])
    began = ledger.watched_since()
    watched = [
        (one, Period(max(period.start, began[one.account]), period.end))
        for one in volumes
        if one.account in began and began[one.account] < period.end
    ]
    return stopped_shares(_attached(watched, spans, ran, job, keys=keys, now=now))


def _attached(
    volumes: Iterable[tuple[UsageInterval, Period]],
    spans: Mapping[str, Sequence[TagSpan]],
    ran: Mapping[str, Sequence[Period]],
    job: str,
    *,
    keys: TagKeys,
    now: datetime,
) -> Iterable[Attached]:
    for one, within in volumes:
        time = within.overlap(_time(one, now))
        if time is None:
            continue
        parent = spans.get(one.parent_id, ())
        ours = [part for name, part in split_by_job(time, parent, keys) if name == job]
        own = spans.get(one.resource_id, ())
        for name, part in split_by_job(time, own, keys, parent=parent):
            if name == job:
                yield Attached(
                    account=one.account,
                    size_gib=one.size_gib,
                    period=part,
                    ours=ours,
                    ran=ran.get(one.parent_id, ()),
                )


def _time(one: UsageInterval, now: datetime) -> Period:
    end = now if one.ended_at is None else one.ended_at
    return Period(one.started_at, max(end, one.started_at))
