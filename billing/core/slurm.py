"""Slurm's accounting, as ``sacct --parsable2`` prints it, read into placement rows.

Only allocations count: steps, ``.batch`` and ``.extern`` repeat them. The columns are
those of https://slurm.schedmd.com/sacct.html; times have no zone of their own.
Pure; knows no host.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import tzinfo
from decimal import Decimal, InvalidOperation
from typing import Literal

from billing.core.hostlist import expand_hosts
from billing.core.placement_rows import (
    LineNote,
    LocalTime,
    Parsed,
    PlacementRow,
    job_name,
    numbered,
    read_time,
    span_of,
)

JobFrom = Literal["jobid", "jobname", "comment", "wckey"]
NEEDED = ("JobID", "Start", "End", "NodeList")
JOB_PREFIX = "slurm-"
_COLUMN_OF = {"jobname": "jobname", "comment": "comment", "wckey": "wckey"}
_NEVER = frozenset({"", "unknown", "none"})
_NO_NODES = frozenset({"", "none", "none assigned", "(null)"})
_GPU, _GPU_TYPED = "gres/gpu", "gres/gpu:"


class NotSacctError(ValueError):
    """The file is no output of ``sacct --parsable2`` with a header; nothing was read."""


def parse_sacct(
    lines: Iterable[str], zone: tzinfo, *, job_from: JobFrom = "jobid"
) -> Parsed:
    """Read the allocations of a file; what cannot be used is listed by line.

    Raises:
        NotSacctError: The first line is no header with the needed columns.
    """
    found = Parsed()
    reader = numbered(lines, found.skipped)
    header = _header(next(reader, (1, ""))[1], job_from)
    cells: list[tuple[int, Mapping[str, str]]] = []
    for line, text in reader:
        parts = text.split("|")
        if len(parts) != len(header):
            reason = f"{len(parts)} columns, the header has {len(header)}"
            found.skipped.append(LineNote(line, reason))
        else:
            cells.append((line, dict(zip(header, parts, strict=True))))
    # A cluster that does not account for accelerators says nothing about any job's.
    is_told = any(_GPU in row.get("alloctres", "") for _, row in cells)
    for line, row in cells:
        _read(found, line, row, zone, job_from=job_from, is_told=is_told)
    return found


def _header(text: str, job_from: JobFrom) -> list[str]:
    names = [name.strip().lower() for name in text.split("|")]
    wanted = [*NEEDED, *([] if job_from == "jobid" else [job_from])]
    missing = [name for name in wanted if name.lower() not in names]
    if missing:
        raise NotSacctError(
            "expected a header line with the columns"
            f" {', '.join(wanted)} separated by |; {', '.join(missing)} not found"
        )
    return names


def _read(
    found: Parsed,
    line: int,
    row: Mapping[str, str],
    zone: tzinfo,
    *,
    job_from: JobFrom,
    is_told: bool,
) -> None:
    number = row["jobid"].strip()
    is_step = "." in number
    has_nodes = row["nodelist"].strip().lower() not in _NO_NODES
    if is_step or not has_nodes or row["start"].strip().lower() in _NEVER:
        found.ignored += 1
        return
    try:
        hosts = expand_hosts(row["nodelist"])
        start, end, note = span_of(read_time(row["start"], zone), _end(row, zone))
        name = row.get(_COLUMN_OF.get(job_from, ""), "").strip()
        found.rows.append(
            PlacementRow(
                line=line,
                job=job_name(name or f"{JOB_PREFIX}{number}"),
                external_id=job_name(number),
                hosts=hosts,
                started_at=start,
                ended_at=end,
                gpus=_gpus(row.get("alloctres", ""), len(hosts)) if is_told else None,
            )
        )
    except ValueError as error:
        found.skipped.append(LineNote(line, str(error)))
        return
    if note:
        found.notes.append(LineNote(line, note))


def _end(row: Mapping[str, str], zone: tzinfo) -> LocalTime | None:
    text = row["end"].strip()
    return None if text.lower() in _NEVER else read_time(text, zone)


def _gpus(tres: str, hosts: int) -> Decimal:
    """Return the accelerators of each node; Slurm tells their sum.

    ``gres/gpu=8,gres/gpu:h100=8`` names the same eight twice.
    """
    total, typed = None, Decimal(0)
    for part in tres.split(","):
        name, _, value = part.strip().partition("=")
        if name == _GPU:
            total = _count(value)
        elif name.startswith(_GPU_TYPED):
            typed += _count(value)
    return (typed if total is None else total) / hosts


def _count(text: str) -> Decimal:
    try:
        count = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"expected a number of GPUs, got {text[:40]!r}") from error
    if not (count.is_finite() and 0 <= count <= 10**6):
        raise ValueError(f"expected a number of GPUs, got {text[:40]!r}")
    return count
