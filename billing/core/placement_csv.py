"""Our own CSV of placements: ``job,resource_id,start,end,gpus`` (or ``host``).

Pure; knows no host.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from datetime import tzinfo
from decimal import Decimal, InvalidOperation

from billing.core.placement_rows import (
    LineNote,
    Parsed,
    PlacementRow,
    job_name,
    numbered,
    read_time,
    span_of,
)

GPUS_MAX = 1024


class NotPlacementsError(ValueError):
    """The file has no header with the needed columns; nothing was read."""


def parse_csv(lines: Iterable[str], zone: tzinfo) -> Parsed:
    """Read placements; what cannot be used is listed by line.

    Raises:
        NotPlacementsError: The first line is no header with the needed columns.
    """
    found = Parsed()
    reader = numbered(lines, found.skipped)
    header = [cell.strip().lower() for cell in _cells(next(reader, (1, ""))[1]) or []]
    place = "resource_id" if "resource_id" in header else "host"
    missing = [name for name in ("job", place, "start", "end") if name not in header]
    if missing:
        raise NotPlacementsError(
            "expected a header line job,resource_id,start,end,gpus (or host for"
            f" resource_id); {', '.join(missing)} not found"
        )
    for line, text in reader:
        cells = _cells(text)
        if cells is None or len(cells) != len(header):
            found.skipped.append(
                LineNote(line, f"not {len(header)} cells, as the header has")
            )
            continue
        _read(found, line, dict(zip(header, cells, strict=True)), zone, place=place)
    return found


def _cells(text: str) -> list[str] | None:
    try:
        return next(csv.reader([text], strict=True), None)
    except csv.Error:
        return None


def _read(
    found: Parsed, line: int, row: Mapping[str, str], zone: tzinfo, *, place: str
) -> None:
    try:
        job = job_name(row["job"])
        host = _host(row[place].strip())
        ended = row["end"].strip()
        start, end, note = span_of(
            read_time(row["start"], zone), read_time(ended, zone) if ended else None
        )
        found.rows.append(
            PlacementRow(
                line=line,
                job=job,
                external_id=job,
                hosts=(host,),
                started_at=start,
                ended_at=end,
                gpus=_gpus(row.get("gpus", "")),
            )
        )
    except ValueError as error:
        found.skipped.append(LineNote(line, str(error)))
        return
    if note:
        found.notes.append(LineNote(line, note))


def _host(text: str) -> str:
    if not text or text.startswith(("=", "+", "-", "@")):
        raise ValueError(f"expected an instance id or a host, got {text[:40]!r}")
    return text


def _gpus(text: str) -> Decimal | None:
    if not text.strip():
        return None
    try:
        count = Decimal(text.strip())
    except InvalidOperation as error:
        raise ValueError(f"expected a number of GPUs, got {text[:40]!r}") from error
    if not (count.is_finite() and 0 <= count <= GPUS_MAX):
        raise ValueError(f"expected 0 to {GPUS_MAX} GPUs, got {text[:40]!r}")
    return count
