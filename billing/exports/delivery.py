"""Deliveries in a place: which files make up which billing period of which export.

A manifest is written last and lists the files of its delivery, so it alone decides:
older deliveries beside it are not read. Without any manifest a place's own files are
one delivery. Knows names of files; nothing of what is in the tables.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from billing.exports.errors import IncompleteExportError, UnreadableExportError
from billing.exports.files import is_table
from billing.ports import ExportFile, ExportFiles

MANIFEST_BYTES_MAX = 16 * 1024 * 1024
FILES_MAX = 20_000
_MANIFEST = re.compile(r"manifest\.json$", re.IGNORECASE)
_PARTITION = re.compile(r"BILLING_PERIOD=(\d{4})-(\d{2})(?:/|$)", re.IGNORECASE)
_RANGE = re.compile(r"(?:^|/)(\d{4})(\d{2})\d{2}-\d{8}(?:/|$)")
_START = re.compile(r"(\d{4})-?(\d{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The newest delivery of one billing period of one export.

    Attributes:
        export: Which export it is of: stays the same from delivery to delivery.
        fingerprint: Changes with the manifest and with each file.
        period: First day of the billing month; None: whatever the rows say.
        columns: Columns that the files must have; empty without a manifest.
    """

    export: str
    name: str
    fingerprint: str
    period: date | None
    files: tuple[ExportFile, ...]
    columns: tuple[str, ...]
    delivered_at: datetime
    place: ExportFiles = field(compare=False)

    def fetched(self) -> AbstractContextManager[Sequence[str]]:
        """Provide the files on this machine until the context ends."""
        return self.place.fetch(self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a place holds; a manifest that cannot be used is named, with its export."""

    deliveries: tuple[Delivery, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


def find_deliveries(place: ExportFiles) -> Found:
    """Return the newest delivery of each export and period of a place.

    Raises:
        IncompleteExportError: There is nothing to read.
        SourceUnavailableError: The place cannot be listed.
    """
    every = place.files()
    if len(every) > FILES_MAX:
        raise UnreadableExportError(
            f"{place.location!r} holds over {FILES_MAX} files: name an export's own folder"
        )
    manifests = [file for file in every if _MANIFEST.search(file.key)]
    if manifests:
        return _from_manifests(place, every, manifests)
    own = [file for file in every if "/" not in file.key and is_table(file.key)]
    if own:
        return Found(deliveries=(_bare(place, own),))
    below = any(is_table(file.key) for file in every)
    raise IncompleteExportError(
        f"{place.location!r} has tables in folders below it and no manifest: name the"
        " folder of one delivery"
        if below
        else f"{place.location!r} has no manifest, Parquet or CSV files"
    )


def _bare(place: ExportFiles, files: Sequence[ExportFile]) -> Delivery:
    return Delivery(
        export=_hash(["bare", place.location])[:12],
        name=place.location.rstrip("/").rpartition("/")[2],
        fingerprint=_hash(_states(files)),
        period=None,
        files=tuple(files),
        columns=(),
        delivered_at=max(file.modified_at for file in files),
        place=place,
    )


def _from_manifests(
    place: ExportFiles, every: Sequence[ExportFile], manifests: Sequence[ExportFile]
) -> Found:
    """Keep the manifest that counts of each export and period: the outermost one.

    A delivery that keeps older ones has its manifest in a folder of its own and a copy
    outside; where no copy is, the newest counts.
    """
    known = {file.key: file for file in every}
    best: dict[tuple[str, date | None], tuple[tuple[int, datetime], Delivery]] = {}
    problems = []
    for file in _outermost(manifests):
        rank = _rank(file)
        try:
            found = _delivery(place, known, file)
        except (IncompleteExportError, UnreadableExportError) as error:
            problems.append((file.key, str(error), rank[0]))
            continue
        key = (found.export, found.period)
        if key not in best or rank > best[key][0]:
            best[key] = (rank, found)
    # Folders of older deliveries may be cleared away: only outer manifests must hold.
    outer = max((rank[0] for rank, _ in best.values()), default=None)
    named = [
        (name, text)
        for name, text, depth in problems
        if outer is None or depth >= outer
    ]
    chosen = sorted(
        (found for _, found in best.values()),
        key=lambda one: (one.name, one.period or date.min),
    )
    return Found(deliveries=tuple(chosen), problems=tuple(named))


def _rank(manifest: ExportFile) -> tuple[int, datetime]:
    return -manifest.key.count("/"), manifest.modified_at


def _outermost(manifests: Sequence[ExportFile]) -> list[ExportFile]:
    """Leave out manifests whose path says that another one counts: they may be many."""
    best: dict[tuple[str, ...], ExportFile] = {}
    for file in manifests:
        period = _PARTITION.search(file.key) or _RANGE.search(file.key)
        where = file.key[: period.end()] if period else file.key
        key = (file.key.rpartition("/")[2], where)
        if key not in best or _rank(file) > _rank(best[key]):
            best[key] = file
    return list(best.values())


def _delivery(
    place: ExportFiles, known: Mapping[str, ExportFile], file: ExportFile
) -> Delivery:
    manifest, digest = _read(place, file)
    listed = _texts(manifest, "dataFiles") or _texts(manifest, "reportKeys")
    if not listed:
        raise IncompleteExportError(f"{file.key!r} lists no data files")
    files = _resolve(known, file.key, listed)
    name = str(
        manifest.get("exportArn")
        or manifest.get("reportName")
        or _MANIFEST.sub("", file.key.rpartition("/")[2]).rstrip("-")
    )
    return Delivery(
        export=_hash([place.location, name])[:12],
        name=name.rpartition("/")[2],
        fingerprint=_hash([digest, *_states(files)]),
        period=_period(manifest, [file.key, *listed]),
        files=files,
        columns=_columns(manifest),
        delivered_at=max(one.modified_at for one in (file, *files)),
        place=place,
    )


def _read(place: ExportFiles, file: ExportFile) -> tuple[Mapping[str, Any], str]:
    if file.size_bytes > MANIFEST_BYTES_MAX:
        raise UnreadableExportError(f"{file.key!r} is too large for a manifest")
    content = place.read(file)
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableExportError(f"{file.key!r} is not JSON") from error
    if not isinstance(manifest, dict):
        raise UnreadableExportError(f"{file.key!r} is not a manifest")
    return manifest, hashlib.sha256(content).hexdigest()


def _texts(manifest: Mapping[str, Any], name: str) -> list[str]:
    value = manifest.get(name)
    return [str(one) for one in value] if isinstance(value, list) else []


def _columns(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    listed = manifest.get("columns")
    columns = listed if isinstance(listed, list) else []
    return tuple(
        f"{one['category']}/{one['name']}" if one.get("category") else str(one["name"])
        for one in columns
        if isinstance(one, dict) and one.get("name")
    )


def _period(manifest: Mapping[str, Any], paths: Iterable[str]) -> date | None:
    billing = manifest.get("billingPeriod")
    start = billing.get("start") if isinstance(billing, dict) else None
    match = _START.match(str(start or ""))
    for path in paths:
        match = match or _PARTITION.search(path) or _RANGE.search(path)
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), 1)
    except ValueError:
        return None


def _resolve(
    known: Mapping[str, ExportFile], manifest: str, listed: Sequence[str]
) -> tuple[ExportFile, ...]:
    """Return the listed objects among the files of the place.

    The place may mirror the bucket or only a part of it, so leading parts of the keys
    may be missing, the same number of them for every file.
    """
    keys = [_key(text) for text in listed]
    folder = manifest.rpartition("/")[0]
    longest = max(len(parts) for parts in keys)
    missing = ""
    for left_out in range(longest):
        places = ["/".join(parts[min(left_out, len(parts) - 1) :]) for parts in keys]
        if left_out == longest - 1:  # Names alone are looked for beside the manifest.
            places = [f"{folder}/{parts[-1]}".lstrip("/") for parts in keys]
        there = [key in known for key in places]
        if all(there):
            return tuple(known[key] for key in sorted(set(places)))
        if any(there):
            missing = missing or places[there.index(False)].rpartition("/")[2]
    name = missing or keys[0][-1]
    raise IncompleteExportError(
        f"{manifest!r} lists {len(listed)} files, and {name!r} is not there"
    )


def _key(text: str) -> list[str]:
    path = text.partition("://")[2].partition("/")[2] if "://" in text else text
    parts = [part for part in path.split("/") if part]
    if not parts or any(part in {".", ".."} for part in parts):
        raise UnreadableExportError(f"the manifest lists {text!r}, which is no file")
    return parts


def _states(files: Iterable[ExportFile]) -> list[str]:
    return [
        f"{file.key.rpartition('/')[2]}:{file.size_bytes}:{file.version}"
        for file in files
    ]


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
