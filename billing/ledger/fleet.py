"""Running intervals and tags in SQL, advanced by one poll at a time.

What a poll means is `billing.core.advance`; this stores what that learned, and
keeps job records and freshness beside it. Knows no source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import bindparam, func, insert, or_, select, update
from sqlmodel import Session

from billing.core.advance import Changes, advance
from billing.core.attribution import TagKeys, belongings, normalise_job
from billing.core.charges import Source
from billing.core.fleet import (
    FleetObservation,
    Instance,
    InstanceState,
    Lifecycle,
    Volume,
)
from billing.core.periods import Period
from billing.core.usage import EndBasis, ResourceKind, TagSpan, UsageInterval
from billing.ledger.columns import table_of
from billing.ledger.database import execute, serialise, upsert
from billing.ledger.freshness import note_freshness
from billing.ledger.jobs import JobTags, note_job_tags, note_jobs
from billing.ledger.tables import (
    LedgerProperty,
    ResourceTagRow,
    UsageIntervalRow,
)
from billing.ledger.usage_reads import (
    INTERVAL_COLUMNS,
    fold_key,
    intervals_of_job,
    tags_of,
)

_INTERVAL = table_of(UsageIntervalRow)
_PROPERTY = table_of(LedgerProperty)
_TAG = table_of(ResourceTagRow)
_COLUMNS = INTERVAL_COLUMNS
_KINDS = {one.value: one for one in ResourceKind}
_LIFECYCLES = {one.value: one for one in Lifecycle}
_END_BASES = {one.value: one for one in EndBasis}
_OBSERVED_AT = "fleet_observed_at"
#: Ids asked for at once; SQLite allows 32,766 variables in a statement.
_IDS_MAX = 5_000
_ENDED_STATES = frozenset({InstanceState.SHUTTING_DOWN, InstanceState.TERMINATED})


class SqlFleet:
    """Usage within one session."""

    _session: Session
    _tag_keys: TagKeys

    def open_intervals(self) -> Sequence[UsageInterval]:
        """Return every interval that has no end, by resource."""
        rows = self._session.connection().execute(
            _intervals()
            .where(_INTERVAL.c.ended_at.is_(None))
            .order_by(_INTERVAL.c.resource_id)
        )
        return [_interval(row) for row in rows]

    def apply_observation(self, observation: FleetObservation) -> None:
        """Advance intervals, tags and jobs by one poll, in the unit's transaction."""
        serialise(self._session, _OBSERVED_AT)  # Two polls learn one after the other.
        applied_at = self._observed_at()
        if applied_at is not None and observation.observed_at < applied_at:
            return  # A poll that took longer than the one after it teaches nothing.
        open_tags = self._open_tags()
        ids = [item.resource_id for item in _resources(observation)]
        changes = advance(
            [*self.open_intervals(), *self._last_ended(ids)],
            open_tags,
            observation,
            applied_at=applied_at,
        )
        self._store(changes)
        self._note_jobs(observation, _held(open_tags, changes))
        self._note_freshness(observation)
        execute(
            self._session,
            upsert(
                self._session,
                LedgerProperty,
                {"name": _OBSERVED_AT, "value": observation.observed_at.isoformat()},
            ),
        )

    def intervals(
        self, period: Period, *, job: str | None = None
    ) -> Sequence[UsageInterval]:
        """Return intervals overlapping a period, by resource and start.

        With a job: those of resources that carried its tag at some instant of the
        period, and of what hangs on them (volumes); which seconds count is for the
        caller to split by tag.
        """
        if job is not None:
            return intervals_of_job(self._session, self._tag_keys, period, job)
        query = _intervals().where(
            _INTERVAL.c.started_at < period.end,
            or_(_INTERVAL.c.ended_at.is_(None), _INTERVAL.c.ended_at > period.start),
        )
        query = query.order_by(_INTERVAL.c.resource_id, _INTERVAL.c.started_at)
        rows = self._session.connection().execute(query).all()
        return [_interval(row) for row in rows]

    def tags(
        self, resource_ids: Sequence[str], *, keys: Sequence[str] | None = None
    ) -> Sequence[TagSpan]:
        """Return the tag history of resources, by resource, key and start.

        With keys: of these only, compared as keys are (and as cost reports write them).
        """
        return tags_of(self._session, resource_ids, keys)

    def _open_tags(self) -> list[TagSpan]:
        rows = self._session.connection().execute(
            _tags().where(_TAG.c.valid_to.is_(None))
        )
        return [_span(row) for row in rows]

    def _last_ended(self, resource_ids: Sequence[str]) -> Iterator[UsageInterval]:
        """Yield the newest interval of each resource where it has ended."""
        for some in _chunks(sorted(set(resource_ids))):
            newest = (
                select(
                    _INTERVAL.c.resource_id,
                    func.max(_INTERVAL.c.started_at).label("at"),
                )
                .where(_INTERVAL.c.resource_id.in_(some))
                .group_by(_INTERVAL.c.resource_id)
                .subquery()
            )
            rows = self._session.connection().execute(
                _intervals()
                .join(
                    newest,
                    (newest.c.resource_id == _INTERVAL.c.resource_id)
                    & (newest.c.at == _INTERVAL.c.started_at),
                )
                .where(_INTERVAL.c.ended_at.is_not(None))
            )
            yield from (_interval(row) for row in rows)

    def _observed_at(self) -> datetime | None:
        text = self._session.execute(
            select(_PROPERTY.c.value).where(_PROPERTY.c.name == _OBSERVED_AT)
        ).scalar_one_or_none()
        return None if text is None else datetime.fromisoformat(text)

    def _store(self, changes: Changes) -> None:
        """Store intervals and tags; ends come first, for one interval is open at most."""
        connection = self._session.connection()
        moved = [_values(item) for item in (*changes.ended, *changes.extended)]
        if moved:
            connection.execute(_MOVE_INTERVAL, [_renamed(item) for item in moved])
        if changes.opened:
            statement = upsert(
                self._session,
                UsageIntervalRow,
                {name: bindparam(name) for name in _COLUMNS},
                keys=("resource_id", "started_at"),
            )
            connection.execute(statement, [_values(item) for item in changes.opened])
        if changes.tags_closed:
            connection.execute(
                _CLOSE_TAG,
                [
                    {"b_id": span.resource_id, "b_key": span.key, "b_to": span.valid_to}
                    for span in changes.tags_closed
                ],
            )
        if changes.tags_opened:
            connection.execute(
                insert(_TAG), [_tag_values(span) for span in changes.tags_opened]
            )

    def _note_jobs(
        self, observation: FleetObservation, since: Mapping[str, datetime]
    ) -> None:
        """Record the jobs in sight, and whose they are by their newest tags."""
        seen: dict[str, tuple[datetime, datetime]] = {}
        tags: list[JobTags] = []
        for item in _resources(observation):
            if isinstance(item, Instance) and item.state in _ENDED_STATES:
                continue
            whose = belongings(item.tags, self._tag_keys)
            if not whose.job:
                continue
            began = since.get(item.resource_id, observation.observed_at)
            first, _ = seen.get(whose.job, (began, began))
            seen[whose.job] = (min(first, began), observation.observed_at)
            tags.append(JobTags(belongings=whose, since=began))
        note_jobs(self._session, seen)
        note_job_tags(self._session, tags)

    def _note_freshness(self, observation: FleetObservation) -> None:
        """Record each account's read; a failing scope of it keeps the last good time."""
        reasons: dict[str, list[str]] = {}
        for failure in observation.failures:
            where = f"{failure.region}: " if failure.region else ""
            reasons.setdefault(failure.account, []).append(f"{where}{failure.message}")
        accounts = {account for account, _ in observation.scanned} | reasons.keys()
        for account in sorted(accounts):
            note_freshness(
                self._session,
                Source.INVENTORY,
                account,
                as_of=None if account in reasons else observation.observed_at,
                reason="; ".join(sorted(reasons.get(account, ()))),
            )


_MOVE_INTERVAL = (
    update(_INTERVAL)
    .where(
        _INTERVAL.c.resource_id == bindparam("b_resource_id"),
        _INTERVAL.c.started_at == bindparam("b_started_at"),
    )
    .values(
        {
            name: bindparam(f"b_{name}")
            for name in (
                "ended_at",
                "end_basis",
                "ended_by",
                "last_seen_at",
                "is_reclaimed",
            )
        }
    )
)
_CLOSE_TAG = (
    update(_TAG)
    .where(
        _TAG.c.resource_id == bindparam("b_id"),
        _TAG.c.key == bindparam("b_key"),
        _TAG.c.valid_to.is_(None),
    )
    .values(valid_to=bindparam("b_to"))
)


def _resources(observation: FleetObservation) -> list[Instance | Volume]:
    return [*observation.instances, *observation.volumes]


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _IDS_MAX):
        yield ids[start : start + _IDS_MAX]


@cache
def _tags() -> Any:  # noqa: ANN401 - a select of five columns, built once
    columns = _TAG.c
    return select(
        columns.resource_id,
        columns.key,
        columns.value,
        columns.valid_from,
        columns.valid_to,
    )


def _span(row: Any) -> TagSpan:  # noqa: ANN401 - a row of _tags
    resource_id, key, value, valid_from, valid_to = row
    return TagSpan(
        resource_id=resource_id,
        key=key,
        value=value,
        valid_from=valid_from,
        valid_to=valid_to,
    )


def _tag_values(span: TagSpan) -> dict[str, Any]:
    return {
        "resource_id": span.resource_id,
        "key": span.key,
        "value": span.value,
        "folded_key": fold_key(span.key),
        "folded": normalise_job(span.value),
        "valid_from": span.valid_from,
        "valid_to": span.valid_to,
    }


def _held(open_tags: Iterable[TagSpan], changes: Changes) -> dict[str, datetime]:
    """Return, per resource, since when its present tags hold together."""
    closed = {(span.resource_id, span.key) for span in changes.tags_closed}
    since: dict[str, datetime] = {}
    kept = (span for span in open_tags if (span.resource_id, span.key) not in closed)
    for span in (*kept, *changes.tags_opened):
        before = since.get(span.resource_id, span.valid_from)
        since[span.resource_id] = max(before, span.valid_from)
    return since


def _values(item: UsageInterval) -> dict[str, Any]:
    return {name: getattr(item, name) for name in _COLUMNS} | {
        "kind": item.kind.value,
        "lifecycle": item.lifecycle.value,
        "end_basis": item.end_basis.value,
    }


def _renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"b_{name}": value for name, value in values.items()}


@cache
def _intervals() -> Any:  # noqa: ANN401 - a select of _COLUMNS, built once
    return select(*(_INTERVAL.c[name] for name in _COLUMNS))


def _interval(row: Any) -> UsageInterval:  # noqa: ANN401 - a row of _intervals
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    values["kind"] = _KINDS[values["kind"]]
    values["lifecycle"] = _LIFECYCLES[values["lifecycle"]]
    values["end_basis"] = _END_BASES[values["end_basis"]]
    return UsageInterval(**values)
