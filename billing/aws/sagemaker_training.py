"""SageMaker training jobs and the warm pools they leave.

What runs, what ended lately and what is kept warm is asked for apart: jobs are never
deleted, so a list of all of them only grows. Must not know prices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from billing.aws.calls import ask, whole
from billing.aws.service_calls import (
    SAGEMAKER_TAGS,
    Found,
    Scope,
    every,
    listing,
    sagemaker_tags,
    single,
)
from billing.core.fleet import Lifecycle
from billing.core.periods import utc
from billing.core.priced import SERVERLESS
from billing.core.resources import Resource
from billing.core.usage import ResourceKind

#: How far back ended jobs are looked at: one may start and end between two polls.
ENDED_WITHIN = timedelta(hours=6)
PAGE_SIZE = 100

JOBS = listing(
    "list_training_jobs", "sagemaker:ListTrainingJobs", "TrainingJobSummaries"
)
JOB = single(
    "describe_training_job",
    "sagemaker:DescribeTrainingJob",
    *("TrainingJobArn", "TrainingJobStatus", "ResourceConfig"),
)
PERMISSIONS = (JOBS.permission, JOB.permission, SAGEMAKER_TAGS.permission)

_KEPT = "Available"


def read_training(scope: Scope) -> Found:
    """Read the jobs that run, ended lately, or keep instances warm."""
    found: list[Resource] = []
    for name in sorted(_names(scope)):
        raw = ask(scope.client, JOB, {"TrainingJobName": name}, place=scope.place)
        with whole(JOB, scope.place):
            if raw.get("TrainingStartTime") is None:
                continue  # Instances are being looked for: nothing is billed yet.
            tags = sagemaker_tags(scope, raw["TrainingJobArn"])
            found += _resources(raw, scope, tags)
    return Found(resources=tuple(found))


def _names(scope: Scope) -> set[str]:
    questions: tuple[dict[str, Any], ...] = (
        {"StatusEquals": "InProgress"},
        {"StatusEquals": "Stopping"},
        {"LastModifiedTimeAfter": scope.now - ENDED_WITHIN},
        {"WarmPoolStatusEquals": _KEPT},
    )
    names = set()
    for asked in questions:
        for entry in every(scope, JOBS, {**asked, "MaxResults": PAGE_SIZE}):
            with whole(JOBS, scope.place):
                names.add(str(entry["TrainingJobName"]))
    return names


def _resources(
    raw: Mapping[str, Any], scope: Scope, tags: Mapping[str, str]
) -> Iterator[Resource]:
    started_at = utc(raw["TrainingStartTime"])
    ended_at = utc(raw["TrainingEndTime"]) if raw.get("TrainingEndTime") else None
    for suffix, instance_type, count in _groups(raw["ResourceConfig"]):
        job = Resource(
            resource_id=f"{raw['TrainingJobArn']}{suffix}",
            kind=ResourceKind.TRAINING_JOB,
            account=scope.account,
            region=scope.region,
            shape=instance_type,
            lifecycle=_lifecycle(raw),
            started_at=started_at,
            ended_at=ended_at,
            is_running=ended_at is None,
            units=count,
            billed_s=None if ended_at is None else raw.get("BillableTimeInSeconds"),
            reservation_id=raw["ResourceConfig"].get("TrainingPlanArn", ""),
            tags=tags,
        )
        yield job
        if ended_at is not None and raw.get("WarmPoolStatus"):
            yield from _warm_pool(job, raw["WarmPoolStatus"], ended_at)


def _groups(config: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield ``(id suffix, instance type, instances)`` of each part of a job's cluster."""
    groups = config.get("InstanceGroups") or ()
    for group in groups:
        suffix = f"/group/{group['InstanceGroupName']}"
        yield suffix, group["InstanceType"], int(group["InstanceCount"])
    if not groups:
        yield (
            "",
            config.get("InstanceType") or SERVERLESS,
            int(config.get("InstanceCount") or 1),
        )


def _lifecycle(raw: Mapping[str, Any]) -> Lifecycle:
    if raw["ResourceConfig"].get("TrainingPlanArn"):
        return Lifecycle.TRAINING_PLAN
    if raw.get("EnableManagedSpotTraining"):
        return Lifecycle.MANAGED_SPOT
    return Lifecycle.ON_DEMAND


def _warm_pool(
    job: Resource, status: Mapping[str, Any], since: datetime
) -> Iterator[Resource]:
    """Yield the instances that stay after a job, billed at its price."""
    is_kept = status["Status"] == _KEPT
    kept_s = status.get("ResourceRetainedBillableTimeInSeconds")
    if not is_kept and not kept_s:
        return
    yield Resource(
        resource_id=f"{job.resource_id}/warm-pool",
        kind=ResourceKind.WARM_POOL,
        account=job.account,
        region=job.region,
        shape=job.shape,
        started_at=since,
        ended_at=None if is_kept else since + timedelta(seconds=int(kept_s or 0)),
        is_running=is_kept,
        units=job.units,
        tags=job.tags,
    )
