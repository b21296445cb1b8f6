"""What the examples of docs/commands.md run against: a small company and its files.

Two days before the clock's Monday are not complete in the bill, so that an example has
a billed and a provisional part.
"""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from deploy.sandbox.aws import AwsSandbox, World
from deploy.sandbox.aws.builders import (
    cost,
    gpu_hours,
    gpu_utilisation,
    instance,
    other_charge,
    volume_cost,
)
from deploy.sandbox.aws.world import CostSeed, CostTag, ObjectSeed

NOW = "2026-11-30T09:00:00Z"
PRICE = "55.04"
TAGS = {
    "job-id": "job-123",
    "team": "research",
    "owner": "mia@example.com",
    "env": "prod",
}

CONFIG = """\
data_dir: {folder}/data
aws:
  regions: [us-east-1]
tags:
  job: [job-id]
slack:
  alerts: "#gpu-costs"
approvals:
  cli: trusted
  identities:
    {user}: mia@example.com
"""

POLICIES = """\
policies:
  - name: approve-large-runs
    kind: approval
    mode: notify
    over: $10,000
    approvers: [ada@example.com, ben@example.com]
  - name: idle-gpus
    kind: idle
    mode: notify
    signals: {gpu_utilization: "< 5%"}
    for: 30m
"""

#: The bill of October as a FOCUS export, delivered after the month was over.
EXPORT = """\
BillingPeriodStart,ChargePeriodStart,ChargePeriodEnd,SubAccountId,ProviderName,\
ChargeCategory,PricingCategory,ServiceName,RegionId,x_UsageType,BilledCost,EffectiveCost,\
ListCost,BillingCurrency,ConsumedQuantity,ConsumedUnit,Tags
2026-10-01,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,123456789012,AWS,\
Usage,Standard,Amazon Elastic Compute Cloud,us-east-1,BoxUsage:p5.48xlarge,2641.92,\
2641.92,2641.92,USD,48,Hrs,"{""job-id"": ""job-123""}"
2026-10-01,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,123456789012,AWS,\
Usage,Standard,Amazon FSx,us-east-1,Lustre-Storage,35.50,\
35.50,36.00,USD,100,GB-Mo,"{""job-id"": ""job-123""}"
2026-10-01,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,123456789012,AWS,\
Tax,,Amazon Elastic Compute Cloud,,,20.00,20.00,20.00,USD,,,
"""
#: An earlier run of October, in an export of its own.
EARLIER = """\
BillingPeriodStart,ChargePeriodStart,ChargePeriodEnd,SubAccountId,ProviderName,\
ChargeCategory,PricingCategory,ServiceName,RegionId,x_UsageType,BilledCost,EffectiveCost,\
ListCost,BillingCurrency,ConsumedQuantity,ConsumedUnit,Tags
2026-10-01,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,123456789012,AWS,\
Usage,Standard,Amazon Elastic Compute Cloud,us-east-1,BoxUsage:p5.48xlarge,1320.96,\
1320.96,1320.96,USD,24,Hrs,"{""job-id"": ""job-122""}"
2026-10-01,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,123456789012,AWS,\
Usage,Standard,Amazon Virtual Private Cloud,us-east-1,NatGateway-Bytes,45.00,\
45.00,45.00,USD,1000,GB,"{""job-id"": ""job-122""}"
"""
DELIVERED = datetime(2026, 11, 5, tzinfo=UTC).timestamp()

SACCT = """\
JobID|JobName|State|Start|End|NodeList|AllocTRES
4711|bert|COMPLETED|2026-11-26T01:00:00|2026-11-26T13:00:00|i-0bbb|cpu=96,gres/gpu=4,node=1
4711.batch|batch|COMPLETED|2026-11-26T01:00:00|2026-11-26T13:00:00|i-0bbb|cpu=96,gres/gpu=4
4712|vit|COMPLETED|2026-11-26T01:00:00|2026-11-26T13:00:00|gpu[001-002]|cpu=96,gres/gpu=16
"""

STRICTER = POLICIES.replace("$10,000", "$20,000")
CASES = """\
tests:
  - name: what nobody measured is unknown, and never idle
    instances:
      - {id: i-1, job: job-1, running_for: 6h}
    unknown:
      - {policy: idle-gpus, subject: job-1}
"""

BROKEN = """\
policies:
  - {name: approve-large-runs, kind: approval, over: $100,000, approvers: ["@leads"]}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where examples run.

    Attributes:
        environment: What a shell would have exported.
        folder: Holds the files that examples name.
    """

    environment: dict[str, str]
    folder: Path


def set_up(folder: Path, sandbox: AwsSandbox) -> Stage:
    """Write the files and fill the AWS double; nothing is read yet."""
    sandbox.reset(_world())
    sandbox.clock.set(NOW)
    user = pwd.getpwuid(os.getuid()).pw_name
    (folder / "gpucost.yaml").write_text(
        CONFIG.format(folder=folder, user=user), encoding="utf-8"
    )
    (folder / "policies.yaml").write_text(POLICIES, encoding="utf-8")
    (folder / "broken.yaml").write_text(BROKEN, encoding="utf-8")
    (folder / "stricter.yaml").write_text(STRICTER, encoding="utf-8")
    (folder / "idle.test.yaml").write_text(CASES, encoding="utf-8")
    (folder / "sacct.txt").write_text(SACCT, encoding="utf-8")
    (folder / "focus.csv").write_text(EXPORT, encoding="utf-8")
    (folder / "earlier.csv").write_text(EARLIER, encoding="utf-8")
    for name in ("focus.csv", "earlier.csv"):
        os.utime(folder / name, (DELIVERED, DELIVERED))
    environment = sandbox.environment() | {
        "GPUCOST_CONFIG": str(folder / "gpucost.yaml"),
        "GPUCOST_POLICIES": str(folder / "policies.yaml"),
        "GPUCOST_NOW": NOW,
    }
    return Stage(environment=environment, folder=folder)


def _world() -> World:
    bill = [
        *_training("2026-11-25", hours="36"),
        *(
            line
            for day in ("2026-11-26", "2026-11-27", "2026-11-28")
            for line in _training(day, hours="48")
        ),
        *_training("2026-11-29", hours="30"),
        cost("2026-11-26", "80", usage_type="BoxUsage:g5.xlarge"),
        other_charge("2026-11-26", "Credit", "-250"),
    ]
    began = "2026-11-25T06:00:00Z"
    busy = [91.0] * 72
    return World(
        now=NOW,
        tags=[CostTag(key="job-id")],
        costs=bill,
        instances=[
            instance("i-0aaa", "p5.48xlarge", launched_at=began, tags=TAGS),
            instance("i-0bbb", "p5.48xlarge", launched_at=began, tags=TAGS),
        ],
        objects=[
            ObjectSeed(
                bucket="models",
                key=f"job-123/checkpoints/step-{step}/model.pt",
                size=3 << 20,
                modified_at=datetime(2026, 11, day, tzinfo=UTC),
            )
            for step, day in ((500, 26), (1000, 27), (1500, 28))
        ],
        metrics=[
            gpu_utilisation(
                name, values, start="2026-11-30T03:00:00Z", gpu=gpu,
            )
            for name, values in (("i-0aaa", busy), ("i-0bbb", [0.0] * 72))
            for gpu in range(8)
        ],
    )  # fmt: skip


def _training(day: str, *, hours: str) -> list[CostSeed]:
    return [
        gpu_hours(day, "p5.48xlarge", hours=hours, price=PRICE, tags=TAGS),
        volume_cost(day, "6.40", tags=TAGS),
    ]
