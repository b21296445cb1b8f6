"""The product as the benchmarks start it: its own store, adapter, use case and view."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3

from billing.aws.cost_explorer import CostExplorerSource
from billing.aws.session import AwsClients
from billing.core.attribution import TagKeys
from billing.core.charges import Source
from billing.core.fleet import (
    FleetObservation,
    Instance,
    InstanceState,
    Lifecycle,
    Volume,
)
from billing.core.money import Money, Rate
from billing.core.periods import start_of
from billing.core.prices import Price, PriceKey
from billing.ingest import import_costs
from billing.ledger.columns import metadata
from billing.ledger.usage_reads import INTERVAL_COLUMNS
from bot.ports import Message
from bot.unit_of_work import SqlStore, StoreSettings
from bot.use_cases.cost import ask_cost
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import PriceBook
from bot.views.cost import cost_answer
from bot.wiring.memory import settle
from tests.bench import ce_answers, million
from tests.bench.fillers import sqlite_url

SOURCE = Source.COST_EXPLORER.value
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "benchmark",
    "AWS_SECRET_ACCESS_KEY": "benchmark",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@contextmanager
def open_store(place: Path | str) -> Iterator[SqlStore]:
    """Open a ledger as the product does; a new one gets its tables."""
    settings = StoreSettings(audit_key=b"benchmark")
    url = sqlite_url(place) if isinstance(place, Path) else place
    store = SqlStore.open(url, settings)
    try:
        metadata.create_all(store.database.engine)
        yield store
    finally:
        store.close()


def create(place: Path | str) -> None:
    """Make an empty ledger."""
    with open_store(place):
        pass


def build(url: str, charges: int = million.CHARGES) -> None:
    """Make a ledger of so many charges, with what runs now and ran before."""
    create(url)
    million.fill(url, SOURCE, charges)
    add_fleet(url, charges)
    million.add_history(url, INTERVAL_COLUMNS)


def client(url: str) -> Any:
    """Make a plain boto3 client of Cost Explorer."""
    return boto3.client(
        "ce",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="benchmark",
        aws_secret_access_key="benchmark",
    )


@contextmanager
def importing(url: str, path: Path) -> Iterator[Callable[[], object]]:
    """Give an import that is ready to run, into a new ledger."""
    os.environ.update(CREDENTIALS, AWS_ENDPOINT_URL=url)
    with open_store(path) as store:

        def charge(operation: str, cost: Money) -> None:
            store.meter.charge(operation, cost, ce_answers.NOW)

        source = CostExplorerSource(
            AwsClients(on_billable=charge),
            accounts=[ce_answers.ACCOUNT],
            job_tag_keys=[ce_answers.TAG_KEY],
            clock=lambda: ce_answers.NOW,
        )
        source.tag_keys()  # Makes the client, as the baseline has made its own.
        yield lambda: _import(source, store)


def _import(source: CostExplorerSource, store: SqlStore) -> None:
    result = import_costs(
        source,
        store,
        since=ce_answers.SINCE,
        until=ce_answers.UNTIL,
        now=ce_answers.NOW,
    )
    states = [(report.state, report.message) for report in result.imports]
    if [state for state, _ in states] != ["done"] or result.errors:
        message = f"the import did not succeed: {states}, {result.errors}"
        raise RuntimeError(message)


@contextmanager
def answering(url: str) -> Iterator[Callable[[CostQuestion], Message]]:
    """Give a function from a question to the finished blocks of its answer."""
    keys = TagKeys()
    settle()  # as `gpucost serve` does
    with open_store(url) as store:

        def ask(question: CostQuestion) -> Message:
            with store.read() as unit:
                answer = ask_cost(
                    unit.ledger,
                    question,
                    prices=PriceBook(unit.ledger),
                    keys=keys,
                    stale=(),
                    now=million.NOW,
                )
            return cost_answer(answer)

        yield ask


def add_fleet(url: str, charges: int) -> None:
    """Store what runs right now, its prices, and how far each account is billed."""
    through = start_of(million.UNTIL) - timedelta(days=1)
    seen = million.NOW - timedelta(minutes=5)
    instances = tuple(_instances(charges))
    price = Price(
        key=PriceKey(region=million.REGION, product=million.SHAPE),
        rate=Rate.of("98.32"),
        source="price list",
        as_of=through,
    )
    with open_store(url) as store, store.write() as unit:
        unit.ledger.apply_observation(
            FleetObservation(
                observed_at=seen,
                instances=instances,
                volumes=tuple(map(_volume, instances)),
                scanned=tuple((one, million.REGION) for one in million.ACCOUNTS),
                failures=(),
            )
        )
        unit.ledger.record_prices([price], million.NOW)
        for account in million.ACCOUNTS:
            unit.ledger.set_billed_through(account, through, million.NOW)


def _instances(charges: int) -> Iterator[Instance]:
    for run, number in million.running(charges):
        yield Instance(
            resource_id=f"i-{run.job}-{run.account}-{number:03}",
            account=run.account,
            region=million.REGION,
            zone=million.ZONE,
            instance_type=million.SHAPE,
            lifecycle=Lifecycle.ON_DEMAND,
            state=InstanceState.RUNNING,
            launched_at=million.NOW - timedelta(days=3, minutes=number),
            tags={"job-id": run.job, "team": "research", "owner": "ann", "env": "dev"},
        )


def _volume(instance: Instance) -> Volume:
    return Volume(
        resource_id=instance.resource_id.replace("i-", "vol-", 1),
        account=instance.account,
        region=instance.region,
        zone=instance.zone,
        volume_type="gp3",
        size_gib=2_000,
        state="in-use",
        created_at=instance.launched_at,
        iops=3_000,
        throughput_mibps=125,
        attached_to=instance.resource_id,
    )
