"""A bill imported from the AWS double: faults, restatements and several accounts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from billing.aws.inventory import Ec2FleetSource
from billing.aws.prices import AwsPriceSource
from billing.core.money import Money, total
from billing.core.prices import PriceKey
from billing.ingest import IngestResult, import_costs, observe_fleet, refresh_prices
from deploy.sandbox.aws.builders import (
    cost,
    gpu_hours,
    instance,
    other_charge,
    restated,
)
from deploy.sandbox.aws.world import Account, CostSeed, CostTag
from tests.builders import usd
from tests.contract.sources.aws import MEMBER, NOW, PAYER, Aws, on
from tests.fakes.ledger import InMemoryLedgerStore

SINCE, UNTIL = on("2026-04-01"), on("2026-04-15")
TAGS = [CostTag(key="job-id"), CostTag(key="JobId")]
BILL = [
    gpu_hours(
        f"2026-04-{n:02d}", "p5.48xlarge", hours="24", price="98.32",
        tags={"job-id" if n % 2 else "JobId": f"job-{n % 3}"},
    )
    for n in range(1, 15)
]  # fmt: skip
FEES = [
    other_charge("2026-04-01", "Tax", "700"),
    other_charge("2026-04-03", "Credit", "-340", account=MEMBER),
    cost("2026-04-03", "12.5", account=MEMBER),
]


def read(aws: Aws, store: InMemoryLedgerStore, *, hours: int = 0) -> IngestResult:
    source = aws.bill(keys=("job-id", "JobId", "job_id"))
    now = NOW + timedelta(hours=hours)
    return import_costs(source, store, since=SINCE, until=UNTIL, now=now)


def stored(store: InMemoryLedgerStore) -> Money:
    return total(store.ledger.sums().values())


def billed(seeds: list[CostSeed]) -> Money:
    return total(usd(seed.unblended) for seed in seeds)


@pytest.fixture
def store() -> InMemoryLedgerStore:
    return InMemoryLedgerStore()


def test_a_month_of_two_accounts_is_imported_to_the_nano_unit(
    aws: Aws, store: InMemoryLedgerStore
) -> None:
    aws.serve(accounts=[Account(id=MEMBER)], tags=TAGS, costs=[*BILL, *FEES])

    result = read(aws, store)

    assert [(one.account, one.state) for one in result.imports] == [
        (MEMBER, "done"),
        (PAYER, "done"),
    ]
    assert stored(store) == billed([*BILL, *FEES])
    assert sum(one.requests for one in result.imports) == len(aws.charged)


def test_a_second_reading_costs_two_requests(
    aws: Aws, store: InMemoryLedgerStore
) -> None:
    sandbox = aws.serve(tags=TAGS, costs=BILL)
    read(aws, store)
    sandbox.requests.clear()

    result = read(aws, store, hours=6)

    assert [one.state for one in result.imports] == ["unchanged"]
    assert len(sandbox.requests) == 2


def test_a_restated_day_is_read_again_alone(
    aws: Aws, store: InMemoryLedgerStore
) -> None:
    later = NOW + timedelta(hours=3)
    moved = restated(BILL[4], "1000", at=later)
    sandbox = aws.serve(tags=TAGS, costs=[*BILL[:4], *BILL[5:], *moved])
    read(aws, store)
    before = stored(store)
    sandbox.clock.set(later)

    result = read(aws, store, hours=3)

    assert stored(store) - before == usd("1000") - usd(BILL[4].unblended)
    (report,) = result.imports
    assert (report.since, report.until) == (on("2026-04-05"), on("2026-04-06"))


def test_data_that_moves_while_it_is_read_is_read_again(
    aws: Aws, store: InMemoryLedgerStore
) -> None:
    sandbox = aws.serve(tags=TAGS, costs=list(BILL))
    sandbox.faults.add(
        kind="change-data", operation="GetCostAndUsage", skip=3, times=1,
        costs=[cost("2026-04-02", "55.5")],
    )  # fmt: skip

    result = read(aws, store)

    assert [one.state for one in result.imports] == ["done"]
    assert stored(store) == billed(BILL) + usd("55.5")


@pytest.mark.parametrize("kind", ["throttle", "fail", "drop", "truncate"])
@pytest.mark.parametrize("percent", [30, 100])
def test_faults_end_in_the_whole_bill_or_in_the_old_one(
    aws: Aws, store: InMemoryLedgerStore, kind: str, percent: int
) -> None:
    sandbox = aws.serve(tags=TAGS, costs=list(BILL), page_size=3)
    read(aws, store)
    old, new = stored(store), billed([*BILL, FEES[0]])
    sandbox.world.costs.append(FEES[0])
    sandbox.faults.add(kind=kind, service="ce", percent=percent)

    result = read(aws, store, hours=6)

    is_done = bool(result.imports) and result.imports[0].state == "done"
    assert stored(store) == (new if is_done else old)
    assert is_done or result.errors
    assert not (is_done and percent == 100)


def test_tries_of_one_request_are_at_most_five(
    aws: Aws, store: InMemoryLedgerStore
) -> None:
    sandbox = aws.serve(tags=TAGS, costs=list(BILL))
    sandbox.faults.add(kind="throttle", service="ce")

    result = read(aws, store)

    assert len(sandbox.requests) == len(aws.charged) == 5
    assert [one.code for one in result.errors] == ["LimitExceededException"]


def test_a_poll_of_the_fleet_is_stored_with_its_failures(
    aws: Aws, store: InMemoryLedgerStore
) -> None:
    sandbox = aws.serve(
        instances=[
            instance(
                "i-00000000000000001", "p5.48xlarge", launched_at="2026-04-14T01:00"
            )
        ]
    )
    sandbox.faults.add(kind="deny", service="ec2", region="us-west-2")
    scopes = [(PAYER, "us-east-1"), (PAYER, "us-west-2")]

    seen = observe_fleet(Ec2FleetSource(aws.clients(), scopes), store, NOW)

    assert store.ledger.observations == [seen]
    assert [one.region for one in seen.failures] == ["us-west-2"]


def test_prices_are_kept_and_missing_ones_named(
    aws: Aws, store: InMemoryLedgerStore
) -> None:
    aws.serve()
    known = PriceKey(region="us-east-1", product="p5.48xlarge")
    unknown = PriceKey(region="us-east-1", product="p99.metal")

    refresh = refresh_prices(
        AwsPriceSource(aws.clients()), store, [known, unknown], NOW
    )

    assert [one.key for one in store.ledger.prices] == [known]
    assert refresh.missing == (unknown,)
