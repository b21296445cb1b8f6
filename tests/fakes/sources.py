"""Sources of facts held in memory, with the behaviour that their ports promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from billing.core.charges import Charge, DayControl
from billing.core.fleet import FleetObservation, Instance, ScopeFailure, Volume
from billing.core.money import Money, total
from billing.core.periods import Period, days_between
from billing.core.prices import Price, PriceKey
from billing.ports import (
    CommitmentFacts,
    MetricSeries,
    SourceUnavailableError,
    StoredObject,
    TagKeyStatus,
)

REQUEST = Money.of("0.01")


def _never(where: str) -> SourceUnavailableError | None:
    return None


@dataclass(slots=True)
class InMemoryCostSource:
    """A bill: charges that tests may restate, and failures at named places.

    Attributes:
        fails: Asked before each request with ``controls``, ``tags`` or
            ``charges <account> <page>``; what it returns is raised.
        after: Called after each request with the same names: data may move there.
        lose: Charges that the detail leaves out although the controls hold them.
    """

    bill: list[Charge] = field(default_factory=list)
    keys: list[TagKeyStatus] = field(
        default_factory=lambda: [TagKeyStatus(key="job-id", state="active")]
    )
    page_size: int = 2
    read_at: datetime = datetime(2026, 11, 30, 9, tzinfo=UTC)
    fails: Callable[[str], SourceUnavailableError | None] = _never
    after: Callable[[str], None] = lambda _: None
    lose: Callable[[Charge], bool] = lambda _: False
    requests: list[str] = field(default_factory=list)
    notes: Sequence[str] = ()
    currency: str | None = None

    @property
    def spent(self) -> tuple[int, Money]:
        return len(self.requests), REQUEST * len(self.requests)

    def tag_keys(self) -> Sequence[TagKeyStatus]:
        self._ask("tags")
        return tuple(self.keys)

    def controls(self, since: date, until: date) -> Sequence[DayControl]:
        self._ask("controls")
        self._ask("controls by account")
        inside = [one for one in self.bill if since <= one.day < until]
        accounts = sorted({one.account for one in inside})
        found = [
            self._control(account, day, inside)
            for account in accounts
            for day in days_between(since, until)
        ]
        self.after("controls")
        return found

    def charges(
        self, account: str, since: date, until: date
    ) -> Iterator[Sequence[Charge]]:
        rows = [
            one
            for one in self.bill
            if one.account == account and since <= one.day < until
        ]
        kept = [one for one in rows if not self.lose(one)]
        for start in range(0, max(len(kept), 1), self.page_size):
            place = f"charges {account} {start // self.page_size}"
            self._ask(place)
            yield kept[start : start + self.page_size]
            self.after(place)

    def _ask(self, place: str) -> None:
        self.requests.append(place)
        failure = self.fails(place)
        if failure is not None:
            raise failure
        currencies = {one.billed.currency for one in self.bill}
        self.currency = min(currencies) if currencies else self.currency

    def _control(self, account: str, day: date, inside: list[Charge]) -> DayControl:
        rows = [one for one in inside if (one.account, one.day) == (account, day)]
        currency = self.currency or "USD"
        billed = total((one.billed for one in rows), currency)
        effective = total((one.effective for one in rows), currency)
        estimated = any(one.is_estimated for one in rows)
        return DayControl(
            account=account,
            day=day,
            billed=billed,
            effective=effective,
            fingerprint=f"{billed.text()}|{effective.text()}|{estimated:d}",
            is_estimated=estimated,
            read_at=self.read_at,
        )


@dataclass(slots=True)
class InMemoryFleetSource:
    """A fleet that tests change between polls."""

    instances: list[Instance] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)
    scopes: list[tuple[str, str]] = field(default_factory=list)
    failures: list[ScopeFailure] = field(default_factory=list)

    def observe(self, now: datetime) -> FleetObservation:
        failed = {(one.account, one.region) for one in self.failures}

        def is_seen(one: Instance | Volume) -> bool:
            return (one.account, one.region) not in failed

        return FleetObservation(
            observed_at=now,
            instances=tuple(filter(is_seen, self.instances)),
            volumes=tuple(filter(is_seen, self.volumes)),
            scanned=tuple(sorted(set(self.scopes) - failed)),
            failures=tuple(self.failures),
        )


@dataclass(slots=True)
class InMemoryPriceSource:
    """Prices by key."""

    known: list[Price] = field(default_factory=list)

    def prices(self, keys: Iterable[PriceKey], now: datetime) -> Sequence[Price]:
        wanted = set(keys)
        return [price for price in self.known if price.key in wanted]


@dataclass(slots=True)
class InMemoryMetricSource:
    """Series by resource."""

    known: list[MetricSeries] = field(default_factory=list)
    failures: list[ScopeFailure] = field(default_factory=list)

    def series(
        self, resources: Sequence[tuple[str, str, str]], window: Period
    ) -> tuple[Sequence[MetricSeries], Sequence[ScopeFailure]]:
        failed = {(one.account, one.region) for one in self.failures}
        wanted = {
            one for account, region, one in resources if (account, region) not in failed
        }
        return [one for one in self.known if one.resource_id in wanted], self.failures


@dataclass(slots=True)
class InMemoryObjectSource:
    """Objects by bucket."""

    known: list[StoredObject] = field(default_factory=list)
    page_size: int = 1_000

    def objects(self, bucket: str, prefix: str) -> Iterator[Sequence[StoredObject]]:
        found = sorted(
            (
                one
                for one in self.known
                if one.bucket == bucket and one.key.startswith(prefix)
            ),
            key=lambda one: one.key,
        )
        for start in range(0, len(found), self.page_size):
            yield found[start : start + self.page_size]


@dataclass(slots=True)
class InMemoryCommitmentSource:
    """Facts by family."""

    known: list[CommitmentFacts] = field(default_factory=list)

    def facts(
        self, families: Sequence[str], since: date, until: date
    ) -> Sequence[CommitmentFacts]:
        return [one for one in self.known if one.family in set(families)]
