"""Policies at scale: beside Cloud Custodian's filters, 5 million judgements, a month.

Cloud Custodian is compared where ``GPUCOST_BENCH_CUSTODIAN`` names the Python of a
virtual environment that holds ``c7n``: it is never installed beside gpucost. Both judge
the same 10,000 instances in memory by equivalent policies, and must match the same.

``python -m tests.bench.policies`` judges 100,000 subjects once, in a process of its own,
and prints seconds and the peak in bytes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from billing.core.attribution import TagKeys
from billing.core.fleet import Lifecycle
from billing.ledger.columns import table_of
from billing.ledger.tables import ResourceTagRow, UsageIntervalRow
from billing.ports import MetricSeries
from billing.ports.progress import HourOfUse
from bot import migrations
from bot.unit_of_work import SqlStore, StoreSettings
from bot.use_cases.backtest import STEP, moments, read_past, whole_hours
from bot.use_cases.pricing import price_book
from policies.core.backtest import Replay, replay
from policies.core.catalogue import Policy
from policies.core.evaluate import evaluate
from policies.core.facts import InstanceFacts
from policies.load import load_text
from tests.bench.figures import Figure, Spent, mebibytes, seconds, timed
from tests.bench.memory import peak
from tests.builders import make_charge
from tests.builders_policies import NOW, make_facts, make_instance
from tests.builders_store import AUDIT_KEY, import_charges

INSTANCES = 10_000
CUSTODIAN = "GPUCOST_BENCH_CUSTODIAN"
ROUNDS = 3
SUBJECTS, POLICIES = 100_000, 50
SECONDS_AT_MOST, BYTES_AT_MOST = 20.0, 10**9
JOBS, MONTH_SECONDS_AT_MOST = 1_000, 30.0
MONTH = (date(2026, 10, 1), datetime(2026, 11, 1, tzinfo=UTC))
TYPES = ("p5.48xlarge", "p4d.24xlarge", "g5.48xlarge", "g6.12xlarge", "p5en.48xlarge")

OURS = """
policies:
  - {name: no-owner, kind: tagging, require: [owner]}
  - {name: old, kind: ttl, default: 7d, max: 60d, steps: [warn]}
  - name: g5
    kind: custom
    subject: instance
    when: instance.type == "g5.48xlarge"
    say: It is a g5.
  - name: spot
    kind: custom
    subject: instance
    when: instance.lifecycle == "spot"
    say: It is spot.
  - name: p5-without-cost-center
    kind: custom
    subject: instance
    when: instance.type.startsWith("p5") && !("cost-center" in instance.tags)
    say: It has no cost center.
"""
THEIRS: list[dict[str, Any]] = [
    {"name": "no-owner", "resource": "ec2", "filters": [{"tag:owner": "absent"}]},
    {"name": "old", "resource": "ec2",
     "filters": [{"type": "instance-age", "op": "ge", "days": 7}]},
    {"name": "g5", "resource": "ec2", "filters": [{"InstanceType": "g5.48xlarge"}]},
    {"name": "spot", "resource": "ec2", "filters": [{"InstanceLifecycle": "spot"}]},
    {"name": "p5-without-cost-center", "resource": "ec2",
     "filters": [
         {"type": "value", "key": "InstanceType", "op": "glob", "value": "p5*"},
         {"tag:cost-center": "absent"},
     ]},
]  # fmt: skip


def measure(folder: Path) -> list[Figure]:
    """Measure all three."""
    return [*_beside(folder), *_many(), *_month(folder)]


def _loaded(text: str) -> tuple[Policy, ...]:
    policies, errors = load_text(text)
    assert errors == (), [str(error) for error in errors]
    return policies


# ------------------------------------------------------- beside Cloud Custodian


def _tags(number: int) -> dict[str, str]:
    tags = {"Name": f"gpu-{number}"}
    if number % 3:
        tags["owner"] = f"person-{number % 40}"
    if number % 4:
        tags["cost-center"] = f"cc-{number % 9}"
    return tags


def _age(number: int) -> timedelta:
    return timedelta(days=number % 14, hours=12)


def _ours(number: int) -> InstanceFacts:
    tags = _tags(number)
    return make_instance(
        f"i-{number:08x}", job="", team="", owner=tags.get("owner", ""), tags=tags,
        instance_type=TYPES[number % 5], running_for=_age(number),
        lifecycle=Lifecycle.ON_DEMAND if number % 7 else Lifecycle.SPOT,
    )  # fmt: skip


def _theirs(number: int, now: datetime) -> dict[str, Any]:
    found = {
        "InstanceId": f"i-{number:08x}", "InstanceType": TYPES[number % 5],
        "LaunchTime": (now - _age(number)).isoformat(), "State": {"Name": "running"},
        "BlockDeviceMappings": [],
        "Tags": [{"Key": key, "Value": text} for key, text in _tags(number).items()],
    }  # fmt: skip
    return found if number % 7 else found | {"InstanceLifecycle": "spot"}


def _beside(folder: Path) -> list[Figure]:
    facts = make_facts(*(_ours(number) for number in range(INSTANCES)))
    policies = _loaded(OURS)
    rounds = [timed(lambda: evaluate(policies, facts, NOW)) for _ in range(ROUNDS)]
    found = evaluate(policies, facts, NOW).findings
    python = os.environ.get(CUSTODIAN, "")
    if not python:
        print(
            f"bench: Cloud Custodian is skipped; set {CUSTODIAN} to the Python of a "
            "virtual environment with c7n",
            file=sys.stderr,
        )
    own = min(one.cpu for one in rounds)
    name = f"5 policies over {INSTANCES:,} instances, in memory, CPU"
    if not python:
        return [Figure(name=name, own=seconds(own), baseline="-", ratio=(1, 1, 1))]
    matched, theirs = _custodian(python, folder)
    mine: dict[str, list[str]] = {one.name: [] for one in policies}
    for one in found:
        mine[one.policy].append(one.subject.id)
    assert mine == {key: sorted(ids) for key, ids in matched.items()}, "other matches"
    share = own / theirs
    return [
        Figure(
            name=name, own=seconds(own), baseline=f"Cloud Custodian {seconds(theirs)}",
            ratio=(share, share, share), target="<= 1x, same matches",
            is_met=share <= 1,
        )
    ]  # fmt: skip


def _custodian(python: str, folder: Path) -> tuple[dict[str, list[str]], float]:
    now = datetime.now(UTC)
    path = folder / "custodian.json"
    instances = [_theirs(number, now) for number in range(INSTANCES)]
    path.write_text(json.dumps({"policies": THEIRS, "instances": instances}))
    script = Path(__file__).with_name("custodian_filters.py")
    environment = {"PATH": os.environ["PATH"], "AWS_DEFAULT_REGION": "us-east-1"}
    done = subprocess.run(
        [python, "-I", str(script), str(path)], check=True, capture_output=True, text=True,
        env=environment, cwd=folder,
    )  # fmt: skip
    answer = json.loads(done.stdout.splitlines()[-1])
    return answer["matched"], answer["seconds"]


# ------------------------------------------------------ 100,000 subjects, 50 policies


def _fifty() -> str:
    """Return policies of five kinds in ten wordings each."""
    lines = ["policies:"]
    for n in range(POLICIES // 5):
        lines += [
            (
                f"  - {{name: idle-{n}, kind: idle, for: {30 + n}m, where: "
                f"'job.env != \"e{n}\"'}}"
            ),
            f"  - {{name: low-{n}, kind: utilization, below: {40 + n}%, for: 30m}}",
            f"  - {{name: ttl-{n}, kind: ttl, default: {20 + n}d, max: 60d}}",
            f"  - {{name: tags-{n}, kind: tagging, require: [job, team, t{n}]}}"
            if n == 0
            else f"  - {{name: tags-{n}, kind: tagging, require: [job, team, owner]}}",
            (
                f"  - {{name: own-{n}, kind: custom, subject: instance, say: Large., when: "
                f"'instance.type == \"g{n}.large\"'}}"
            ),
        ]
    return "\n".join(lines)


def _many() -> list[Figure]:
    command = [sys.executable, "-m", __name__]
    child = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, cpu, memory = child.stdout.split()[-3:]
    name = f"{SUBJECTS:,} subjects x {POLICIES} policies"
    most = int(memory)
    return [
        *_times(name, Spent(float(wall), float(cpu)), SECONDS_AT_MOST),
        _alone(f"{name}, peak", mebibytes(most), most, BYTES_AT_MOST, "1 GB"),
    ]


def _times(name: str, spent: Spent, most: float) -> list[Figure]:
    """Return wall and CPU: where the machine is busy otherwise, the CPU says more."""
    target = f"{most:.0f} s"
    return [
        _alone(f"{name}, wall", seconds(spent.wall), spent.wall, most, target),
        _alone(f"{name}, CPU", seconds(spent.cpu), spent.cpu, most, target),
    ]


def _alone(name: str, own: str, value: float, most: float, target: str) -> Figure:
    share = value / most
    return Figure(
        name=name, own=own, baseline="-", ratio=(share, share, share),
        target=f"< {target}", is_met=value < most,
    )  # fmt: skip


def judge_many(subjects: int = SUBJECTS) -> None:
    """Judge every subject once; the facts are made before the clock starts."""
    policies = _loaded(_fifty())
    points = tuple((NOW - timedelta(minutes=5 * (24 - n)), 90.0) for n in range(24))
    facts = make_facts(*(_busy(number, points) for number in range(subjects)))
    spent = timed(lambda: evaluate(policies, facts, NOW))
    print(spent.wall, spent.cpu, peak())


def _busy(number: int, points: tuple[tuple[datetime, float], ...]) -> InstanceFacts:
    name = f"i-{number:08x}"
    series = MetricSeries(
        resource_id=name, signal="gpu_utilization", part="0", points=points,
        period_s=300,
    )  # fmt: skip
    return make_instance(name, job=f"job-{number}", gpus=1, series=[series])


# ------------------------------------------------------------- a month of 1,000 jobs


def _month(folder: Path) -> list[Figure]:
    with closing(_filled(folder / "month.db")) as store:
        policies = _loaded(
            "policies:\n"
            "  - {name: idle, kind: idle}\n"
            "  - {name: low, kind: utilization, below: 50%, for: 2h}\n"
            "  - {name: old, kind: ttl, default: 24h}\n"
            "  - {name: spend, kind: job-spend, over: $5000}\n"
            "  - {name: tags, kind: tagging}\n"
        )
        found: list[Replay] = []
        spent = timed(lambda: found.extend(_replayed(store, policies)))
    assert any(one.fires for one in found)
    name = f"backtest of a month, {JOBS:,} jobs"
    return _times(name, spent, MONTH_SECONDS_AT_MOST)


def _replayed(store: SqlStore, policies: Sequence[Policy]) -> Sequence[Replay]:
    with store.read() as unit:
        past = read_past(
            unit.ledger, whole_hours(*MONTH), prices=price_book(unit.ledger, ()),
            keys=TagKeys(), budgets={}, now=MONTH[1],
        )  # fmt: skip
        return replay(policies, moments(past), STEP)


def _filled(path: Path) -> SqlStore:
    """Return a ledger of jobs that ran three days each, on two instances."""
    store = SqlStore.open(f"sqlite:///{path}", StoreSettings(audit_key=AUDIT_KEY))
    migrations.upgrade(store.database.engine)
    intervals, tags, use, charges = [], [], [], []
    for number in range(JOBS):
        start = datetime(2026, 10, 1, tzinfo=UTC) + timedelta(
            hours=number * 670 // JOBS
        )
        end = start + timedelta(days=3)
        for machine in range(2):
            name = f"i-{number:06x}{machine}"
            intervals.append(_interval(name, start, end))
            tags.append(_tag(name, f"job-{number}", start, end))
            use += [
                HourOfUse(
                    resource_id=name, hour=start + timedelta(hours=hour),
                    gpu_pct=0.0 if hour > 60 else 85.0, covered_s=3600,
                )
                for hour in range(72)
            ]  # fmt: skip
        charges += [
            make_charge(job=f"job-{number}", on=str(start.date() + timedelta(days=day)),
                        billed="2359.68")
            for day in range(3)
        ]  # fmt: skip
    with store.write() as unit:
        connection = unit.session.connection()
        connection.execute(insert(table_of(UsageIntervalRow)), intervals)
        connection.execute(insert(table_of(ResourceTagRow)), tags)
        unit.ledger.record_use(use)
    import_charges(
        store, charges, days=sorted({one.day for one in charges}), now=MONTH[1]
    )
    return store


def _interval(name: str, start: datetime, end: datetime) -> dict[str, object]:
    return {
        "resource_id": name, "kind": "instance", "account": "123456789012",
        "region": "us-east-1", "zone": "us-east-1a", "shape": "p5.48xlarge",
        "lifecycle": "on-demand", "started_at": start, "ended_at": end,
        "end_basis": "exact", "last_seen_at": end, "platform": "Linux/UNIX",
        "tenancy": "default", "size_gib": 0, "parent_id": "",
    }  # fmt: skip


def _tag(name: str, job: str, start: datetime, end: datetime) -> dict[str, object]:
    return {
        "resource_id": name, "key": "job-id", "value": job, "folded_key": "job-id",
        "folded": job, "valid_from": start, "valid_to": end,
    }  # fmt: skip


if __name__ == "__main__":
    judge_many()
