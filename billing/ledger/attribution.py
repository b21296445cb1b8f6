"""Placements, assignments and transfers in SQL, and which days are to be computed.

What comes in late makes the stored days it touches due; `reattribute` computes them
anew. How transfers are made is `billing.core.day_transfers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from sqlalchemy import and_, insert, or_, select, update
from sqlmodel import Session

from billing.core.assignments import Assignment
from billing.core.attribution import TagKeys, is_job_key, normalise_job
from billing.core.claims import LATE_TAGS, AttributionRules, Claims, subject_of
from billing.core.money import USD
from billing.core.periods import DAY, Period, day_of, days_between
from billing.core.placements import Placement, PlacementSource
from billing.core.transfers import Transfer
from billing.core.usage import TagSpan, UsageInterval
from billing.ledger.attribution_days import attribute_again, mark_of, transfer_of
from billing.ledger.attribution_facts import (
    assignments_of,
    claims_of,
    managed_of,
    other_keys,
    placement_of,
    placements_within,
)
from billing.ledger.attribution_hosts import hosts_named
from billing.ledger.columns import table_of
from billing.ledger.database import execute, serialise, upsert
from billing.ledger.due_days import mark_due
from billing.ledger.existing import existing
from billing.ledger.jobs import note_jobs
from billing.ledger.tables import ChargeRow, DayControlRow, UsageIntervalRow
from billing.ledger.tables_attribution import (
    AssignmentRow,
    AttributionDayRow,
    PlacementRow,
    TransferRow,
)
from billing.ledger.usage_reads import tags_of
from billing.ledger.usage_rows import chunks
from billing.ports.attribution import DueDay, HostMatch

_PLACEMENT = table_of(PlacementRow)
_ASSIGNMENT = table_of(AssignmentRow)
_TRANSFER = table_of(TransferRow)
_DAY = table_of(AttributionDayRow)
_CONTROL = table_of(DayControlRow)
_CHARGE = table_of(ChargeRow)
_INTERVAL = table_of(UsageIntervalRow)
_KEYS = ("source", "external_id", "resource_id", "attempt")


class SqlAttribution(ABC):
    """Attribution within one session."""

    _session: Session
    _tag_keys: TagKeys
    _rules: AttributionRules

    @abstractmethod
    def currency(self) -> str | None:
        """Return the ledger's currency; the import side stores it."""

    def record_placements(self, placements: Sequence[Placement], now: datetime) -> int:
        """Keep placements and return how many said something new.

        The stored days they touch become due. The same ones again change nothing.
        """
        known = self._known(placements)
        new = [one for one in placements if known.get(_key(one)) != one]
        if not new:
            return 0
        values = [_values(one, now) for one in {_key(one): one for one in new}.values()]
        statement = upsert(self._session, PlacementRow, values[0], keys=_KEYS)
        for cells in values:
            self._session.connection().execute(statement, cells)
        seen: dict[str, tuple[datetime, datetime]] = {}
        spans: dict[str, list[tuple[datetime, datetime]]] = {}
        for one in [*new, *(known[_key(one)] for one in new if _key(one) in known)]:
            end = now if one.ended_at is None else one.ended_at
            end = max(one.started_at, end)
            first, last = seen.get(one.job, (one.started_at, end))
            seen[one.job] = (min(first, one.started_at), max(last, end))
            spans.setdefault(one.resource_id, []).append((one.started_at, end))
        note_jobs(self._session, seen)
        self._due_of_resources(spans, now)
        return len(values)

    def _known(
        self, placements: Sequence[Placement]
    ) -> dict[tuple[str, ...], Placement]:
        ids = sorted({one.external_id for one in placements})
        found: dict[tuple[str, ...], Placement] = {}
        for some in chunks(ids):
            rows = self._session.connection().execute(
                select(_PLACEMENT).where(
                    _PLACEMENT.c.source.in_(sorted({one.source.value for one in placements})),
                    _PLACEMENT.c.external_id.in_(some),
                )
            )  # fmt: skip
            for row in rows.all():
                one = placement_of(row)
                found[_key(one)] = one
        return found

    def _due_of_resources(
        self, spans: Mapping[str, Sequence[tuple[datetime, datetime]]], now: datetime
    ) -> None:
        """Make the days due in which resources did something else than was known."""
        accounts = self._accounts(sorted(spans))
        days: dict[str, set[date]] = {}
        unseen: set[date] = set()
        for resource_id, found in spans.items():
            touched = {
                day
                for start, end in found
                for day in days_between(day_of(start), day_of(end) + DAY)
            }
            account = accounts.get(resource_id)
            if account is None:
                unseen |= touched
            else:
                days.setdefault(account, set()).update(touched)
        for account, found_days in sorted(days.items()):
            mark_due(self._session, account, found_days, now)
        if unseen:
            ids = sorted(spans.keys() - accounts.keys())
            for account in self._accounts_in_bill(ids, unseen):
                mark_due(self._session, account, unseen, now)

    def _accounts(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the account of each resource that the fleet knows."""
        found: dict[str, str] = {}
        for some in chunks(ids):
            rows = self._session.connection().execute(
                select(_INTERVAL.c.resource_id, _INTERVAL.c.account)
                .where(_INTERVAL.c.resource_id.in_(some))
                .distinct()
            )
            found.update((resource_id, account) for resource_id, account in rows.all())
        return found

    def _accounts_in_bill(
        self, ids: Sequence[str], days: Collection[date]
    ) -> Sequence[str]:
        """Return the accounts whose bill of some days names one of some resources."""
        found: set[str] = set()
        for some in chunks(ids):
            rows = self._session.connection().execute(
                select(_CHARGE.c.account)
                .where(
                    _CHARGE.c.account.in_(select(_CONTROL.c.account).distinct()),
                    _CHARGE.c.day >= min(days),
                    _CHARGE.c.day <= max(days),
                    _CHARGE.c.resource_id.in_(some),
                )
                .distinct()
            )
            found.update(rows.scalars())
        return sorted(found)

    def placements(
        self,
        period: Period,
        *,
        job: str | None = None,
        resource_ids: Sequence[str] | None = None,
    ) -> Sequence[Placement]:
        """Return placements overlapping a period, by resource and start."""
        return placements_within(
            self._session,
            period,
            job=None if job is None else normalise_job(job),
            resource_ids=resource_ids,
        )

    def attempts(
        self, source: PlacementSource, external_ids: Sequence[str]
    ) -> Mapping[str, Mapping[datetime, int]]:
        """Return, by a scheduler's id of a job, the attempt of each known start."""
        found: dict[str, dict[datetime, int]] = {}
        columns = _PLACEMENT.c
        for some in chunks(sorted(set(external_ids))):
            rows = self._session.connection().execute(
                select(columns.external_id, columns.started_at, columns.attempt)
                .where(columns.source == source.value, columns.external_id.in_(some))
                .distinct()
            )
            for external_id, started_at, attempt in rows.all():
                found.setdefault(external_id, {})[started_at] = attempt
        return found

    def hosts(self, names: Sequence[str]) -> Mapping[str, Sequence[HostMatch]]:
        """Return the instances known by each name, oldest first; unknown ones absent."""
        return hosts_named(self._session, names)

    def assign(self, assignment: Assignment, now: datetime) -> int:
        """Keep what a person confirmed and return its number; its days become due."""
        number: int = self._session.execute(
            insert(_ASSIGNMENT)
            .values(
                account=assignment.account,
                resource_id=assignment.resource_id,
                usage_type=assignment.usage_type,
                region=assignment.region,
                job=normalise_job(assignment.job),
                since=assignment.since,
                until=assignment.until,
                by=assignment.by,
                at=assignment.at,
                reason=assignment.reason,
                ended_by="",
            )
            .returning(_ASSIGNMENT.c.assignment_id)
        ).scalar_one()
        self._due_of_assignment(assignment, now)
        end = min(now, assignment.until or now)
        start = min(assignment.since, end)
        note_jobs(self._session, {normalise_job(assignment.job): (start, end)})
        return number

    def end_assignment(self, assignment_id: int, *, by: str, now: datetime) -> bool:
        """Take an assignment back, wholly; False when none of that number holds."""
        held = [
            one
            for one in assignments_of(self._session)
            if one.assignment_id == assignment_id
        ]
        if not held:
            return False
        done = execute(
            self._session,
            update(_ASSIGNMENT)
            .where(
                _ASSIGNMENT.c.assignment_id == assignment_id,
                _ASSIGNMENT.c.ended_at.is_(None),
            )
            .values(ended_by=by, ended_at=now),
        )
        self._due_of_assignment(held[0], now)
        return bool(done.rowcount)

    def _due_of_assignment(self, one: Assignment, now: datetime) -> None:
        rows = self._session.connection().execute(
            select(_CONTROL.c.day)
            .where(
                _CONTROL.c.account == one.account,
                _CONTROL.c.day >= day_of(one.since),
                _CONTROL.c.day <= day_of(one.until or now),
            )
            .distinct()
        )
        mark_due(self._session, one.account, set(rows.scalars()), now)

    def assignments(self, *, account: str | None = None) -> Sequence[Assignment]:
        """Return assignments that hold, oldest first."""
        return assignments_of(self._session, account)

    def transfers(
        self,
        since: date,
        until: date,
        *,
        key: str | None = None,
        account: str | None = None,
    ) -> Sequence[Transfer]:
        """Return transfers of ``[since, until)``; with a key: those from or to it."""
        columns = _TRANSFER.c
        window = and_(columns.day >= since, columns.day < until)
        query = select(_TRANSFER).where(window)
        if key is not None:
            query = query.where(or_(columns.to_key == key, columns.from_key == key))
        if account is not None:
            query = query.where(columns.account == account)
        rows = self._session.connection().execute(
            query.order_by(columns.account, columns.day, columns.transfer_id)
        )
        currency = self.currency() or USD
        return [transfer_of(row, currency) for row in rows.all()]

    def due_days(self, *, limit: int) -> Sequence[DueDay]:
        """Return stored days to attribute again, by account and day."""
        same = and_(_DAY.c.account == _CONTROL.c.account, _DAY.c.day == _CONTROL.c.day)
        rows = self._session.connection().execute(
            select(_CONTROL.c.account, _CONTROL.c.day)
            .select_from(_CONTROL.outerjoin(_DAY, same))
            .where(
                or_(
                    _DAY.c.account.is_(None),
                    _DAY.c.due_since.is_not(None),
                    _DAY.c.rules != mark_of(self._rules),
                )
            )
            .order_by(_CONTROL.c.account, _CONTROL.c.day)
            .limit(limit)
        )
        return [DueDay(account=account, day=day) for account, day in rows.all()]

    def reattribute(self, account: str, days: Sequence[date], now: datetime) -> int:
        """Compute the transfers of stored days anew; return how many there are.

        Transfers, rollups and the mark that the days were due move together.
        """
        serialise(self._session, f"days of {account}")
        rows = self._session.connection().execute(
            select(_CONTROL.c.day).where(
                _CONTROL.c.account == account, _CONTROL.c.day.in_(sorted(days))
            )
        )
        stored = sorted(set(rows.scalars()))
        if not stored:
            return 0
        return attribute_again(
            self._session, account, stored,
            rules=self._rules, currency=self.currency() or USD, now=now,
        )  # fmt: skip

    def claims(
        self,
        intervals: Sequence[UsageInterval],
        tags: Sequence[TagSpan],
        period: Period,
    ) -> Claims | None:
        """Return who may hold intervals beside their job tags; None: tags say it all.

        ``tags`` are the job tags of the intervals' resources and of their parents.
        """
        if not intervals:
            return None
        rules = self._rules
        there = existing(self._session)
        is_placed, is_assigned = there.placements, there.assignments
        tagged = {one.resource_id for one in tags if is_job_key(one.key, rules.keys)}
        untagged = [
            one for one in intervals if not {one.resource_id, one.parent_id} & tagged
        ]
        ids = {one.resource_id for one in intervals}
        ids |= {one.parent_id for one in intervals if one.parent_id}
        managed = managed_of(self._session, sorted(ids)) if is_placed else frozenset()
        if not (managed or untagged or rules.late_tags > LATE_TAGS):
            return None
        others = self._other_tags(untagged)
        is_late = rules.late_tags > LATE_TAGS
        if not (managed or others or rules.mapping or is_assigned or is_late):
            return None
        special = managed | {one.resource_id for one in untagged}
        found = claims_of(
            self._session, period, map(subject_of, intervals), rules,
            is_placed=bool(managed),
            assignments=assignments_of(self._session) if is_assigned else (),
            tags=[*tags, *others],
        )  # fmt: skip
        return found if is_late else replace(found, special=special)

    def _other_tags(self, untagged: Iterable[UsageInterval]) -> list[TagSpan]:
        """Return the tags that name parents, or fit rules, where no tag names a job."""
        ids = {one.resource_id for one in untagged} | {
            one.parent_id for one in untagged if one.parent_id
        }
        keys = other_keys(self._rules)
        return [*tags_of(self._session, sorted(ids), keys)] if ids and keys else []


def _key(one: Placement) -> tuple[str, ...]:
    return (one.source.value, one.external_id, one.resource_id, str(one.attempt))


def _values(one: Placement, now: datetime) -> dict[str, Any]:
    return {
        "source": one.source.value,
        "external_id": one.external_id,
        "resource_id": one.resource_id,
        "attempt": one.attempt,
        "job": one.job,
        "started_at": one.started_at,
        "ended_at": one.ended_at,
        "gpus": None if one.gpus is None else str(one.gpus),
        "recorded_at": now,
    }
