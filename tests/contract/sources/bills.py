"""Small bills for the suites of the cost source, and what is read of them."""

from __future__ import annotations

from datetime import date

from billing.aws.cost_explorer import CostExplorerSource
from billing.core.charges import Charge
from billing.core.money import Money
from deploy.sandbox.aws.builders import cost
from deploy.sandbox.aws.world import CostSeed, CostTag
from tests.builders import usd
from tests.contract.sources.aws import PAYER, on

FIRST, SECOND, THIRD = on("2026-04-01"), on("2026-04-02"), on("2026-04-03")
TAG = [CostTag(key="job-id")]
JOB = {"job-id": "Job-123"}


def detail(
    source: CostExplorerSource,
    since: date = FIRST,
    until: date = THIRD,
    account: str = PAYER,
) -> list[Charge]:
    return [one for page in source.charges(account, since, until) for one in page]


def by_bucket(charges: list[Charge]) -> dict[str, Money]:
    sums: dict[str, Money] = {}
    for one in charges:
        key = one.job or one.bucket.value
        sums[key] = sums.get(key, usd("0")) + one.billed
    return sums


def spend(job: str, amount: str, day: str = "2026-04-01") -> CostSeed:
    return cost(day, amount, tags={"job-id": job} if job else {})
