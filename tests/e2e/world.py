"""What the double's AWS holds in these tests, and the policies over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from deploy.sandbox.aws import World
from deploy.sandbox.aws.builders import (
    days,
    gpu_hours,
    gpu_utilisation,
    instance,
    instant,
    volume_cost,
)
from deploy.sandbox.aws.world import (
    DEFAULT_ACCOUNT,
    CostSeed,
    CostTag,
    InstanceSeed,
    MetricSeed,
)

#: A Tuesday; days before the 11th are older than 72 hours.
NOW = "2026-04-14T06:00:00Z"
ACCOUNT = DEFAULT_ACCOUNT
SHAPE = "p5.48xlarge"
PRICE = "55.04"
JOB = "job-123"
FIRST_DAY, LAST_DAY = "2026-04-08", "2026-04-14"

#: Schedules that no test's clock reaches: what a test wants, it names.
NEVER_DAYS = 2000
NEVER = dict.fromkeys(
    ("cost_explorer", "inventory", "prices", "policies", "commitments"),
    f"{NEVER_DAYS}d",
)

APPROVALS = """
policies:
  - name: approve-large-runs
    kind: approval
    over: $10,000
    approvers: ["@gpu-approvers"]
    expires_after: 24h
"""

IDLE = """
policies:
  - name: tell-idle-gpus
    kind: idle
    signals: {gpu_utilization: "< 5%"}
    for: 30m
    mode: notify
"""


def later(instant_text: str, **step: float) -> str:
    """Return an instant some time after another, as GPUCOST_NOW takes it."""
    found = instant(instant_text) + timedelta(**step)
    return found.isoformat().replace("+00:00", "Z")


def node(number: int, **tags: str) -> InstanceSeed:
    """Return one running instance of eight GPUs, launched on the first day."""
    named = {key.replace("_", "-"): value for key, value in tags.items()}
    return instance(
        f"i-0{number:016x}", SHAPE, launched_at=f"{FIRST_DAY}T00:00:00", tags=named
    )


def gpu_series(
    number: int, *, value: float, gpus: Iterable[int] = range(8)
) -> list[MetricSeed]:
    """Return an hour before and after NOW of one instance's GPUs."""
    start = later(NOW, hours=-1)
    return [
        gpu_utilisation(f"i-0{number:016x}", [value] * 24, start=start, gpu=gpu)
        for gpu in gpus
    ]


def bill(
    job: str = JOB, *, hours: str = "24", tags: Mapping[str, str] | None = None
) -> list[CostSeed]:
    """Return one instance's compute and storage on every day."""
    named = tags or {"job-id": job}
    return [
        line
        for day in days(FIRST_DAY, LAST_DAY)
        for line in (
            gpu_hours(day, SHAPE, hours=hours, price=PRICE, tags=named),
            volume_cost(day, "3.21", tags=named),
        )
    ]


def company(**fields: object) -> World:
    """Return a job that has run for six days, its bill and its instance."""
    values: dict[str, object] = {
        "costs": bill(),
        "tags": [CostTag(key="job-id")],
        "instances": [node(1, job_id=JOB, owner="mia@example.com", team="research")],
        "metrics": gpu_series(1, value=93),
    }
    return World(**(values | fields))  # type: ignore[arg-type] # fields of a world
