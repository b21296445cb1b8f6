"""Bodies and queries of `/v1`, validated; everything else is refused by name."""

from __future__ import annotations

from datetime import UTC, date
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from billing.core.progress import COUNT_MAX
from bot.use_cases.estimate import COUNT_MAX as INSTANCES_MAX

PROGRESS_REPORTS_MAX = 500
PLACEMENTS_MAX = 500
WAIT_MAX_S = 60
_ID_CHARS = r"[\w.:=+@/-][\w .:=+@/-]*"

JobId = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=256, pattern=rf"^{_ID_CHARS}$"
    ),
]
Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, max_length=256, pattern=r"^[\w .:=+@/-]*$"
    ),
]
Email = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, max_length=254, pattern=r"^[^@\s]+@[^@\s]+$"
    ),
]
Count = Annotated[int, Field(ge=0, le=COUNT_MAX, strict=True)]
#: A number or its text; texts keep what floats would lose.
Hours = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) in {int, float} else value),
    StringConstraints(max_length=32),
    Field(description="Planned productive hours, such as 72 or 1.5."),
]
Instant = Annotated[AwareDatetime, AfterValidator(lambda at: at.astimezone(UTC))]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class RunBody(_Body):
    """A planned run."""

    instance_type: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    count: Annotated[int, Field(ge=1, le=INSTANCES_MAX, strict=True)]
    hours: Hours
    purchase: Annotated[str, StringConstraints(max_length=32)] = "on-demand"
    region: Annotated[str, StringConstraints(max_length=32)] = ""
    job: Name = ""


#: Texts of `gpucost estimate` that `EstimateBody.options` hands on.
_OPTIONS = {
    *("deadline", "stage", "model_params", "bytes_per_param", "optimizer"),
    *("checkpoint_every", "keep", "compare", "on_premises", "retrain_per_year"),
    "quoted_price",
}
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class EstimateBody(RunBody):
    """What `gpucost estimate` takes."""

    time_limit: bool = False
    deadline: Text = ""
    interruptible: bool = False
    stage: Text = ""
    model_params: Text = ""
    bytes_per_param: Text = ""
    optimizer: Text = ""
    checkpoint_every: Text = ""
    keep: Text = ""
    compare: Text = ""
    on_premises: Text = ""
    retrain_per_year: Text = ""
    quoted_price: Text = ""

    def options(self) -> list[tuple[str, str]]:
        """Return what the run can bear, by the names of the command line."""
        given = self.model_dump(include=_OPTIONS)
        found = [(name, text) for name, text in given.items() if text]
        return [*found, ("interruptible", "")] if self.interruptible else found


class ApprovalBody(RunBody):
    """What `gpucost approval request` takes; the requester is the token's by default."""

    job: JobId
    reason: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)
    ]
    requester: Email | None = None


class CheckBody(RunBody):
    """What `gpucost approval verify` takes."""

    job: JobId
    grant: Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class ReportBody(_Body):
    """How far a job is; each counter counts since the job began, over all attempts."""

    steps: Count | None = None
    tokens: Count | None = None
    samples: Count | None = None
    at: Instant | None = Field(None, description="Default: when it arrives.")
    attempt: Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)] | None = None

    @model_validator(mode="after")
    def _is_report(self) -> Self:
        if not self.counts_something():
            message = "name at least one of steps, tokens and samples"
            raise ValueError(message)
        return self

    def counts_something(self) -> bool:
        """Tell whether any counter is named."""
        return not (self.steps is self.tokens is self.samples is None)


class ProgressBody(ReportBody):
    """One report, or several that were held back, under ``reports``."""

    reports: Annotated[
        tuple[ReportBody, ...], Field(max_length=PROGRESS_REPORTS_MAX)
    ] = ()

    @model_validator(mode="after")
    def _is_report(self) -> Self:
        mine = {"steps", "tokens", "samples", "at", "attempt"} & self.model_fields_set
        if self.reports and mine:
            message = "give one report, or several under reports, not both"
            raise ValueError(message)
        if not self.reports and not self.counts_something():
            message = "name at least one of steps, tokens and samples, or reports"
            raise ValueError(message)
        return self

    @property
    def all(self) -> tuple[ReportBody, ...]:
        """Return every report."""
        return self.reports or (self,)


class PlacementBody(_Body):
    """Where a job held accelerators; no ``ended_at`` while it runs."""

    resource_id: JobId
    started_at: Instant
    ended_at: Instant | None = None
    gpus: Annotated[Decimal, Field(ge=0, le=1024)] | None = None
    external_id: Name = ""
    attempt: Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)] = 0

    @model_validator(mode="after")
    def _order(self) -> Self:
        if self.ended_at is not None and self.ended_at < self.started_at:
            message = "ended_at must not lie before started_at"
            raise ValueError(message)
        return self


class PlacementsBody(_Body):
    """Placements of one job."""

    placements: Annotated[
        tuple[PlacementBody, ...], Field(min_length=1, max_length=PLACEMENTS_MAX)
    ]


class CostQuery(_Body):
    """The query of a question about cost."""

    by: Literal[
        "", "job", "team", "category", "service", "day", "account", "region",
        "purchase", "leak",
    ] = ""  # fmt: skip
    since: date | None = None
    until: date | None = None
    metric: Literal["effective", "billed", "list"] = "effective"
    net: bool = False

    @model_validator(mode="after")
    def _order(self) -> Self:
        if self.since and self.until and self.until <= self.since:
            message = "until must be a day after since; it is exclusive"
            raise ValueError(message)
        return self


class WaitQuery(_Body):
    """How long to wait for a decision, in seconds."""

    wait: Annotated[int, Field(ge=0, le=WAIT_MAX_S)] = 0
