"""Deliveries in a folder: which files make up which billing period of which export.

A manifest is written last and lists the files of its delivery, so it alone decides:
older deliveries beside it are not read. Without any manifest a folder's own files are
one delivery. Knows files; nothing of what is in the tables.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from billing.exports.engine import is_table
from billing.exports.errors import IncompleteExportError, UnreadableExportError

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
    files: tuple[Path, ...]
    columns: tuple[str, ...]
    delivered_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a place holds; a manifest that cannot be used is named, with its export."""

    deliveries: tuple[Delivery, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


def find_deliveries(root: Path, location: str) -> Found:
    """Return the newest delivery of each export and period under a folder or file.

    Raises:
        IncompleteExportError: There is nothing to read.
    """
    if root.is_file() and not _MANIFEST.search(root.name):
        return Found(deliveries=(_bare(location, [root]),))
    if not root.exists():
        raise IncompleteExportError(f"there is no file or folder {location!r}")
    base = root.parent if root.is_file() else root
    every = [root] if root.is_file() else _files(base)
    manifests = [path for path in every if _MANIFEST.search(path.name)]
    if manifests:
        return _from_manifests(base, manifests, location)
    own = [path for path in every if path.parent == base and is_table(path)]
    if not own:
        below = any(is_table(path) for path in every)
        raise IncompleteExportError(
            f"{location!r} has tables in folders below it and no manifest: name the"
            " folder of one delivery"
            if below
            else f"{location!r} has no manifest, Parquet or CSV files"
        )
    return Found(deliveries=(_bare(location, own),))


def _files(base: Path) -> list[Path]:
    found = []
    for path in base.rglob("*"):
        if path.is_file():
            found.append(path)
        if len(found) > FILES_MAX:
            raise UnreadableExportError(
                f"{str(base)!r} holds over {FILES_MAX} files: name an export's own folder"
            )
    return sorted(found)


def _bare(location: str, files: Sequence[Path]) -> Delivery:
    return Delivery(
        export=_hash(["bare", location])[:12],
        name=location,
        fingerprint=_hash(_states(files)),
        period=None,
        files=tuple(files),
        columns=(),
        delivered_at=_newest(files),
    )


def _from_manifests(base: Path, manifests: Sequence[Path], location: str) -> Found:
    """Keep the manifest that counts of each export and period: the outermost one.

    A delivery that keeps older ones has its manifest in a folder of its own and a copy
    outside; where no copy is, the newest counts.
    """
    best: dict[tuple[str, date | None], tuple[tuple[int, float], Delivery]] = {}
    problems = []
    for path in manifests:
        rank = (-len(path.relative_to(base).parts), path.stat().st_mtime)
        try:
            found = _delivery(base, path, location)
        except (IncompleteExportError, UnreadableExportError) as error:
            problems.append((path.relative_to(base).as_posix(), str(error), rank[0]))
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


def _delivery(base: Path, path: Path, location: str) -> Delivery:
    manifest, digest = _read(path)
    listed = _texts(manifest, "dataFiles") or _texts(manifest, "reportKeys")
    if not listed:
        raise IncompleteExportError(f"{path.name!r} lists no data files")
    files = _resolve(base, path, listed)
    name = str(
        manifest.get("exportArn")
        or manifest.get("reportName")
        or _MANIFEST.sub("", path.name).rstrip("-")
    )
    return Delivery(
        export=_hash([location, name])[:12],
        name=name.rpartition("/")[2],
        fingerprint=_hash([digest, *_states(files)]),
        period=_period(manifest, [path.relative_to(base).as_posix(), *listed]),
        files=files,
        columns=_columns(manifest),
        delivered_at=_newest([path, *files]),
    )


def _read(path: Path) -> tuple[Mapping[str, Any], str]:
    if path.stat().st_size > MANIFEST_BYTES_MAX:
        raise UnreadableExportError(f"{path.name!r} is too large for a manifest")
    content = path.read_bytes()
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableExportError(f"{path.name!r} is not JSON") from error
    if not isinstance(manifest, dict):
        raise UnreadableExportError(f"{path.name!r} is not a manifest")
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


def _resolve(base: Path, manifest: Path, listed: Sequence[str]) -> tuple[Path, ...]:
    """Return where the listed objects lie in the folder.

    The folder may mirror the bucket or only a part of it, so leading parts of the keys
    may be missing, the same number of them for every file.
    """
    keys = [_key(text) for text in listed]
    longest = max(len(parts) for parts in keys)
    missing = ""
    for left_out in range(longest):
        places = [
            base.joinpath(*parts[min(left_out, len(parts) - 1) :]) for parts in keys
        ]
        if left_out == longest - 1:  # Names alone are looked for beside the manifest.
            places = [manifest.parent / parts[-1] for parts in keys]
        there = [path.is_file() for path in places]
        if all(there):
            return tuple(sorted(set(places)))
        if any(there):
            missing = missing or places[there.index(False)].name
    name = missing or keys[0][-1]
    raise IncompleteExportError(
        f"{manifest.name!r} lists {len(listed)} files, and {name!r} is not there"
    )


def _key(text: str) -> list[str]:
    path = text.partition("://")[2].partition("/")[2] if "://" in text else text
    parts = [part for part in path.split("/") if part]
    if not parts or any(part in {".", ".."} for part in parts):
        raise UnreadableExportError(f"the manifest lists {text!r}, which is no file")
    return parts


def _states(files: Iterable[Path]) -> list[str]:
    found = []
    for path in files:
        state = path.stat()
        found.append(f"{path.name}:{state.st_size}:{state.st_mtime_ns}")
    return found


def _newest(files: Iterable[Path]) -> datetime:
    return datetime.fromtimestamp(max(path.stat().st_mtime for path in files), UTC)


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
