"""What ran for a job and the tags of resources, read the quick way for answers.

Knows nothing of how either is learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import itemgetter
from typing import Any

from sqlalchemy import bindparam, or_, select, union_all
from sqlmodel import Session

from billing.core.attribution import TagKeys, normalise_job
from billing.core.fleet import Lifecycle
from billing.core.periods import Period
from billing.core.usage import EndBasis, ResourceKind, TagSpan, UsageInterval
from billing.ledger.columns import table_of
from billing.ledger.hot import Hot, any_of, instants
from billing.ledger.tables import ResourceTagRow, UsageIntervalRow
from billing.ledger.tables_attribution import AssignmentRow, PlacementRow

_INTERVAL = table_of(UsageIntervalRow)
_TAG = table_of(ResourceTagRow)
_PLACEMENT = table_of(PlacementRow)
_ASSIGNMENT = table_of(AssignmentRow)
#: Columns of an interval in the order of its rows.
INTERVAL_COLUMNS = tuple(
    name for name in UsageIntervalRow.model_fields if name != "interval_id"
)
_STARTED, _ENDED, _SEEN, _BOUND, _RECLAIMED = (
    INTERVAL_COLUMNS.index(name)
    for name in ("started_at", "ended_at", "last_seen_at", "ended_by", "is_reclaimed")
)
_KIND, _LIFECYCLE, _BASIS = (
    INTERVAL_COLUMNS.index(name) for name in ("kind", "lifecycle", "end_basis")
)
_ID = INTERVAL_COLUMNS.index("resource_id")
_new = object.__new__
#: What puts each cell of a row into its place in an interval.
_FILL = tuple(getattr(UsageInterval, name).__set__ for name in INTERVAL_COLUMNS)
assert {field.name for field in fields(UsageInterval)} == set(INTERVAL_COLUMNS)
_TAG_NAMES = ("resource_id", "key", "value", "valid_from", "valid_to")
_FILL_TAG = tuple(getattr(TagSpan, name).__set__ for name in _TAG_NAMES)
assert {field.name for field in fields(TagSpan)} == set(_TAG_NAMES)
#: Looking a text up is several times faster than calling its enumeration.
_KINDS = {one.value: one for one in ResourceKind}
_LIFECYCLES = {one.value: one for one in Lifecycle}
_END_BASES = {one.value: one for one in EndBasis}


def fold_key(key: str) -> str:
    """Return a tag key as keys are compared."""
    return key.strip().lower()


def intervals_of_job(
    session: Session, keys: TagKeys, period: Period, job: str
) -> Sequence[UsageInterval]:
    """Return what a job's resources and their volumes ran in a period.

    By resource and start; a volume with a tag of its own comes once.
    """
    rows = _OF_JOB.rows(
        session,
        job=normalise_job(job),
        keys=[fold_key(key) for key in keys.job],
        start=period.start,
        until=period.end,
    )
    found = {
        (one.resource_id, one.started_at): one
        for one in read_intervals(session, rows)
        if one.started_at < period.end
    }
    return [found[key] for key in sorted(found)]


def intervals_in(session: Session, period: Period) -> list[UsageInterval]:
    """Return everything that ran in a period, by resource and start."""
    rows = _WITHIN.rows(session, start=period.start, until=period.end)
    found = read_intervals(session, sorted(rows, key=itemgetter(_ID, _STARTED)))
    return [one for one in found if one.started_at < period.end]


def read_intervals(session: Session, rows: Iterable[Any]) -> list[UsageInterval]:
    """Make intervals of a driver's rows of `INTERVAL_COLUMNS`."""
    instant = instants(session)
    found = []
    for row in rows:
        cells = list(row)
        cells[_STARTED] = instant(cells[_STARTED])
        cells[_SEEN] = instant(cells[_SEEN])
        if cells[_ENDED] is not None:
            cells[_ENDED] = instant(cells[_ENDED])
        if cells[_BOUND] is not None:
            cells[_BOUND] = instant(cells[_BOUND])
        if cells[_RECLAIMED] is not None:
            cells[_RECLAIMED] = bool(cells[_RECLAIMED])
        cells[_KIND] = _KINDS[cells[_KIND]]
        cells[_LIFECYCLE] = _LIFECYCLES[cells[_LIFECYCLE]]
        cells[_BASIS] = _END_BASES[cells[_BASIS]]
        # A frozen class fills its slots by name, which takes twice as long.
        one = _new(UsageInterval)
        for fill, cell in zip(_FILL, cells, strict=True):
            fill(one, cell)
        found.append(one)
    return found


def tags_of(
    session: Session, resource_ids: Sequence[str], keys: Sequence[str] | None
) -> Sequence[TagSpan]:
    """Return the tag history of resources, by resource, key and start.

    With keys: of these only, compared as keys are (and as cost reports write them).
    """
    ids = list(set(resource_ids))
    if not ids:
        return []
    if keys is None:
        rows = _TAGS.rows(session, ids=ids)
    else:
        folded = [
            f"{prefix}{fold_key(key)}"
            for key in keys
            for prefix in ("", "user:", "user_")
        ]
        rows = _TAGS_OF_KEYS.rows(session, ids=ids, keys=folded)
    instant = instants(session)
    found = []
    for resource_id, key, value, since, until in rows:
        one = _new(TagSpan)
        end = None if until is None else instant(until)
        cells = (resource_id, key, value, instant(since), end)
        for fill, cell in zip(_FILL_TAG, cells, strict=True):
            fill(one, cell)
        found.append(one)
    return found


def _of_job(dialect: str) -> Any:  # noqa: ANN401 - a union of selects
    """Build the question for a ``job``'s intervals from ``start`` to ``until``.

    One part for each way in and kind of end, so that each is one index's range: a job
    of a year has thousands of resources and intervals that are history. Whether an
    open interval started in time is left to the caller, for SQLite would search by it.
    """
    columns = [_INTERVAL.c[name] for name in INTERVAL_COLUMNS]
    start = bindparam("start", type_=_INTERVAL.c.ended_at.type, required=True)
    until = bindparam("until", type_=_INTERVAL.c.started_at.type, required=True)
    tagged = select(_TAG.c.resource_id).where(
        _TAG.c.folded == bindparam("job", required=True),
        any_of(_TAG.c.folded_key, "keys", dialect),
        _TAG.c.valid_from < until,
        or_(_TAG.c.valid_to.is_(None), _TAG.c.valid_to > start),
    )
    held: Any = union_all(tagged, _placed(start, until), _assigned())
    if dialect != "sqlite":
        # Named once, it is planned and read once for all four parts. SQLite would
        # search the intervals by another index then.
        held = select(held.cte("held").c.resource_id)
    return union_all(
        *(
            select(*columns).where(end, way.in_(held))
            for way in (_INTERVAL.c.resource_id, _INTERVAL.c.parent_id)
            for end in (_INTERVAL.c.ended_at.is_(None), _INTERVAL.c.ended_at > start)
        )
    )


def _placed(start: Any, until: Any) -> Any:  # noqa: ANN401 - bound parameters
    """Return the question for what a scheduler says that a job held."""
    return select(_PLACEMENT.c.resource_id).where(
        _PLACEMENT.c.job == bindparam("job", required=True),
        _PLACEMENT.c.started_at < until,
        or_(_PLACEMENT.c.ended_at.is_(None), _PLACEMENT.c.ended_at > start),
    )


def _assigned() -> Any:  # noqa: ANN401 - a select
    """Return the question for what people said is a job's."""
    return select(_ASSIGNMENT.c.resource_id).where(
        _ASSIGNMENT.c.job == bindparam("job", required=True),
        _ASSIGNMENT.c.ended_at.is_(None),
        _ASSIGNMENT.c.resource_id != "",
    )


def _within(_: str) -> Any:  # noqa: ANN401 - a union of selects
    """Build the question for what ran from ``start`` to ``until``, as in `_of_job`."""
    columns = [_INTERVAL.c[name] for name in INTERVAL_COLUMNS]
    start = bindparam("start", type_=_INTERVAL.c.ended_at.type, required=True)
    until = bindparam("until", type_=_INTERVAL.c.started_at.type, required=True)
    return union_all(
        select(*columns).where(_INTERVAL.c.ended_at.is_(None)),
        select(*columns).where(
            _INTERVAL.c.ended_at > start, _INTERVAL.c.started_at < until
        ),
    )


def _tags(dialect: str, *, with_keys: bool) -> Any:  # noqa: ANN401 - a select
    columns = _TAG.c
    query = select(*(columns[name] for name in _TAG_NAMES)).where(
        any_of(columns.resource_id, "ids", dialect, is_long=True)
    )
    if with_keys:
        query = query.where(any_of(columns.folded_key, "keys", dialect))
    return query.order_by(columns.resource_id, columns.key, columns.valid_from)


_OF_JOB = Hot(_of_job)
_WITHIN = Hot(_within)
_TAGS = Hot(lambda dialect: _tags(dialect, with_keys=False))
_TAGS_OF_KEYS = Hot(lambda dialect: _tags(dialect, with_keys=True))
