"""AWS Batch and SageMaker behind a grant: nothing is submitted that is not covered.

What is checked is read out of the call itself, so what is checked is what starts. Both
carry the tag ``gpucost-grant-id``, which `scp.json` demands. Clients are boto3's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

if __package__:
    from deploy.launchers.gpucost_client import Client, Plan, RefusedError, grant_id
else:  # Copied beside a launcher.
    from gpucost_client import (  # type: ignore[import-not-found,no-redef]
        Client,
        Plan,
        RefusedError,
        grant_id,
    )

TAG = "gpucost-grant-id"
_HOUR_S = 3600


def submit_batch_job(
    batch: Any,  # noqa: ANN401 - boto3's clients have no types
    client: Client,
    grant: str,
    *,
    instance_type: str,
    call: Mapping[str, Any],
    purchase: str = "on-demand",
    region: str = "",
) -> dict[str, Any]:
    """Submit a job to AWS Batch under a grant.

    Args:
        batch: ``boto3.client("batch")``.
        client: Asks gpucost.
        grant: From `Client.cleared`.
        instance_type: What the queue's compute environment starts: a call cannot say.
        call: What ``submit_job`` takes, with a ``timeout``; its job is ``tags.job-id``,
            else ``jobName``.
        purchase: How the compute environment buys.
        region: Where; by default where gpucost thinks its runs are.

    Raises:
        RefusedError: It is not covered; nothing was submitted.
    """
    tags = dict(call.get("tags") or {})
    seconds = (call.get("timeout") or {}).get("attemptDurationSeconds")
    if not seconds:
        message = "an AWS Batch job needs a timeout: it is the hours that are checked"
        raise RefusedError(message)
    plan = Plan(
        job=tags.get("job-id") or call["jobName"], instance_type=instance_type,
        count=_batch_count(call), hours=seconds / _HOUR_S, purchase=purchase,
        region=region,
    )  # fmt: skip
    _must_cover(client, plan, grant)
    tags[TAG] = grant_id(grant)
    found: dict[str, Any] = batch.submit_job(
        **{**call, "tags": tags, "propagateTags": True}
    )
    return found


def _batch_count(call: Mapping[str, Any]) -> int:
    """Return the machines of a call: nodes of one job, for each job of an array."""
    nodes = (call.get("nodeOverrides") or {}).get("numNodes") or 1
    size = (call.get("arrayProperties") or {}).get("size") or 1
    return int(nodes) * int(size)


def create_training_job(
    sagemaker: Any,  # noqa: ANN401 - as above
    client: Client,
    grant: str,
    *,
    call: Mapping[str, Any],
    region: str = "",
) -> dict[str, Any]:
    """Start a SageMaker training job under a grant.

    Args:
        sagemaker: ``boto3.client("sagemaker")``.
        client: Asks gpucost.
        grant: From `Client.cleared`; instance types are SageMaker's (``ml.…``).
        call: What ``create_training_job`` takes; its job is the tag ``job-id``, else
            ``TrainingJobName``.
        region: As above.

    Raises:
        RefusedError: It is not covered; nothing was started.
    """
    tags = {one["Key"]: one["Value"] for one in call.get("Tags") or []}
    resources = call["ResourceConfig"]
    groups = resources.get("InstanceGroups")
    if groups or not resources.get("InstanceType"):
        message = "a grant names one instance type: start each instance group by itself"
        raise RefusedError(message)
    limit = call["StoppingCondition"]
    is_spot = call.get("EnableManagedSpotTraining") is True
    plan = Plan(
        job=tags.get("job-id") or call["TrainingJobName"],
        instance_type=resources["InstanceType"],
        count=int(resources["InstanceCount"]),
        hours=limit["MaxRuntimeInSeconds"] / _HOUR_S,
        purchase="spot" if is_spot else "on-demand",
        region=region,
    )
    _must_cover(client, plan, grant)
    tags[TAG] = grant_id(grant)
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    found: dict[str, Any] = sagemaker.create_training_job(**{**call, "Tags": listed})
    return found


def _must_cover(client: Client, plan: Plan, grant: str) -> None:
    answer = client.may_start(plan, grant)
    if not answer.covered:
        raise RefusedError(answer.reason)
