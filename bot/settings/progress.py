"""The section of the configuration that says where counters of jobs are read.

Knows neither the environment nor how the file is read.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from billing.core.progress import Counter


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CloudWatchProgressSection(_Section):
    """A counter of jobs that is a CloudWatch metric: a dimension names the job."""

    counter: Counter
    namespace: str = Field(min_length=1, max_length=255)
    metric: str = Field(min_length=1, max_length=255)
    dimension: str = Field("job_id", min_length=1, max_length=255)


class ProgressSourcesSection(_Section):
    """Where the progress of jobs is read, beside what they report themselves."""

    cloudwatch: tuple[CloudWatchProgressSection, ...] = ()
