"""Placements that a launcher posts, as the ledger keeps them."""

from __future__ import annotations

from collections.abc import Iterable

from billing.core.attribution import normalise_job
from billing.core.errors import GpucostError
from billing.core.periods import rfc3339, utc
from billing.core.placement_rows import job_name
from billing.core.placements import Placement, PlacementSource
from bot.api.models import PlacementBody


class BadPlacementError(GpucostError, ValueError):
    """A placement cannot be used; nothing of the request was stored."""

    code = "bad_placement"
    exit_code = 2


def placements_of(job: str, bodies: Iterable[PlacementBody]) -> list[Placement]:
    """Return posted placements; without an id of their own, job and start name them.

    Raises:
        BadPlacementError: The job's name cannot be used.
    """
    try:
        name = job_name(job)
    except ValueError as error:
        raise BadPlacementError(str(error)) from error
    return [
        Placement(
            job=name,
            resource_id=body.resource_id.strip(),
            started_at=utc(body.started_at),
            ended_at=None if body.ended_at is None else utc(body.ended_at),
            gpus=body.gpus,
            source=PlacementSource.HTTP,
            external_id=normalise_job(body.external_id)
            or f"{name}@{rfc3339(body.started_at)}",
            attempt=body.attempt,
        )
        for body in bodies
    ]
