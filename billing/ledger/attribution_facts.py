"""What attribution starts from, read from SQL: lines, running time and claims.

Knows no rule; what the facts mean is `billing.core`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy import Numeric, and_, case, cast, func, or_, select
from sqlmodel import Session

from billing.core.assignments import Assignment
from billing.core.bill_lines import BillLine
from billing.core.charges import Bucket, ChargeCategory
from billing.core.claims import AttributionRules, Claims, Subject, subject_of
from billing.core.day_transfers import shared_kind
from billing.core.money import Money
from billing.core.parents import parent_tag_keys
from billing.core.periods import Period
from billing.core.placements import Placement, PlacementSource
from billing.core.usage import TagSpan, UsageInterval
from billing.ledger.columns import table_of
from billing.ledger.hot import Hot, any_of
from billing.ledger.rollups import within
from billing.ledger.tables import ChargeRow, UsageIntervalRow
from billing.ledger.tables_attribution import AssignmentRow, PlacementRow
from billing.ledger.usage_reads import tags_of
from billing.ledger.usage_rows import chunks, interval_of, intervals_query

_CHARGE = table_of(ChargeRow)
_INTERVAL = table_of(UsageIntervalRow)
_PLACEMENT = table_of(PlacementRow)
_ASSIGNMENT = table_of(AssignmentRow)
_SOURCES = {one.value: one for one in PlacementSource}
_KEYS = (
    *("region", "service", "usage_type", "pricing", "cost_category", "job"),
    *("resource_id", "unit"),
)


def has_placements(session: Session) -> bool:
    """Tell whether any scheduler ever said anything."""
    query = select(_PLACEMENT.c.placement_id).limit(1)
    return session.connection().execute(query).first() is not None


def lines_of_days(
    session: Session,
    account: str,
    days: Collection[date],
    currency: str,
    *,
    is_whole: bool,
    is_watched: bool,
) -> dict[date, list[BillLine]]:
    """Return the lines of days that attribution may move, or needs to split others.

    Usage without a job; and running time with one: line by line where it may move
    (``is_whole``), else summed by the database, for its hours alone count, where time
    was seen (``is_watched``) or something is shared.
    """
    columns = _CHARGE.c
    mine = (
        columns.account == account,
        within(columns.day, days),
        columns.category == ChargeCategory.USAGE.value,
    )
    untagged = (*mine, columns.bucket == Bucket.UNTAGGED.value)
    tagged = (*mine, columns.bucket == Bucket.JOB.value)
    is_running = columns.usage_type.like("%Usage:%")
    cells = _cells(session, untagged)
    if is_whole:
        placed = and_(
            columns.resource_id != "",
            columns.resource_id.in_(select(_PLACEMENT.c.resource_id)),
        )
        cells += _cells(session, (*tagged, or_(is_running, placed)))
    elif cells and (is_watched or any(_is_shared(keys) for _, keys, _ in cells)):
        cells += _summed(session, (*tagged, is_running))
    sums: dict[date, dict[tuple[str, ...], _Sum]] = {}
    for day, keys, amounts in cells:
        sums.setdefault(day, {}).setdefault(keys, _Sum()).add(*amounts)
    return {
        day: [_line(keys, found[keys], currency) for keys in sorted(found)]
        for day, found in sums.items()
    }


def _is_shared(keys: tuple[str, ...]) -> bool:
    known = dict(zip(_KEYS, keys, strict=True))
    return bool(shared_kind(known["usage_type"], known["service"]))


_Amounts = tuple[int, int, int | None, Any]
_Row = tuple[date, tuple[str, ...], _Amounts]


def _cells(session: Session, conditions: Any) -> list[_Row]:  # noqa: ANN401
    """Return charges one by one: a quantity is text, which no database sums exactly."""
    columns = _CHARGE.c
    names = ("billed", "effective", "list_cost", "quantity")
    rows = session.connection().execute(
        select(columns.day, *(columns[name] for name in (*_KEYS, *names))).where(
            *conditions
        )
    )
    size = len(_KEYS) + 1
    return [(row[0], tuple(row[1:size]), tuple(row[size:])) for row in rows.all()]


def _summed(session: Session, conditions: Any) -> list[_Row]:  # noqa: ANN401
    """Return charges summed by what pools tell apart; hours may be a float's."""
    columns = _CHARGE.c
    keys = [columns.day, *(columns[name] for name in _KEYS)]
    hours = func.sum(cast(columns.quantity, Numeric(38, 12, asdecimal=False)))
    rows = session.connection().execute(
        select(
            *keys,
            func.sum(columns.billed),
            func.sum(columns.effective),
            case((func.count(columns.quantity) == func.count(), hours)),
        )
        .where(*conditions)
        .group_by(*keys)
    )
    size = len(_KEYS) + 1
    found: list[_Row] = []
    for row in rows.all():
        billed, effective, quantity = row[size:]
        text = None if quantity is None else f"{quantity:.9f}"
        amounts = (int(billed), int(effective), None, text)
        found.append((row[0], tuple(row[1:size]), amounts))
    return found


class _Sum:
    """Amounts of equal charges; one that is unknown leaves the sum unknown."""

    __slots__ = ("billed", "effective", "listed", "quantity")

    def __init__(self) -> None:
        self.billed = 0
        self.effective = 0
        self.listed: int | None = 0
        self.quantity: Decimal | None = Decimal(0)

    def add(
        self, billed: int, effective: int, listed: int | None, quantity: str | None
    ) -> None:
        self.billed += billed
        self.effective += effective
        if listed is None or self.listed is None:
            self.listed = None
        else:
            self.listed += listed
        if quantity is None or self.quantity is None:
            self.quantity = None
        else:
            self.quantity += Decimal(quantity)


def _line(keys: tuple[str, ...], found: _Sum, currency: str) -> BillLine:
    return BillLine(
        **dict(zip(_KEYS, keys, strict=True)),
        billed=Money(found.billed, currency),
        effective=Money(found.effective, currency),
        list_cost=None if found.listed is None else Money(found.listed, currency),
        quantity=found.quantity,
    )


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
        .where(any_of(_PLACEMENT.c.resource_id, "ids", dialect))
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
