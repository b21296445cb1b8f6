"""Gather what policies look at, once for all of them; failures make facts unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from billing.core.attribution import TagKeys, belongings, choose
from billing.core.charges import Source
from billing.core.fleet import Instance, InstanceState, ScopeFailure
from billing.core.gpus import gpu_count
from billing.core.money import Money, Rate
from billing.core.periods import Period, day_of
from billing.core.usage import ResourceKind, TagSpan, UsageInterval
from billing.ports import (
    BillLedger,
    CommitmentPlans,
    CommitmentSource,
    MetricSeries,
    MetricSource,
    ObjectDetails,
    ObjectSource,
    SourceUnavailableError,
)
from bot.ports import Store, UnitOfWork
from bot.use_cases.checkpoint_facts import checkpoint_facts, failure_of
from bot.use_cases.commitment_facts import coverage, owned_plans, with_baseline
from bot.use_cases.held_now import burn_of
from bot.use_cases.history_facts import launches, unusual_days, with_progress
from bot.use_cases.job_facts import job_facts
from bot.use_cases.pricing import OwnPrice, PriceBook, price_book
from bot.use_cases.team_months import team_months
from bot.use_cases.work_facts import transfers_of, work_of
from policies.core.catalogue import Policy
from policies.core.evaluate import Needs, needs_of
from policies.core.facts import (
    Facts,
    InstanceFacts,
    JobFacts,
)

#: Facts of an account and region that no poll has read for longer are stale.
STALE_AFTER = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSources:
    """Sources that are asked at evaluation; None where there is none.

    Attributes:
        stale_after: Stored facts older than this judge nothing: a few polls' time.
        budgets: Monthly budget by team.
    """

    metrics: MetricSource | None
    commitments: CommitmentSource | None
    objects: ObjectSource | None
    details: ObjectDetails | None = None
    plans: CommitmentPlans | None = None
    stale_after: timedelta = STALE_AFTER
    budgets: Mapping[str, Money] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredFacts:
    """Facts, and what could not be read."""

    facts: Facts
    failures: tuple[ScopeFailure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """What the ledger knows, before signals are asked for."""

    instances: tuple[InstanceFacts, ...]
    jobs: tuple[JobFacts, ...]
    as_of: Mapping[str, datetime]
    currency: str


def gather_facts(
    store: Store,
    policies: Sequence[Policy],
    sources: FactSources,
    *,
    keys: TagKeys,
    own: Sequence[OwnPrice],
    now: datetime,
) -> GatheredFacts:
    """Gather the facts that the given policies need; nothing else is asked for."""
    needs = needs_of(policies)
    with store.read() as unit:
        prices = price_book(unit.ledger, own)
        stored = _stored(unit, keys=keys, prices=prices, now=now)
        stale = _stale_scopes(unit.ledger.open_intervals(), now - sources.stale_after)
        past = _past(unit.ledger, needs, stored, prices=prices, keys=keys, now=now)
        if needs.team_months:
            months = team_months(
                unit.ledger, sources.budgets, prices=prices, keys=keys, now=now
            )
            past = replace(past, team_months=months)
    failures: list[ScopeFailure] = []
    instances = stored.instances
    if needs.signals_lookback and sources.metrics is not None and instances:
        window = Period(now - needs.signals_lookback, now)
        instances, missed = _with_signals(instances, window, sources.metrics)
        failures += missed
    checkpoints, missed = checkpoint_facts(
        policies, sources.objects, sources.details, now=now
    )
    failures += missed
    commitments = coverage(needs, sources.commitments, now, failures)
    plans = owned_plans(needs, sources.plans, failures)
    if commitments:
        with store.read() as unit:
            prices = price_book(unit.ledger, own)
            commitments = with_baseline(unit.ledger, commitments, prices)
    facts = replace(
        past,
        instances=instances,
        checkpoints=checkpoints,
        commitments=commitments or (),
        commitments_known=commitments is not None,
        plans=plans,
        as_of=stored.as_of,
        stale_scopes=stale,
        today=day_of(now),
    )
    return GatheredFacts(facts=facts, failures=tuple(failures))


def _past(
    ledger: BillLedger,
    needs: Needs,
    stored: _Stored,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> Facts:
    """Return the facts that the ledger tells of what was before."""
    facts = Facts(currency=stored.currency, jobs=stored.jobs)
    if needs.progress:
        facts = replace(facts, jobs=with_progress(ledger, stored.jobs))
    if needs.launches_lookback is not None:
        since, rate = now - needs.launches_lookback, _Rates(prices).of
        found = launches(ledger, since, keys=keys, rate=rate, now=now)
        facts = replace(facts, launches=found)
    if needs.reservations:
        held = tuple(ledger.reservations())
        is_read = any(
            one.source is Source.RESOURCES and one.as_of is not None
            for one in ledger.freshness()
        )
        facts = replace(facts, reservations=held, reservations_known=is_read)
    if needs.work_windows:
        done = work_of(
            ledger, stored.jobs, needs.work_windows, prices=prices, keys=keys, now=now
        )
        facts = replace(facts, work=done)
    if needs.transfer_windows:
        paid = transfers_of(ledger, stored.jobs, needs.transfer_windows, now=now)
        facts = replace(facts, transfers=paid)
    if needs.anomalies:
        days, is_judged = unusual_days(ledger, prices=prices, keys=keys, now=now)
        facts = replace(facts, anomalies=days, anomalies_known=is_judged)
    return facts


def _stored(
    unit: UnitOfWork, *, keys: TagKeys, prices: PriceBook, now: datetime
) -> _Stored:
    ledger = unit.ledger
    running = [
        one for one in ledger.open_intervals() if one.kind is ResourceKind.INSTANCE
    ]
    held = _current_tags(ledger.tags(sorted({one.resource_id for one in running})))
    rates = _Rates(prices)
    instances = tuple(
        _instance_facts(one, held.get(one.resource_id, {}), keys=keys, rates=rates)
        for one in sorted(running, key=lambda one: one.resource_id)
    )
    read_at = {
        one.account: one.as_of
        for one in ledger.freshness()
        if one.source is Source.INVENTORY and one.as_of is not None
    }
    return _Stored(
        instances=instances,
        jobs=job_facts(unit, running, instances, keys=keys, prices=prices, now=now),
        as_of={"inventory": min(read_at.values())} if read_at else {},
        currency=prices.currency,
    )


def _stale_scopes(
    running: Iterable[UsageInterval], since: datetime
) -> frozenset[tuple[str, str]]:
    """Return scopes no poll has read lately; one closed to us ages alone.

    A poll that reads a scope sees everything that still runs there.
    """
    seen: dict[tuple[str, str], datetime] = {}
    for one in running:
        scope = (one.account, one.region)
        seen[scope] = max(seen.get(scope, one.last_seen_at), one.last_seen_at)
    return frozenset(scope for scope, at in seen.items() if at < since)


class _Rates:
    """Rates per price key, looked up once each."""

    def __init__(self, prices: PriceBook) -> None:
        self._prices = prices
        self._known: dict[tuple[str, str, str, str], Rate | None] = {}

    def of(self, interval: UsageInterval) -> Rate | None:
        """Return the rate of one running instance; None when unknown."""
        key = (interval.shape, interval.region, interval.zone, interval.lifecycle.value)
        if key not in self._known:
            self._known[key] = burn_of([interval], self._prices)
        return self._known[key]


def _current_tags(spans: Iterable[TagSpan]) -> Mapping[str, Mapping[str, TagSpan]]:
    tags: dict[str, dict[str, TagSpan]] = {}
    for span in spans:
        if span.valid_to is None:
            tags.setdefault(span.resource_id, {})[span.key] = span
    return tags


def _instance_facts(
    interval: UsageInterval,
    held: Mapping[str, TagSpan],
    *,
    keys: TagKeys,
    rates: _Rates,
) -> InstanceFacts:
    tags = {key: span.value for key, span in held.items()}
    owned = belongings(tags, keys)
    job_key = choose(tags, keys.job).key
    return InstanceFacts(
        instance=Instance(
            resource_id=interval.resource_id,
            account=interval.account,
            region=interval.region,
            zone=interval.zone,
            instance_type=interval.shape,
            lifecycle=interval.lifecycle,
            state=InstanceState.RUNNING,
            launched_at=interval.started_at,
            platform=interval.platform,
            tenancy=interval.tenancy,
            tags=tags,
        ),
        job=owned.job,
        team=owned.team,
        owner=owned.owner,
        environment=owned.environment,
        gpus=gpu_count(interval.shape),
        rate=rates.of(interval),
        running_since=interval.started_at,
        job_since=held[job_key].valid_from if job_key else None,
    )


def _with_signals(
    instances: Sequence[InstanceFacts], window: Period, source: MetricSource
) -> tuple[tuple[InstanceFacts, ...], Sequence[ScopeFailure]]:
    """Attach signals; a failed scope leaves its instances with none, and unknown."""
    asked = [
        (one.instance.account, one.instance.region, one.instance.resource_id)
        for one in instances
    ]
    try:
        series, failures = source.series(asked, window)
    except SourceUnavailableError as error:
        series = ()
        failures = [failure_of(error)]
    by_id: dict[str, list[MetricSeries]] = {}
    for one in series:
        by_id.setdefault(one.resource_id, []).append(one)
    broken = {(one.account, one.region) for one in failures}
    return (
        tuple(
            _attach(one, by_id.get(one.instance.resource_id, []), broken)
            for one in instances
        ),
        failures,
    )


def _attach(
    one: InstanceFacts, series: Sequence[MetricSeries], broken: set[tuple[str, str]]
) -> InstanceFacts:
    scope = (one.instance.account, one.instance.region)
    is_broken = scope in broken or ("", "") in broken or (scope[0], "") in broken
    return replace(one, series=tuple(series), series_complete=not is_broken)
