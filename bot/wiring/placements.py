"""Files of placements, read line by line into the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from billing.core.errors import GpucostError
from billing.core.placement_csv import NotPlacementsError, parse_csv
from billing.core.placement_rows import LINE_CHARS_MAX, Parsed
from billing.core.placements import PlacementSource
from billing.core.slurm import JobFrom, NotSacctError, parse_sacct
from bot.ports import Store
from bot.use_cases.placements import import_placements
from bot.views.placements import ImportedPlacements

FILE_BYTES_MAX = 1 << 30


class PlacementsFileError(GpucostError, ValueError):
    """The file cannot be read as what it was said to be; nothing was stored."""

    code = "invalid_file"
    exit_code = 2

    def __init__(self, path: str, reason: object) -> None:
        super().__init__(f"{path}: {reason}")


class UnknownZoneError(GpucostError, ValueError):
    """The time zone is not known; times were not guessed."""

    code = "unknown_timezone"
    exit_code = 2
    hint = "name the zone of the scheduler's clock, such as Europe/Berlin or UTC"

    def __init__(self, name: str) -> None:
        super().__init__(f"time zone {name!r} is not known")


def zone_named(name: str) -> tzinfo:
    """Return a time zone by its IANA name.

    Raises:
        UnknownZoneError: There is none of this name.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnknownZoneError(name) from error


def import_file(
    store: Store,
    path: str,
    source: PlacementSource,
    zone: tzinfo,
    *,
    job_from: JobFrom,
    now: datetime,
) -> ImportedPlacements:
    """Import a file of placements.

    Raises:
        PlacementsFileError: It cannot be read, or has no usable header.
    """
    parsed = _parsed(path, source, zone, job_from)
    return import_placements(store, parsed, source, now=now)


def _parsed(
    path: str, source: PlacementSource, zone: tzinfo, job_from: JobFrom
) -> Parsed:
    try:
        if Path(path).stat().st_size > FILE_BYTES_MAX:
            raise PlacementsFileError(path, "the file is larger than 1 GiB")
        lines = _lines(path)
        if source is PlacementSource.SLURM:
            return parse_sacct(lines, zone, job_from=job_from)
        return parse_csv(lines, zone)
    except OSError as error:
        raise PlacementsFileError(path, error.strerror) from error
    except (NotSacctError, NotPlacementsError) as error:
        raise PlacementsFileError(path, error) from error


def _lines(path: str) -> Iterator[str]:
    """Yield lines, each cut behind its longest allowed length: a file may be one line."""
    with Path(path).open(encoding="utf-8-sig", errors="replace", newline="\n") as file:
        while line := file.readline(LINE_CHARS_MAX + 2):
            yield line
            while not line.endswith("\n"):
                line = file.readline(LINE_CHARS_MAX)
                if not line:
                    break
