"""What attribution starts from beside the bill, read from SQL: running time and claims.

Knows no rule; what the facts mean is `billing.core`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import or_, select
from sqlmodel import Session

from billing.core.assignments import Assignment
from billing.core.claims import AttributionRules, Claims, Subject, subject_of
from billing.core.parents import parent_tag_keys
from billing.core.periods import Period
from billing.core.placements import Placement, PlacementSource
from billing.core.usage import TagSpan, UsageInterval
from billing.ledger.columns import table_of
from billing.ledger.hot import Hot, any_of
from billing.ledger.tables import UsageIntervalRow
from billing.ledger.tables_attribution import AssignmentRow, PlacementRow
from billing.ledger.usage_reads import tags_of
from billing.ledger.usage_rows import chunks, interval_of, intervals_query

_INTERVAL = table_of(UsageIntervalRow)
_PLACEMENT = table_of(PlacementRow)
_ASSIGNMENT = table_of(AssignmentRow)
_SOURCES = {one.value: one for one in PlacementSource}


def has_placements(session: Session) -> bool:
    """Tell whether any scheduler ever said anything."""
    query = select(_PLACEMENT.c.placement_id).limit(1)
    return session.connection().execute(query).first() is not None


def intervals_of_account(
    session: Session, account: str, period: Period
) -> list[UsageInterval]:
    """Return what ran in an account in a period, by resource and start."""
    columns = _INTERVAL.c
    rows = session.connection().execute(
        intervals_query()
        .where(
            columns.account == account,
            columns.started_at < period.end,
            or_(columns.ended_at.is_(None), columns.ended_at > period.start),
        )
        .order_by(columns.resource_id, columns.started_at)
    )
    return [interval_of(row) for row in rows.all()]


def claims_of(
    session: Session,
    period: Period,
    subjects: Iterable[Subject],
    rules: AttributionRules,
    *,
    is_placed: bool,
    assignments: Sequence[Assignment],
    tags: Sequence[TagSpan] | None = None,
) -> Claims:
    """Return everything known of who may hold some resources in a period.

    With ``tags`` these are the tags known already; none is read.
    """
    known = {one.resource_id: one for one in subjects}
    above = {one.parent_id for one in known.values()} - {"", *known}
    ids = sorted({*known, *above})
    if tags is None:
        tags = tags_of(session, ids, (*rules.keys.job, *other_keys(rules)))
    spans: dict[str, list[TagSpan]] = {}
    for span in tags:
        spans.setdefault(span.resource_id, []).append(span)
    placements: dict[str, list[Placement]] = {}
    managed: frozenset[str] = frozenset()
    if is_placed:
        managed = managed_of(session, ids)
        for one in placements_within(session, period, resource_ids=sorted(managed)):
            placements.setdefault(one.resource_id, []).append(one)
        known |= _subjects(session, above & managed)
    return Claims(
        rules=rules,
        tags=spans,
        placements=placements,
        managed=managed,
        assignments=tuple(assignments),
        subjects=known,
    )


def other_keys(rules: AttributionRules) -> tuple[str, ...]:
    """Return the tag keys that count beside those of jobs."""
    of_rules = {rule.tag_key for rule in rules.mapping if rule.tag_key}
    return (*parent_tag_keys(rules.parents), *sorted(of_rules))


def _subjects(session: Session, ids: Collection[str]) -> dict[str, Subject]:
    """Return parents that are no members themselves: their newest shape counts."""
    found: dict[str, Subject] = {}
    columns = _INTERVAL.c
    for some in chunks(sorted(ids)):
        rows = session.connection().execute(
            intervals_query()
            .where(columns.resource_id.in_(some))
            .order_by(columns.started_at)
        )
        found |= {
            one.resource_id: subject_of(one) for one in map(interval_of, rows.all())
        }
    return found


def managed_of(session: Session, ids: Sequence[str]) -> frozenset[str]:
    """Return which resources ever had a placement."""
    return frozenset(row[0] for row in _MANAGED.rows(session, ids=list(ids)))


_MANAGED = Hot(
    lambda dialect: (
        select(_PLACEMENT.c.resource_id)
        .where(any_of(_PLACEMENT.c.resource_id, "ids", dialect, is_long=True))
        .distinct()
    )
)


def placements_within(
    session: Session,
    period: Period,
    *,
    job: str | None = None,
    resource_ids: Sequence[str] | None = None,
) -> list[Placement]:
    """Return placements overlapping a period, by resource and start."""
    columns = _PLACEMENT.c
    query = select(_PLACEMENT).where(
        columns.started_at < period.end,
        or_(columns.ended_at.is_(None), columns.ended_at > period.start),
    )
    if job is not None:
        query = query.where(columns.job == job)
    found: list[Placement] = []
    parts = [None] if resource_ids is None else chunks(resource_ids)
    for some in parts:
        asked = query if some is None else query.where(columns.resource_id.in_(some))
        rows = session.connection().execute(
            asked.order_by(
                columns.resource_id, columns.started_at, columns.placement_id
            )
        )
        found += [placement_of(row) for row in rows.all()]
    return found


def placement_of(row: Any) -> Placement:  # noqa: ANN401 - a row of the table
    """Make a placement of its row."""
    return Placement(
        job=row.job,
        resource_id=row.resource_id,
        started_at=row.started_at,
        ended_at=row.ended_at,
        gpus=None if row.gpus is None else Decimal(row.gpus),
        source=_SOURCES[row.source],
        external_id=row.external_id,
        attempt=row.attempt,
    )


def assignments_of(session: Session, account: str | None = None) -> list[Assignment]:
    """Return assignments that hold, oldest first."""
    columns = _ASSIGNMENT.c
    query = select(_ASSIGNMENT).where(columns.ended_at.is_(None))
    if account is not None:
        query = query.where(columns.account == account)
    rows = session.connection().execute(query.order_by(columns.assignment_id))
    return [
        Assignment(
            job=row.job,
            account=row.account,
            resource_id=row.resource_id,
            usage_type=row.usage_type,
            region=row.region,
            since=row.since,
            until=row.until,
            by=row.by,
            at=row.at,
            reason=row.reason,
            assignment_id=row.assignment_id,
        )
        for row in rows.all()
    ]
