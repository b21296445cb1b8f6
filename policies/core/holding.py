"""What keeps a checkpoint whatever a rule says: a tag, a lease, a job resumed from it.

A lease or a keep is said by an object tag, or by an empty object in the folder whose
name says it, which a listing shows by itself. What cannot be read holds. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from math import isfinite

from billing.core.periods import rfc3339
from billing.ports import StoredObject
from policies.core.finding import Target
from policies.core.retention import Checkpoint

KEEP = "gpucost-keep"
LEASE = "gpucost-lease-until"
#: Tag of an instance: what its job was resumed from, as an S3 address.
RESUMED_FROM = "gpucost-resumed-from"
#: Tag that is put on every version of a checkpoint that may be deleted.
QUARANTINE = "gpucost-quarantine"
CHECKPOINT = "checkpoint"


def kept_by_tags(tags: Mapping[str, str], now: datetime) -> str:
    """Say why tags of an object keep its checkpoint; "" when they do not."""
    if tags.get(KEEP, "").strip().lower() not in {"", "false"}:
        return f"tagged {KEEP}"
    return _lease(tags[LEASE], now) if LEASE in tags else ""


def kept_by_mark(key: str, now: datetime) -> str:
    """Say why the name of an object keeps its checkpoint; "" when it does not."""
    name = key.rpartition("/")[2]
    if name == KEEP:
        return f"marked {KEEP}"
    end = name.removeprefix(f"{LEASE}-")
    return _lease(end, now) if end != name else ""


def _lease(text: str, now: datetime) -> str:
    end: datetime | None
    try:
        end = datetime.fromisoformat(text.strip())
    except ValueError:
        end = None
    if end is None or end.tzinfo is None:
        return f"leased until {text!r}, which is no instant with a zone"
    return f"leased until {rfc3339(end)}" if end > now else ""


def held(
    checkpoints: Iterable[Checkpoint],
    tags: Mapping[str, Mapping[str, str]] | None,
    resumed_from: Iterable[str],
    now: datetime,
) -> Mapping[str, str]:
    """Return why checkpoints must stay, by folder.

    Args:
        checkpoints: All of a job.
        tags: Tags by key, of those that were read; None: nobody reads tags.
        resumed_from: S3 addresses that running jobs were resumed from.
        now: The instant leases are measured at.
    """
    sources = tuple(f"{one.rstrip('/')}/" for one in resumed_from)
    found = {}
    for one in checkpoints:
        reason = _held(one, tags, sources, now)
        if reason:
            found[one.folder] = reason
    return found


def _held(
    one: Checkpoint,
    tags: Mapping[str, Mapping[str, str]] | None,
    sources: tuple[str, ...],
    now: datetime,
) -> str:
    address = address_of(one)
    if any(some.startswith(address) or address.startswith(some) for some in sources):
        return "a running job was resumed from it"
    current = [part.key for part in one.parts if part.is_current]
    reasons = [kept_by_mark(key, now) for key in current]
    if tags is not None:
        reasons += [kept_by_tags(tags.get(key, {}), now) for key in current]
        if any(key not in tags for key in current):
            reasons.append("its tags are unknown")
    return next((reason for reason in reasons if reason), "")


def address_of(one: Checkpoint) -> str:
    """Return the S3 address of a checkpoint's folder."""
    bucket = one.parts[0].bucket if one.parts else ""
    return f"s3://{bucket}/{one.folder}"


def scores_of(
    checkpoints: Iterable[Checkpoint],
    tags: Mapping[str, Mapping[str, str]] | None,
    metric: str,
) -> Mapping[int, float]:
    """Return the metric by step, as an object tag of its name tells it."""
    scores = {}
    for one in checkpoints:
        told = {
            (tags or {}).get(part.key, {}).get(metric)
            for part in one.parts
            if part.is_current
        } - {None}
        value = _number(told.pop() or "") if len(told) == 1 else None
        if value is not None:
            scores[one.step] = value
    return scores


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def digest(parts: Iterable[StoredObject]) -> str:
    """Return the identity of exactly these versions of these objects."""
    lines = sorted("\x1f".join(map(str, _identity(one))) for one in parts)
    text = "\x1e".join(lines).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:32]


def _identity(one: StoredObject) -> tuple[object, ...]:
    at = one.modified_at.isoformat()
    return (one.key, one.version_id, one.size_bytes, at, one.is_current)


def target_of(one: Checkpoint) -> Target:
    """Return a checkpoint as actions name it."""
    return Target(
        resource_id=address_of(one), account="", region="", manager="s3",
        lifecycle="", started_at=one.written_at, kind=CHECKPOINT,
        version=digest(one.parts),
    )  # fmt: skip
