"""The company's AWS account as the double knows it, at an instant."""

from __future__ import annotations

from datetime import datetime, timedelta

from deploy.sandbox.aws.world import (
    Account,
    CostTag,
    ObjectSeed,
    SavingsPlanSeed,
    World,
)
from deploy.sandbox.aws.world_plans import OfferedPlanSeed
from deploy.sandbox.company.bill import bill, plan_days
from deploy.sandbox.company.fleet import instances, signals, spot_prices, volumes
from deploy.sandbox.company.jobs import ACCOUNT, FIRST
from deploy.sandbox.company.prices import (
    ON_DEMAND,
    PLAN_NODES,
    PLAN_RATE,
    PLAN_SHAPE,
    PLANS_OFFERED,
)

BUCKET = "tensor-works-models"
CHECKPOINT_JOB = "job-117"
#: 30 checkpoints, each of two shards, every two hours of the run.
CHECKPOINTS = 30
SHARD_BYTES = 70_000_000_000
FIRST_SAVE = timedelta(days=39, hours=11)


def company_world(now: datetime) -> World:
    """Return everything that AWS knows at an instant."""
    return World(
        caller_account=ACCOUNT,
        accounts=[Account(id=ACCOUNT, name="tensor-works")],
        costs=bill(now),
        tags=[CostTag(key=key) for key in ("job-id", "JobId", "team", "owner", "env")],
        savings_plans=[_plan()],
        offered_plans=_offered(),
        commitments=plan_days(now),
        spot=spot_prices(now),
        instances=instances(now),
        volumes=volumes(now),
        metrics=signals(now),
        objects=[one for one in _checkpoints() if one.modified_at <= now],
    )


def _plan() -> SavingsPlanSeed:
    return SavingsPlanSeed(
        id="0f6b8a52-6f2c-4f0e-9d7e-3b1d6c1c0a11",
        start=FIRST - timedelta(days=90),
        end=FIRST + timedelta(days=275),
        commitment=str(PLAN_RATE * PLAN_NODES),
        account=ACCOUNT,
        rates={f"BoxUsage:{PLAN_SHAPE}": str(PLAN_RATE)},
    )


def _offered() -> list[OfferedPlanSeed]:
    """Return what AWS offers for the type that plans cover."""
    ways = ("No Upfront", "Partial Upfront", "All Upfront")
    return [
        OfferedPlanSeed(
            type=kind,
            years=years,
            payment_option=way,
            rates={PLAN_SHAPE: str(ON_DEMAND[PLAN_SHAPE] * percent / 100)},
        )
        for (kind, years), percents in PLANS_OFFERED.items()
        for way, percent in zip(ways, percents, strict=True)
    ]


def _checkpoints() -> list[ObjectSeed]:
    return [
        ObjectSeed(
            bucket=BUCKET,
            key=f"{CHECKPOINT_JOB}/checkpoints/step-{500 * (number + 1):06d}/{shard}",
            modified_at=FIRST + FIRST_SAVE + timedelta(hours=2 * number),
            size=SHARD_BYTES,
            account=ACCOUNT,
            tags={"job-id": CHECKPOINT_JOB},
        )
        for number in range(CHECKPOINTS)
        for shard in ("model-00.safetensors", "model-01.safetensors")
    ]
