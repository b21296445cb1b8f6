"""Running intervals and tags in SQL, advanced by one poll at a time.

What a poll means is `billing.core.advance`; this stores what that learned, and
keeps job records and freshness beside it. Knows no source.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, insert, select, update
from sqlmodel import Session

from billing.core.advance import Changes, advance
from billing.core.attribution import TagKeys, belongings
from billing.core.charges import Source
from billing.core.claims import AttributionRules
from billing.core.fleet import FleetObservation, Instance, InstanceState, Volume
from billing.core.periods import Period
from billing.core.priced import bucket_of
from billing.core.resources import OtherResources, Resource
from billing.core.usage import TagSpan, UsageInterval
from billing.ledger.attribution_hosts import note_hosts
from billing.ledger.columns import table_of
from billing.ledger.database import execute, serialise, upsert
from billing.ledger.due_days import due_of_changes
from billing.ledger.fleet_events import TURN, SqlFleetEvents
from billing.ledger.freshness import note_freshness
from billing.ledger.job_ways import intervals_for_job, intervals_within
from billing.ledger.jobs import JobTags, note_job_tags, note_jobs
from billing.ledger.paid_shares import SqlPaidShares
from billing.ledger.reservations import SqlReservations, store_reservations
from billing.ledger.tables import (
    LedgerProperty,
    ResourceTagRow,
    UsageIntervalRow,
)
from billing.ledger.usage_reads import INTERVAL_COLUMNS, tags_of
from billing.ledger.usage_rows import (
    chunks,
    interval_of,
    interval_values,
    intervals_query,
    span_of,
    tag_values,
    tags_query,
)

_INTERVAL = table_of(UsageIntervalRow)
_PROPERTY = table_of(LedgerProperty)
_TAG = table_of(ResourceTagRow)
_ENDED_STATES = frozenset({InstanceState.SHUTTING_DOWN, InstanceState.TERMINATED})


class SqlFleet(SqlFleetEvents, SqlReservations, SqlPaidShares):
    """Usage within one session."""

    _session: Session
    _tag_keys: TagKeys
    _rules: AttributionRules

    def open_intervals(self) -> Sequence[UsageInterval]:
        """Return every interval that has no end, by resource."""
        rows = self._session.connection().execute(
            intervals_query()
            .where(_INTERVAL.c.ended_at.is_(None))
            .order_by(_INTERVAL.c.resource_id)
        )
        return [interval_of(row) for row in rows]

    def apply_observation(self, observation: FleetObservation) -> None:
        """Advance intervals, tags and jobs by one poll, in the unit's transaction."""
        serialise(self._session, TURN)  # Two polls learn one after the other.
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
        note_hosts(self._session, observation.instances, observation.observed_at)
        due_of_changes(self._session, changes, observation.observed_at)
        going_on = {one.resource_id for one in changes.extended}
        told = self.use_events(observation.instances, going_on, observation.observed_at)
        told |= {one.resource_id for one in changes.opened}
        self._note_jobs(observation, _held(open_tags, changes), told)
        if observation.others is not None:
            self._note_others(observation.others, observation.observed_at)
        if observation.scanned or observation.failures:
            self._note_freshness(observation)
            self._note_observed_at(observation.observed_at)

    def intervals(
        self, period: Period, *, job: str | None = None
    ) -> Sequence[UsageInterval]:
        """Return intervals overlapping a period, by resource and start.

        With a job: those of resources that carried its tag at some instant of the
        period, and of what hangs on them (volumes); which seconds count is for the
        caller to split by tag.
        """
        if job is not None:
            return intervals_for_job(self._session, self._rules, period, job)
        return intervals_within(self._session, period)

    def tags(
        self, resource_ids: Sequence[str], *, keys: Sequence[str] | None = None
    ) -> Sequence[TagSpan]:
        """Return the tag history of resources, by resource, key and start.

        With keys: of these only, compared as keys are (and as cost reports write them).
        """
        return tags_of(self._session, resource_ids, keys)

    def _open_tags(self) -> list[TagSpan]:
        rows = self._session.connection().execute(
            tags_query().where(_TAG.c.valid_to.is_(None))
        )
        return [span_of(row) for row in rows]

    def _last_ended(self, resource_ids: Sequence[str]) -> Iterator[UsageInterval]:
        """Yield the newest interval of each resource where it has ended."""
        for some in chunks(sorted(set(resource_ids))):
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
                intervals_query()
                .join(
                    newest,
                    (newest.c.resource_id == _INTERVAL.c.resource_id)
                    & (newest.c.at == _INTERVAL.c.started_at),
                )
                .where(_INTERVAL.c.ended_at.is_not(None))
            )
            yield from (interval_of(row) for row in rows)

    def _note_observed_at(self, instant: datetime) -> None:
        values = {"name": TURN, "value": instant.isoformat()}
        execute(self._session, upsert(self._session, LedgerProperty, values))

    def _note_others(self, others: OtherResources, observed_at: datetime) -> None:
        """Record what other services hold, and how fresh that is for each account."""
        store_reservations(self._session, others.reservations, observed_at)
        reasons: dict[str, list[str]] = {}
        for failure in others.failures:
            reasons.setdefault(failure.account, []).append(failure.text)
        accounts = {account for account, _, _ in others.scanned} | reasons.keys()
        for account in sorted(accounts):
            note_freshness(
                self._session,
                Source.RESOURCES,
                account,
                as_of=None if account in reasons else observed_at,
                reason="; ".join(sorted(reasons.get(account, ()))),
            )

    def _observed_at(self) -> datetime | None:
        text = self._session.execute(
            select(_PROPERTY.c.value).where(_PROPERTY.c.name == TURN)
        ).scalar_one_or_none()
        return None if text is None else datetime.fromisoformat(text)

    def _store(self, changes: Changes) -> None:
        """Store intervals and tags; ends come first, for one interval is open at most."""
        connection = self._session.connection()
        moved = [interval_values(item) for item in (*changes.ended, *changes.extended)]
        if moved:
            connection.execute(_MOVE_INTERVAL, [_renamed(item) for item in moved])
        if changes.opened:
            statement = upsert(
                self._session,
                UsageIntervalRow,
                {name: bindparam(name) for name in INTERVAL_COLUMNS},
                keys=("resource_id", "started_at"),
            )
            connection.execute(
                statement, [interval_values(item) for item in changes.opened]
            )
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
                insert(_TAG), [tag_values(span) for span in changes.tags_opened]
            )

    def _note_jobs(
        self,
        observation: FleetObservation,
        since: Mapping[str, datetime],
        news: Collection[str],
    ) -> None:
        """Record the jobs in sight, and whose they are by their newest tags.

        What has ended counts when it is ``news``: it ran between two polls.
        """
        seen: dict[str, tuple[datetime, datetime]] = {}
        tags: list[JobTags] = []
        for item in _resources(observation):
            is_over = isinstance(item, Instance) and item.state in _ENDED_STATES
            if is_over and item.resource_id not in news:
                continue
            if isinstance(item, Resource) and bucket_of(item.kind):
                continue  # What nobody uses works for no job.
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
                "billed_s",
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


def _resources(
    observation: FleetObservation,
) -> list[Instance | Volume | Resource]:
    others = observation.others.resources if observation.others else ()
    return [*observation.instances, *observation.volumes, *others]


def _held(open_tags: Iterable[TagSpan], changes: Changes) -> dict[str, datetime]:
    """Return, per resource, since when its present tags hold together."""
    closed = {(span.resource_id, span.key) for span in changes.tags_closed}
    since: dict[str, datetime] = {}
    kept = (span for span in open_tags if (span.resource_id, span.key) not in closed)
    for span in (*kept, *changes.tags_opened):
        before = since.get(span.resource_id, span.valid_from)
        since[span.resource_id] = max(before, span.valid_from)
    return since


def _renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"b_{name}": value for name, value in values.items()}
