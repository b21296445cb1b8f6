"""Split cost allocation: which jobs held how much of an instance, by AWS's own account.

Rows of pods and containers (EKS, ECS, Batch) repeat their instance's cost, so they are
weights and never added. A day of an instance with accelerators becomes placements of its
jobs; what was paid for and not used is held by nobody, and so ends as idle. Pure but for
the statements, which are texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_DOWN, Decimal
from typing import Any

from billing.core.attribution import TagKeys, job_of, normalise_job
from billing.core.gpus import gpu_count
from billing.core.periods import DAY, start_of
from billing.core.placements import Placement, PlacementSource
from billing.exports.cells import NO_TEXT, Cells
from billing.exports.headers import Table
from billing.exports.views import ROWS

#: Before the external id of a placement that stands for a day of split cost.
MARK = "split "
#: Accelerators are told to this part of one.
_PLACES = Decimal("0.000001")
_PARENT = "splitLineItem/ParentResourceId"
#: Names of a pod without a job tag, best first: as tags of AWS's own.
_NAMES = ("aws:eks:workload-name", "aws:eks:deployment", "aws:eks:namespace")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRow:
    """What one job used of one instance on one day; ``job`` "" is not known."""

    parent: str
    day: date
    job: str
    used: Decimal
    unused: Decimal


def has_splits(table: Table) -> bool:
    """Tell whether a table has rows of split cost."""
    return bool(table.columns(_PARENT))


def split_sql(table: Table, tags: Mapping[str, str], rows: str = ROWS) -> str:
    """Return the statement of what was used: parent, day, names, used, unused."""
    cell = Cells(table)
    parent = cell.text(_PARENT)
    names = [one for name in _NAMES for one in _names(cell, name)]
    keys = [
        parent,
        f"CAST({cell.instant('lineItem/UsageStartDate')} AS DATE)",
        f"COALESCE({', '.join([*names, NO_TEXT])})",
        *(f"NULLIF({value}, '')" for value in tags.values()),
    ]
    used = cell.amount("splitLineItem/NetSplitCost", "splitLineItem/SplitCost")
    unused = cell.amount("splitLineItem/NetUnusedCost", "splitLineItem/UnusedCost")
    places = ", ".join(str(number) for number in range(1, len(keys) + 1))
    return (
        f"SELECT {', '.join(keys)}, SUM({used}), SUM({unused}) FROM {rows}"  # noqa: S608 - names are ours
        f" WHERE {parent} IS NOT NULL GROUP BY {places}"
    )


def _names(cell: Cells, name: str) -> list[str]:
    """Return a tag of AWS's own, from a column of its own or from a map of tags."""
    spellings = (name, re.sub(r"[^a-z]", "_", name))
    entries = (one for key in spellings for one in cell.entries("resource_tags", key))
    return [
        cell.text(f"resourceTags/{name}"),
        *(f"NULLIF({one}, '')" for one in entries),
    ]


def shape_sql(table: Table, rows: str = ROWS) -> str:
    """Return the statement of which instance is of which usage type."""
    cell = Cells(table)
    resource, kind = cell.text("lineItem/ResourceId"), cell.text("lineItem/UsageType")
    return (
        f"SELECT {resource}, MIN({kind}) FROM {rows}"  # noqa: S608 - names are ours
        f" WHERE {resource} LIKE 'i-%' AND ({kind} LIKE '%BoxUsage:%'"
        f" OR {kind} LIKE '%SpotUsage:%') GROUP BY 1"
    )


def split_rows(
    found: Iterable[Sequence[Any]], tags: Sequence[str], keys: TagKeys
) -> Iterator[SplitRow]:
    """Yield answers of `split_sql` with the job that they mean."""
    for parent, day, name, *values, used, unused in found:
        named = {key: value for key, value in zip(tags, values, strict=True) if value}
        yield SplitRow(
            parent=parent,
            day=day,
            job=job_of(named, keys) or normalise_job(name or ""),
            used=Decimal(used or 0),
            unused=Decimal(unused or 0),
        )


def placements_of(
    rows: Iterable[SplitRow], usage_types: Mapping[str, str]
) -> list[Placement]:
    """Return a placement of each job, day and instance with accelerators.

    A part without a job's name is of nobody known: it is left to the other rules.
    """
    days: dict[tuple[str, date], dict[str, Decimal]] = {}
    whole: dict[tuple[str, date], Decimal] = {}
    for row in rows:
        place = (row.parent, row.day)
        jobs = days.setdefault(place, {})
        jobs[row.job] = jobs.get(row.job, Decimal(0)) + row.used
        whole[place] = whole.get(place, Decimal(0)) + row.used + row.unused
    return [
        _placement(parent, day, job, capacity * used / whole[parent, day])
        for (parent, day), jobs in sorted(days.items())
        if (capacity := gpu_count(usage_types.get(parent, "").rpartition(":")[2]))
        and whole[parent, day] > 0
        for job, used in sorted(jobs.items())
        if job and used > 0
    ]


def _placement(parent: str, day: date, job: str, gpus: Decimal) -> Placement:
    return Placement(
        job=job,
        resource_id=parent,
        started_at=start_of(day),
        ended_at=start_of(day + DAY),
        gpus=gpus.quantize(_PLACES, ROUND_DOWN),
        source=PlacementSource.KUBERNETES,
        external_id=f"{MARK}{day} {job}",
    )


def to_record(
    made: Sequence[Placement], known: Iterable[Placement]
) -> Sequence[Placement]:
    """Return the placements to keep, given those that are known of the same days.

    Where a scheduler told what ran on an instance it is believed, and nothing is added.
    What an earlier delivery said and this one does not is taken back.
    """
    told, ours = set(), {}
    for one in known:
        if one.external_id.startswith(MARK):
            ours[one.resource_id, one.external_id] = one
        else:
            told.add(one.resource_id)
    fresh = {
        (one.resource_id, one.external_id): one
        for one in made
        if one.resource_id not in told
    }
    gone = [
        _nothing(one) for place, one in ours.items() if place not in fresh and one.gpus
    ]
    return [*fresh.values(), *gone]


def _nothing(one: Placement) -> Placement:
    return Placement(
        job=one.job,
        resource_id=one.resource_id,
        started_at=one.started_at,
        ended_at=one.ended_at,
        gpus=Decimal(0),
        source=one.source,
        external_id=one.external_id,
        attempt=one.attempt,
    )
