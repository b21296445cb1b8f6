"""Every policy kind there is, and the JSON Schema of a policy file made from them.

Adding a kind is one module and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from pydantic.json_schema import GenerateJsonSchema

from policies.core.document import Part
from policies.core.finding import Finding
from policies.core.judging import Judgement
from policies.core.kinds import (
    anomaly,
    approval,
    budget,
    capacity,
    checkpoint_retention,
    commitment_coverage,
    custom,
    efficiency,
    failed_launch,
    idle,
    job_spend,
    placement,
    stalled,
    tagging,
    ttl,
    utilization,
)
from policies.core.spelling import spelled
from policies.core.view import View

Policy = (
    anomaly.AnomalyPolicy
    | approval.ApprovalPolicy
    | budget.BudgetPolicy
    | capacity.CapacityPolicy
    | checkpoint_retention.CheckpointRetentionPolicy
    | commitment_coverage.CommitmentCoveragePolicy
    | custom.CustomPolicy
    | efficiency.EfficiencyPolicy
    | failed_launch.FailedLaunchPolicy
    | idle.IdlePolicy
    | job_spend.JobSpendPolicy
    | placement.PlacementPolicy
    | stalled.StalledPolicy
    | tagging.TaggingPolicy
    | ttl.TtlPolicy
    | utilization.UtilizationPolicy
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One policy kind.

    Attributes:
        model: What its keys mean.
        judge: Its pure findings.
        message: The plain text a person gets for one of its findings.
    """

    model: type[Policy]
    judge: Callable[[Any, View, datetime], Judgement]
    message: Callable[[Finding], str]


def _kind(model: type[Policy], module: Any) -> Kind:  # noqa: ANN401 (a module)
    return Kind(model=model, judge=module.judge, message=module.message)


KINDS: Mapping[str, Kind] = {
    "approval": _kind(approval.ApprovalPolicy, approval),
    "idle": _kind(idle.IdlePolicy, idle),
    "ttl": _kind(ttl.TtlPolicy, ttl),
    "checkpoint-retention": _kind(
        checkpoint_retention.CheckpointRetentionPolicy, checkpoint_retention
    ),
    "commitment-coverage": _kind(
        commitment_coverage.CommitmentCoveragePolicy, commitment_coverage
    ),
    "budget": _kind(budget.BudgetPolicy, budget),
    "job-spend": _kind(job_spend.JobSpendPolicy, job_spend),
    "utilization": _kind(utilization.UtilizationPolicy, utilization),
    "tagging": _kind(tagging.TaggingPolicy, tagging),
    "stalled": _kind(stalled.StalledPolicy, stalled),
    "failed-launch": _kind(failed_launch.FailedLaunchPolicy, failed_launch),
    "capacity": _kind(capacity.CapacityPolicy, capacity),
    "anomaly": _kind(anomaly.AnomalyPolicy, anomaly),
    "efficiency": _kind(efficiency.EfficiencyPolicy, efficiency),
    "placement": _kind(placement.PlacementPolicy, placement),
    "custom": _kind(custom.CustomPolicy, custom),
}


class PolicyFile(Part):
    """A file of gpucost policies."""

    policies: tuple[Annotated[Policy, Field(discriminator="kind")], ...] = Field(
        description="the policies, in any order"
    )


class _Schema(GenerateJsonSchema):
    """Writes defaults the way a person writes them."""

    def encode_default(self, dft: Any) -> Any:  # noqa: ANN401 (any key's default)
        return spelled(dft)


def message(finding: Finding) -> str:
    """Return the plain text a person gets for a finding."""
    return KINDS[finding.kind].message(finding)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy file, for editors and other programs."""
    schema = _plainer(PolicyFile.model_json_schema(schema_generator=_Schema))
    for name, definition in schema["$defs"].items():
        if "const" in definition["properties"].get("kind", {}):
            required = {*definition.get("required", []), "kind"}
            definition["required"] = sorted(required)
        if name in {"AfterStep", "BeforeStep"}:
            word = definition["properties"]["do"]
            schema["$defs"][name] = {"anyOf": [word, definition]}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "gpucost policies",
        **schema,
    }


def _plainer(part: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Drop what an editor should not offer: titles, and null for a key left out."""
    if isinstance(part, list):
        return [_plainer(item) for item in part]
    if not isinstance(part, dict):
        return part
    choices = [one for one in part.get("anyOf", []) if one != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: value for key, value in part.items() if key != "anyOf"}
        part = {**choices[0], **rest}
    return {
        key: _plainer(value)
        for key, value in part.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value is None)
    }
