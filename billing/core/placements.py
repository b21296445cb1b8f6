"""Placements: which job held which accelerators of a resource, and when.

A scheduler (Slurm, Kubernetes) or a launcher says so; it is believed before any tag.
Knows no scheduler and no store.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum


class PlacementSource(StrEnum):
    """Who said where a job ran."""

    SLURM = "slurm"
    CSV = "csv"
    HTTP = "http"
    KUBERNETES = "kubernetes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """One attempt of a job on one resource over one half-open span of time.

    The same (source, external_id, resource_id, attempt) again replaces what was known
    of it, so that a running placement can be told to have ended.

    Attributes:
        job: Job id, normalised (`billing.core.attribution.normalise_job`); never "".
        resource_id: Instance id, such as ``i-0abc``.
        ended_at: None while it runs.
        gpus: Accelerators held, parts of one allowed; 0 for a job that asked for none;
            None when the scheduler does not say (then it held the whole resource).
        external_id: The scheduler's own id of the job (``1234_7``, a pod's uid).
        attempt: 0 for the first start; requeues count up.
    """

    job: str
    resource_id: str
    started_at: datetime
    ended_at: datetime | None
    gpus: Decimal | None
    source: PlacementSource
    external_id: str
    attempt: int = 0

    def __post_init__(self) -> None:
        """Refuse what no scheduler can mean."""
        assert self.job, "a placement belongs to a job"
        assert self.ended_at is None or self.ended_at >= self.started_at
        assert self.gpus is None or self.gpus >= 0
