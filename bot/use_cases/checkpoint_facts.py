"""Gather what is stored under checkpoint locations: versions, tags, leftovers, prices.

Tags are read only of what a rule would let go, and of everything where a metric ranks;
what could not be read stays unknown, and what is unknown is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from billing.core.fleet import ScopeFailure
from billing.core.money import Money
from billing.core.storage_prices import prices_in
from billing.ports import (
    ObjectDetails,
    ObjectSource,
    SourceUnavailableError,
    StoredObject,
    UnfinishedUpload,
)
from policies.core.catalogue import Policy
from policies.core.facts import CheckpointFacts
from policies.core.kinds.checkpoint_retention import CheckpointRetentionPolicy
from policies.core.locations import Location
from policies.core.retention import checkpoints_of, plan

#: Versions under one location beyond this are not listed: S3 Inventory is for that.
OBJECTS_MAX = 1_000_000
#: Objects of one location whose tags are read at most; each takes a request.
TAGS_MAX = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    objects: ObjectSource
    details: ObjectDetails | None
    failures: list[ScopeFailure]


def failure_of(error: SourceUnavailableError) -> ScopeFailure:
    """Return a source's failure as a value."""
    return ScopeFailure(
        source=error.source, account=error.account, region=error.region,
        code=error.code, message=str(error),
    )  # fmt: skip


def checkpoint_facts(
    policies: Iterable[Policy],
    objects: ObjectSource | None,
    details: ObjectDetails | None,
    *,
    now: datetime,
) -> tuple[tuple[CheckpointFacts, ...], Sequence[ScopeFailure]]:
    """List every location that policies are about, once each; none without a source."""
    if objects is None:
        return (), ()
    by_location: dict[str, list[CheckpointRetentionPolicy]] = {}
    for policy in policies:
        if isinstance(policy, CheckpointRetentionPolicy):
            by_location.setdefault(policy.location.text, []).append(policy)
    sources = _Sources(objects=objects, details=details, failures=[])
    facts = tuple(
        _facts(by_location[text], sources, now) for text in sorted(by_location)
    )
    return facts, sources.failures


def _facts(
    policies: Sequence[CheckpointRetentionPolicy], sources: _Sources, now: datetime
) -> CheckpointFacts:
    location = policies[0].location
    versions, is_complete = _listed(location, sources)
    facts = CheckpointFacts(
        location=location.text, objects=versions, is_complete=is_complete
    )
    if sources.details is None or not is_complete:
        return facts
    return replace(
        facts,
        tags=_tags(policies, versions, sources.details, sources, now),
        uploads=_uploads(location, sources.details, sources),
        prices=_prices(location, sources.details, sources),
    )


def _listed(
    location: Location, sources: _Sources
) -> tuple[tuple[StoredObject, ...], bool]:
    found: list[StoredObject] = []
    try:
        for page in sources.objects.objects(location.bucket, location.prefix):
            found.extend(page)
            if len(found) > OBJECTS_MAX:
                return tuple(found), False
    except SourceUnavailableError as error:
        sources.failures.append(failure_of(error))
        return tuple(found), False
    return tuple(found), True


def _tags(
    policies: Sequence[CheckpointRetentionPolicy],
    versions: Sequence[StoredObject],
    details: ObjectDetails,
    sources: _Sources,
    now: datetime,
) -> Mapping[str, Mapping[str, str]]:
    keys = _wanted(policies, versions, now)[:TAGS_MAX]
    try:
        return details.tags(policies[0].location.bucket, keys) if keys else {}
    except SourceUnavailableError as error:
        sources.failures.append(failure_of(error))
        return {}


def _wanted(
    policies: Sequence[CheckpointRetentionPolicy],
    versions: Sequence[StoredObject],
    now: datetime,
) -> list[str]:
    """Return the keys whose tags decide, in order."""
    keys: set[str] = set()
    for job, checkpoints in checkpoints_of(policies[0].location, versions).items():
        for policy in policies:
            rule = replace(policy.rule, best=0)
            going = plan(rule, job, checkpoints, now).drop
            for one in checkpoints if policy.rule.best else going:
                keys.update(part.key for part in one.parts if part.is_current)
    return sorted(keys)


def _uploads(
    location: Location, details: ObjectDetails, sources: _Sources
) -> tuple[UnfinishedUpload, ...] | None:
    try:
        return tuple(details.uploads(location.bucket, location.prefix))
    except SourceUnavailableError as error:
        sources.failures.append(failure_of(error))
        return None


def _prices(
    location: Location, details: ObjectDetails, sources: _Sources
) -> Mapping[str, Money]:
    try:
        return prices_in(details.region(location.bucket))
    except SourceUnavailableError as error:
        sources.failures.append(failure_of(error))
        return {}
