"""The lines of the bill that attribution starts from, read from SQL.

As few as say the same: what nothing can hold, and what only counts hours, is summed by
the database. Knows no rule; what the lines mean is `billing.core`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
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
    or_,
    select,
    type_coerce,
)
from sqlalchemy.types import NullType
from sqlmodel import Session

from billing.core.assignments import Assignment
from billing.core.bill_lines import BillLine
from billing.core.charges import Bucket, ChargeCategory
from billing.core.claims import AttributionRules
from billing.core.money import Money
from billing.core.shared_cost import shared_kind
from billing.ledger.columns import table_of
from billing.ledger.hot import days as day_reader
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
_Amounts = tuple[int, int, int | None, Any]
#: Day, keys, amounts.
_Row = tuple[date, tuple[str, ...], _Amounts]


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
    rows: list[_Row] = []
    found: list[tuple[date, BillLine]] = []
    if is_named:
        rows = _cells(session, untagged)
    else:
        held = or_(columns.resource_id == "", _may_be_held(account))
        rows = _cells(session, (*untagged, held))
        found += _unheld(session, (*untagged, ~held), currency)
    if is_whole:
        placed = and_(
            columns.resource_id != "",
            columns.resource_id.in_(select(_PLACEMENT.c.resource_id)),
        )
        rows += _cells(session, (*tagged, or_(is_running, placed)))
    found += _alike(rows, currency)
    is_asked = is_watched or any(_is_shared(line) for _, line in found)
    if found and is_asked and not is_whole:
        found += _hours(session, (*tagged, is_running), currency)
    lines: dict[date, list[BillLine]] = {}
    for day, line in found:
        lines.setdefault(day, []).append(line)
    return lines


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


def _is_shared(line: BillLine) -> bool:
    return bool(shared_kind(line.usage_type, line.service))


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
    return [(row[0], tuple(row[1:size]), tuple(row[size:])) for row in rows.all()]


def _unheld(
    session: Session, conditions: Sequence[ColumnElement[bool]], currency: str
) -> Iterator[tuple[date, BillLine]]:
    """Yield the sums of what nothing can hold; hours may be a float's.

    Amounts that are unknown are summed apart from those that are known.
    """
    columns = _CHARGE.c
    names = ("region", "service", "usage_type", "pricing", "cost_category")
    keys = [columns.day, *(columns[name] for name in names)]
    unknown = [columns.quantity.is_(None), columns.list_cost.is_(None)]
    sums = [func.sum(columns[name]) for name in ("billed", "effective", "list_cost")]
    rows = session.connection().execute(
        select(*_plain(*keys, *sums, _known_hours()))
        .where(*conditions)
        .group_by(*keys, *unknown)
    )
    read_day = day_reader(session)
    for day, region, service, usage_type, pricing, category, *amounts in rows.all():
        billed, effective, listed, hours = amounts
        yield read_day(day), BillLine(
            region=region, service=service, usage_type=usage_type, pricing=pricing,
            cost_category=category, job="", resource_id="", unit="",
            billed=Money(int(billed), currency),
            effective=Money(int(effective), currency),
            list_cost=None if listed is None else Money(int(listed), currency),
            quantity=_decimal(hours), is_unheld=True,
        )  # fmt: skip


def _hours(
    session: Session, conditions: Sequence[ColumnElement[bool]], currency: str
) -> Iterator[tuple[date, BillLine]]:
    """Yield the sums of what stays where it is: it counts by its hours, not its cost."""
    columns = _CHARGE.c
    names = ("region", "service", "usage_type", "job", "resource_id")
    keys = [columns.day, *(columns[name] for name in names)]
    rows = session.connection().execute(
        select(*_plain(*keys, _known_hours()))
        .where(*conditions)
        .group_by(*keys, columns.quantity.is_(None))
    )
    read_day, nothing = day_reader(session), Money.zero(currency)
    for day, region, service, usage_type, job, resource_id, hours in rows.all():
        yield read_day(day), BillLine(
            region=region, service=service, usage_type=usage_type, pricing="",
            cost_category="", job=job, resource_id=resource_id, unit="",
            billed=nothing, effective=nothing, list_cost=None,
            quantity=_decimal(hours),
        )  # fmt: skip


def _plain(*columns: Any) -> list[Any]:  # noqa: ANN401 - expressions
    """Leave cells as the driver has them: there are many, and types read each anew."""
    return [type_coerce(one, NullType()) for one in columns]


def _known_hours() -> Any:  # noqa: ANN401 - an expression
    quantity = _CHARGE.c.quantity
    hours = func.sum(cast(quantity, Numeric(38, 12, asdecimal=False)))
    return case((func.count(quantity) == func.count(), hours))


def _decimal(hours: Any) -> Decimal | None:  # noqa: ANN401 - a database's number
    return None if hours is None else Decimal(f"{hours:.9f}")


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


def _alike(rows: Iterable[_Row], currency: str) -> Iterator[tuple[date, BillLine]]:
    """Yield lines, those that are alike as one."""
    sums: dict[tuple[date, tuple[str, ...]], _Sum] = {}
    for day, keys, amounts in rows:
        sums.setdefault((day, keys), _Sum()).add(*amounts)
    for (day, keys), one in sorted(sums.items(), key=lambda item: item[0]):
        region, service, usage_type, pricing, category, job, resource_id, unit = keys
        yield day, BillLine(
            region=region, service=service, usage_type=usage_type, pricing=pricing,
            cost_category=category, job=job, resource_id=resource_id, unit=unit,
            billed=Money(one.billed, currency),
            effective=Money(one.effective, currency),
            list_cost=None if one.listed is None else Money(one.listed, currency),
            quantity=one.quantity,
        )  # fmt: skip
