"""How well, and how fast, cost finds its job: labelled months against the truth.

The right dollars are what a job truly cost and was given; wrong ones are what a job was
given beyond that. Idle time given to a job, or a job's time to another, is wrong.
"""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlalchemy import insert

from billing.core.charges import (
    Bucket,
    Charge,
    ChargeCategory,
    CostCategory,
    PricingCategory,
)
from billing.core.fleet import Lifecycle
from billing.core.money import Money
from billing.core.placement_rows import Parsed
from billing.core.placements import Placement, PlacementSource
from billing.core.slurm import parse_sacct
from billing.ledger.columns import table_of
from billing.ledger.tables import ResourceTagRow, UsageIntervalRow
from bot import migrations
from bot.unit_of_work import SqlStore, StoreSettings
from bot.use_cases.placements import import_placements, record_placements
from tests.bench.attribution_month import (
    DAYS,
    IDLE,
    NOBODY,
    PENDING_S,
    PRICES,
    Month,
    make_month,
)
from tests.bench.figures import Figure
from tests.builders_store import AUDIT_KEY, import_charges

if TYPE_CHECKING:
    from pathlib import Path

ACCOUNT = "123456789012"
REGION = "us-east-1"
FIRST = datetime(2026, 10, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 5, 9, tzinfo=UTC)
SEEDS = (1, 2, 3)
USAGE = {
    "p5.48xlarge": "BoxUsage:p5.48xlarge",
    "g5.48xlarge": "BoxUsage:g5.48xlarge",
    "ml.p4d.24xlarge": "USE1-Train:ml.p4d.24xlarge",
}


@dataclass(frozen=True, slots=True)
class Quality:
    """Shares of the month's GPU dollars, and how fast they were found.

    Attributes:
        right: Of what jobs truly cost, how much they were given.
        wrong: Dollars that jobs were given beyond what they cost.
        untagged: Part of the bill that no rule placed.
        total: The bill in dollars.
    """

    right: float
    wrong: float
    untagged: float
    total: float
    seconds: float
    transfers: int


def measure(folder: Path) -> list[Figure]:
    """Return the figures of all labelled months, with an export and without one."""
    found = []
    for name, is_exact in (("export", True), ("Cost Explorer", False)):
        runs = [
            judge(folder / f"{name[0]}{seed}.db", make_month(seed), is_exact=is_exact)
            for seed in SEEDS
        ]
        right = sum(one.right for one in runs) / len(runs)
        wrong = sum(one.wrong for one in runs)
        untagged = sum(one.untagged for one in runs) / len(runs)
        total = sum(one.total for one in runs)
        seconds = sum(one.seconds for one in runs) / len(runs)
        found += [
            _figure(f"attribution, {name}: GPU dollars on the right job",
                    f"{right:.2%}", "at least 95 %", is_met=right >= 0.95),
            _figure(f"attribution, {name}: dollars on a wrong job",
                    f"${wrong:,.2f} of ${total:,.0f}", "$0", is_met=wrong < 1),
            _figure(f"attribution, {name}: untagged",
                    f"{untagged:.2%}", "at most 5 %", is_met=untagged <= 0.05),
            _figure(f"attribution, {name}: a month computed anew",
                    f"{seconds:.1f} s", "", is_met=None),
        ]  # fmt: skip
    return found


def _figure(name: str, own: str, target: str, *, is_met: bool | None) -> Figure:
    return Figure(
        name=name, own=own, baseline="the truth", ratio=(1, 1, 1), target=target,
        is_met=is_met,
    )  # fmt: skip


def judge(path: Path, month: Month, *, is_exact: bool) -> Quality:
    """Fill a ledger with a month, attribute it, and hold it to the truth."""
    url = f"sqlite:///{path}"
    with closing(SqlStore.open(url, StoreSettings(audit_key=AUDIT_KEY))) as store:
        migrations.upgrade(store.database.engine)
        _fleet(store, month)
        import_charges(store, _bill(month, is_exact=is_exact), now=NOW, account=ACCOUNT)
        import_placements(store, _sacct(month), PlacementSource.SLURM, now=NOW)
        record_placements(store, _pods(month), now=NOW)
        start = time.perf_counter()
        with store.write() as unit:
            days = [FIRST.date() + timedelta(days=day) for day in range(DAYS)]
            transfers = unit.ledger.reattribute(ACCOUNT, days, NOW)
        seconds = time.perf_counter() - start
        with store.read() as unit:
            cells = unit.ledger.cells("job", FIRST.date(), date(2026, 11, 1))
    given: dict[str, float] = defaultdict(float)
    for cell in cells:
        given[cell.key] += cell.effective_nanos / 1e3
    return _quality(month, given, seconds, transfers)


def _quality(
    month: Month, given: dict[str, float], seconds: float, transfers: int
) -> Quality:
    jobs = {job: cost for job, cost in month.truth.items() if job not in {IDLE, NOBODY}}
    right = sum(min(cost, given.get(job, 0.0)) for job, cost in jobs.items())
    paid = {key: cost for key, cost in given.items() if not key.startswith("bucket:")}
    wrong = sum(max(0.0, cost - jobs.get(job, 0.0)) for job, cost in paid.items())
    total = float(month.total)
    return Quality(
        right=right / sum(jobs.values()),
        wrong=wrong / 1e6,
        untagged=given.get("bucket:untagged", 0.0) / total,
        total=total / 1e6,
        seconds=seconds,
        transfers=transfers,
    )


def _at(minute: int) -> datetime:
    return FIRST + timedelta(minutes=minute)


def _fleet(store: SqlStore, month: Month) -> None:
    """Write what polls would have learned; launch times lie before billed time."""
    intervals, tags = [], []
    for node in month.nodes:
        if not node.name.startswith("i-"):
            continue
        intervals.append(
            {
                "resource_id": node.name, "kind": "instance", "account": ACCOUNT,
                "region": REGION, "zone": f"{REGION}a", "shape": node.shape,
                "lifecycle": Lifecycle.ON_DEMAND.value,
                "started_at": _at(node.start) - timedelta(seconds=PENDING_S),
                "ended_at": _at(node.end), "end_basis": "exact",
                "last_seen_at": _at(node.end), "platform": "Linux/UNIX",
                "tenancy": "default", "size_gib": 0, "parent_id": "",
            }
        )  # fmt: skip
        changes = [*node.tags, (node.end, "")]
        for (since, job), (until, _) in pairwise(changes):
            tags.append(
                {
                    "resource_id": node.name, "key": "job-id", "value": job,
                    "folded_key": "job-id", "folded": job, "valid_from": _at(since),
                    "valid_to": _at(until),
                }
            )  # fmt: skip
        if node.address:
            name = f"gpu-{int(node.name[4:], 16):03d}"
            tags.append(
                {
                    "resource_id": node.name, "key": "Name", "value": name,
                    "folded_key": "name", "folded": name, "valid_from": _at(node.start),
                    "valid_to": None,
                }
            )  # fmt: skip
    with store.write() as unit:
        connection = unit.session.connection()
        connection.execute(insert(table_of(UsageIntervalRow)), intervals)
        connection.execute(insert(table_of(ResourceTagRow)), tags)


def _bill(month: Month, *, is_exact: bool) -> list[Charge]:
    """Write the bill: by resource as exports have it, or summed by type and tag."""
    shapes = {node.name: node.shape for node in month.nodes}
    minutes: dict[tuple[int, str, str, str], int] = defaultdict(int)
    for (day, name, job), count in month.billed.items():
        shape = shapes[name]
        # Cost Explorer knows no SageMaker name: those jobs need their tag.
        minutes[day, shape, job, name if is_exact else ""] += count
    return [
        Charge(
            account=ACCOUNT, day=FIRST.date() + timedelta(days=day), region=REGION,
            service="", usage_type=USAGE[shape], record_type="Usage",
            category=ChargeCategory.USAGE, pricing=PricingCategory.STANDARD,
            cost_category=CostCategory.COMPUTE,
            bucket=Bucket.JOB if job else Bucket.UNTAGGED, job=job,
            billed=Money(count * PRICES[shape] * 1000),
            effective=Money(count * PRICES[shape] * 1000),
            quantity=Decimal(count) / 60, unit="Hrs", resource_id=name,
        )
        for (day, shape, job, name), count in sorted(minutes.items())
    ]  # fmt: skip


def _sacct(month: Month) -> Parsed:
    """Write what sacct would print, and read it as the product does."""
    lines = ["JobID|JobName|Start|End|NodeList|AllocTRES"]
    for number, one in enumerate(month.held):
        if one.by == "slurm":
            start, end = (
                _at(minute).replace(tzinfo=None) for minute in (one.start, one.end)
            )
            host = f"gpu-{int(one.node[4:], 16):03d}"
            lines.append(
                f"{number}|{one.job}|{start.isoformat()}|{end.isoformat()}|{host}"
                f"|cpu=4,gres/gpu={one.gpus}"
            )
    return parse_sacct(lines, UTC, job_from="jobname")


def _pods(month: Month) -> list[Placement]:
    return [
        Placement(
            job=one.job, resource_id=one.node, started_at=_at(one.start),
            ended_at=_at(one.end), gpus=Decimal(one.gpus),
            source=PlacementSource.KUBERNETES, external_id=f"pod-{number}",
        )
        for number, one in enumerate(month.held)
        if one.by == "kubernetes"
    ]  # fmt: skip
