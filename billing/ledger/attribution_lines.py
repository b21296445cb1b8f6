"""The lines of the bill that attribution starts from, read from SQL.

As few as say the same: what nothing can hold, and what only counts hours, is summed by
the database. Knows no rule; what the lines mean is `billing.core`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Numeric,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    or_,
    select,
)
from sqlmodel import Session

from billing.core.assignments import Assignment
from billing.core.bill_lines import BillLine
from billing.core.charges import Bucket, ChargeCategory
from billing.core.claims import AttributionRules
from billing.core.money import Money
from billing.core.shared_cost import shared_kind
from billing.ledger.columns import table_of
from billing.ledger.rollups import within
from billing.ledger.tables import ChargeRow, ResourceTagRow, UsageIntervalRow
from billing.ledger.tables_attribution import AssignmentRow, PlacementRow

_CHARGE = table_of(ChargeRow)
_PLACEMENT = table_of(PlacementRow)
_ASSIGNMENT = table_of(AssignmentRow)
#: Tables whose rows may say who held a resource.
_TELLING = (table_of(UsageIntervalRow), table_of(ResourceTagRow), _PLACEMENT)
#: Resources that tell a parent by their name (`billing.core.parents`) are such.
_NAMED = "arn:%"
_KEYS = (
    *("region", "service", "usage_type", "pricing", "cost_category", "job"),
    *("resource_id", "unit"),
)
#: What lines are told apart by that only count hours.
_HOURS = frozenset({"region", "service", "usage_type", "job", "resource_id"})
#: What lines are told apart by that nothing can hold.
_UNHELD = frozenset({"region", "service", "usage_type", "pricing", "cost_category"})

_Amounts = tuple[int, int, int | None, Any]
#: Day, whether it is a sum of what nothing holds, keys, amounts.
_Row = tuple[date, bool, tuple[str, ...], _Amounts]


def is_any_named(
    account: str, rules: AttributionRules, assignments: Iterable[Assignment]
) -> bool:
    """Tell whether rules or people name cost that no resource's own facts tell."""
    return any(
        rule.account in {"", account} and not rule.tag_key for rule in rules.mapping
    ) or any(one.usage_type for one in assignments)


def lines_of_days(
    session: Session,
    account: str,
    days: Collection[date],
    currency: str,
    *,
    is_whole: bool,
    is_named: bool,
    is_watched: bool,
) -> dict[date, list[BillLine]]:
    """Return the lines of days that attribution may move, or needs to split others.

    Usage without a job, and of resources that nothing can hold one sum, unless cost may
    be named by its kind (``is_named``). And running time with a job: line by line where
    it may move (``is_whole``), else summed, for its hours alone count, where time was
    seen (``is_watched``) or something is shared.
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
    if is_named:
        rows = _cells(session, untagged)
    else:
        held = or_(columns.resource_id == "", _may_be_held(account))
        rows = _cells(session, (*untagged, held))
        rows += _summed(session, (*untagged, ~held), by=_UNHELD, is_unheld=True)
    if is_whole:
        placed = and_(
            columns.resource_id != "",
            columns.resource_id.in_(select(_PLACEMENT.c.resource_id)),
        )
        rows += _cells(session, (*tagged, or_(is_running, placed)))
    elif rows and (is_watched or any(_is_shared(keys) for _, _, keys, _ in rows)):
        rows += _summed(session, (*tagged, is_running), by=_HOURS, is_unheld=False)
    return _lines(rows, currency)


def _may_be_held(account: str) -> ColumnElement[bool]:
    """Return the condition that something is known of a charge's resource."""
    resource = _CHARGE.c.resource_id
    return or_(
        resource.like(_NAMED),
        *(exists().where(table.c.resource_id == resource) for table in _TELLING),
        exists().where(
            _ASSIGNMENT.c.account == account,
            _ASSIGNMENT.c.ended_at.is_(None),
            _ASSIGNMENT.c.resource_id == resource,
        ),
    )


def _is_shared(keys: tuple[str, ...]) -> bool:
    _, service, usage_type, *_ = keys
    return bool(shared_kind(usage_type, service))


def _cells(session: Session, conditions: Sequence[ColumnElement[bool]]) -> list[_Row]:
    """Return charges one by one: a quantity is text, which no database sums exactly."""
    columns = _CHARGE.c
    names = ("billed", "effective", "list_cost", "quantity")
    rows = session.connection().execute(
        select(columns.day, *(columns[name] for name in (*_KEYS, *names))).where(
            *conditions
        )
    )
    size = len(_KEYS) + 1
    return [(row[0], False, tuple(row[1:size]), tuple(row[size:])) for row in rows.all()]


def _summed(
    session: Session,
    conditions: Sequence[ColumnElement[bool]],
    *,
    by: Collection[str],
    is_unheld: bool,
) -> list[_Row]:
    """Return charges summed by some keys, the others ""; hours may be a float's.

    Amounts that are unknown are summed apart from those that are known.
    """
    columns = _CHARGE.c
    keys = [columns[name] if name in by else literal("") for name in _KEYS]
    unknown = [columns.quantity.is_(None), columns.list_cost.is_(None)]
    hours = func.sum(cast(columns.quantity, Numeric(38, 12, asdecimal=False)))
    grouped = [columns.day, *(columns[name] for name in _KEYS if name in by), *unknown]
    rows = session.connection().execute(
        select(
            columns.day,
            *keys,
            func.sum(columns.billed),
            func.sum(columns.effective),
            func.sum(columns.list_cost),
            case((func.count(columns.quantity) == func.count(), hours)),
        )
        .where(*conditions)
        .group_by(*grouped)
    )
    size = len(_KEYS) + 1
    found: list[_Row] = []
    for row in rows.all():
        billed, effective, listed, quantity = row[size:]
        amounts = (
            int(billed),
            int(effective),
            None if listed is None else int(listed),
            None if quantity is None else f"{quantity:.9f}",
        )
        found.append((row[0], is_unheld, tuple(row[1:size]), amounts))
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


def _lines(rows: Iterable[_Row], currency: str) -> dict[date, list[BillLine]]:
    """Return lines by day, those that are alike as one."""
    alike: dict[date, dict[tuple[str, ...], _Sum]] = {}
    found: dict[date, list[BillLine]] = {}
    for day, is_unheld, keys, amounts in rows:
        if is_unheld:  # Summed already; unknown and known amounts stay apart.
            one = _Sum()
            one.add(*amounts)
            found.setdefault(day, []).append(_line(keys, one, currency, is_unheld=True))
        else:
            alike.setdefault(day, {}).setdefault(keys, _Sum()).add(*amounts)
    for day, sums in alike.items():
        found.setdefault(day, []).extend(
            _line(keys, sums[keys], currency, is_unheld=False) for keys in sorted(sums)
        )
    return found


def _line(
    keys: tuple[str, ...], found: _Sum, currency: str, *, is_unheld: bool
) -> BillLine:
    region, service, usage_type, pricing, cost_category, job, resource_id, unit = keys
    return BillLine(
        region=region,
        service=service,
        usage_type=usage_type,
        pricing=pricing,
        cost_category=cost_category,
        job=job,
        resource_id=resource_id,
        billed=Money(found.billed, currency),
        effective=Money(found.effective, currency),
        list_cost=None if found.listed is None else Money(found.listed, currency),
        quantity=found.quantity,
        unit=unit,
        is_unheld=is_unheld,
    )
