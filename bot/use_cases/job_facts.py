"""Gather what policies know of jobs: what each holds, has cost, and was approved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from billing.core.attribution import TagKeys
from billing.core.charges import BUCKET_PREFIX
from billing.core.money import Money
from billing.core.periods import day_of
from billing.core.usage import UsageInterval
from bot.ports import UnitOfWork
from bot.use_cases.groups import grouped
from bot.use_cases.held_now import burn_of
from bot.use_cases.parts import CostQuestion, gather, parts_by
from bot.use_cases.pricing import PriceBook
from policies.core.approvals import RequestState
from policies.core.facts import InstanceFacts, JobFacts

#: How much longer a running job is taken to run: nobody knows when it ends.
RUNS_ON = timedelta(hours=24)


def job_facts(
    unit: UnitOfWork,
    running: Sequence[UsageInterval],
    instances: Sequence[InstanceFacts],
    *,
    keys: TagKeys,
    prices: PriceBook,
    now: datetime,
) -> tuple[JobFacts, ...]:
    """Return the jobs that hold instances now, with what each has cost since it began."""
    held: dict[str, list[InstanceFacts]] = {}
    for one in instances:
        if one.job:
            held.setdefault(one.job, []).append(one)
    if not held:
        return ()
    records = {one.job: one for one in unit.ledger.job_records() if one.job in held}
    first = min((one.first_seen_at for one in records.values()), default=now)
    question = CostQuestion(since=day_of(first), by="job")
    read = gather(unit.ledger, question, prices=prices, keys=keys, now=now)
    unknown = {one.job for one in read.accrued.unknown}
    spent = {
        group.key: group.total
        for group in grouped(parts_by(read, question, "job"))
        if not group.key.startswith(BUCKET_PREFIX)
    }
    approved = _approved(unit, held)
    intervals = {one.resource_id: one for one in running}
    nothing = Money.zero(prices.currency)
    return tuple(
        _predicted(
            replace(
                _job_facts(
                    job,
                    members,
                    [intervals[one.instance.resource_id] for one in members],
                    prices,
                ),
                spent=None if job in unknown else spent.get(job, nothing),
                since=records[job].first_seen_at if job in records else None,
                has_grant=job in approved,
                grant_ends_at=approved[job].ends_at if job in approved else None,
                approved_ceiling=approved[job].ceiling if job in approved else None,
            )
        )
        for job, members in sorted(held.items())
    )


def _predicted(job: JobFacts) -> JobFacts:
    """Return a job with what it will have cost, as far as that is known."""
    if job.spent is None or job.rate is None:
        return job
    return replace(job, predicted=job.spent + job.rate.cost_of(RUNS_ON))


def _job_facts(
    job: str,
    members: Sequence[InstanceFacts],
    running: Sequence[UsageInterval],
    prices: PriceBook,
) -> JobFacts:
    """Return what a job holds now."""
    gpus = [one.gpus for one in members]
    return JobFacts(
        job=job,
        team=members[0].team,
        owner=members[0].owner,
        environment=members[0].environment,
        spent=None,
        rate=burn_of(running, prices),
        predicted=None,
        instance_types=tuple(sorted({one.shape for one in running})),
        instances=len(members),
        gpus=None if None in gpus else sum(gpu or 0 for gpu in gpus),
        since=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Approved:
    """What was approved for one job, all its requests together.

    Attributes:
        ends_at: When the approved hours end.
        ceiling: None when any of the requests had no price.
    """

    ends_at: datetime
    ceiling: Money | None


def _approved(unit: UnitOfWork, jobs: Iterable[str]) -> Mapping[str, _Approved]:
    """Return what somebody approved, by job."""
    wanted = set(jobs)
    found: dict[str, _Approved] = {}
    for one in unit.journal.requests(state=RequestState.APPROVED, limit=1000):
        job, ceiling = one.envelope.job, one.envelope.cost_ceiling
        if job not in wanted or one.decided_at is None:
            continue
        ends = one.decided_at + timedelta(seconds=round(one.envelope.hours * 3600))
        before = found.get(job)
        if before is not None:
            ends = max(ends, before.ends_at)
            ceiling = _both(before.ceiling, ceiling)
        found[job] = _Approved(ends_at=ends, ceiling=ceiling)
    return found


def _both(left: Money | None, right: Money | None) -> Money | None:
    if left is None or right is None or left.currency != right.currency:
        return None
    return left + right
