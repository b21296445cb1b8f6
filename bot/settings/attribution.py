"""The section of the configuration that says whom cost belongs to.

Knows neither the environment nor how the file is read.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from billing.core.assignments import MappingRule
from billing.core.attribution import TagKeys, normalise_job
from billing.core.claims import LATE_TAGS, TEAM_PREFIX, AttributionRules
from policies.core.quantities import parse_duration

ParentKind = Literal["sagemaker", "skypilot", "batch", "parallelcluster", "eks", "asg"]
SharedKind = Literal["nat", "fsx", "transfer"]


def _duration(value: object) -> timedelta:
    return value if isinstance(value, timedelta) else parse_duration(str(value))


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WhereSection(_Section):
    """What a mapping rule fits; every condition that is given must hold.

    Attributes:
        service: Part of the service's name, as the bill writes it.
        usage_type: A pattern such as ``*BoxUsage:p5.*``.
        tag: One tag of the resource, ``{project: bert}``; "" fits any value.
    """

    account: str = Field("", pattern=r"^([0-9]{12})?$")
    region: str = ""
    service: str = ""
    usage_type: str = ""
    tag: dict[str, str] = Field(default_factory=dict, max_length=1)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not any(
            (self.account, self.region, self.service, self.usage_type, self.tag)
        ):
            message = "where must name an account, region, service, usage_type or tag"
            raise ValueError(message)
        return self


class RuleSection(_Section):
    """One mapping rule: where it fits, untagged cost belongs to a job or a team."""

    where: WhereSection
    job: str = ""
    team: str = ""
    name: str = ""

    @model_validator(mode="after")
    def _one_owner(self) -> Self:
        if bool(normalise_job(self.job)) == bool(self.team.strip()):
            message = "a rule names either a job or a team"
            raise ValueError(message)
        return self


class AttributionSection(_Section):
    """Whom cost belongs to, beside job tags.

    Attributes:
        late_tags: A job tag that appears this soon after a start counts from the start.
        parents: Kinds of parents that lend their name to what they started.
        shared: What is split by GPU hours of the same account, region and day.
        rules: Asked last, the first that fits counts.
        kubernetes_job_label: The pod label that names the job.
    """

    late_tags: Annotated[timedelta, BeforeValidator(_duration)] = LATE_TAGS
    parents: tuple[ParentKind, ...] = (
        *("sagemaker", "skypilot", "batch", "parallelcluster", "eks", "asg"),
    )
    shared: tuple[SharedKind, ...] = ("nat", "fsx", "transfer")
    rules: tuple[RuleSection, ...] = ()
    kubernetes_job_label: str = "job-id"

    @model_validator(mode="after")
    def _late_within_reason(self) -> Self:
        if not timedelta(0) <= self.late_tags <= timedelta(days=1):
            message = f"late_tags must be between 0m and 24h, got {self.late_tags}"
            raise ValueError(message)
        return self


def attribution_rules(
    section: AttributionSection, keys: TagKeys, *, is_proportional: bool
) -> AttributionRules:
    """Return the section as the ledger takes it."""
    return AttributionRules(
        keys=keys,
        late_tags=section.late_tags,
        parents=section.parents,
        mapping=tuple(
            _mapping(rule, number) for number, rule in enumerate(section.rules, 1)
        ),
        shares=section.shared,
        is_proportional=is_proportional,
    )


def _mapping(rule: RuleSection, number: int) -> MappingRule:
    team = rule.team.strip().lower()
    (key, value), *_ = [*rule.where.tag.items(), ("", "")]
    return MappingRule(
        to_key=f"{TEAM_PREFIX}{team}" if team else normalise_job(rule.job),
        name=rule.name or str(number),
        account=rule.where.account,
        region=rule.where.region,
        service=rule.where.service,
        usage_type=rule.where.usage_type,
        tag_key=key,
        tag_value=value,
    )
