"""The roll-up and its control as whole statements, in Athena's dialect. Pure text.

Three steps in one statement: rows are summed by the file's own columns; each sum gets the
ledger's words; sums of equal words become one cell. What a reservation was billed before
its month, or after, is put on the month's first or last day.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from billing.exports.cells import AMOUNT, NO_TEXT, Cells
from billing.exports.dialect import literal
from billing.exports.headers import Table
from billing.exports.views import ROWS, Shape, shape_of

#: Columns by which lines are rolled up, tags apart.
KEYS = (
    *("account", "period", "day", "last", "region", "service", "usage_type"),
    *("record_type", "pricing", "hint", "unit", "resource"),
)
#: What a cell has beside its keys: sums and counts.
SUMS = (
    *("billed", "effective", "listed", "quantity"),
    *("is_final", "lines", "unknown", "no_billed", "no_effective", "ends"),
)
_TYPES = {
    "period": "DATE", "day": "DATE", "last": "DATE", "ends": "TIMESTAMP",
    "billed": AMOUNT, "effective": AMOUNT, "listed": AMOUNT, "quantity": AMOUNT,
    "is_final": "INTEGER", "lines": "BIGINT", "unknown": "BIGINT",
    "no_billed": "BIGINT", "no_effective": "BIGINT",
}  # fmt: skip
_LAST = "LAST_DAY_OF_MONTH(period)"
#: Resources whose cost is attributed one by one: those that jobs hold, or belong to.
_RESOURCES = (
    *("i-%", "vol-%", "fs-%", "snap-%"),
    *("arn:%:instance/i-%", "arn:%:volume/vol-%", "arn:%:file-system/fs-%"),
    "arn:%:sagemaker:%",
)


def resource_sql(table: Table, tags: Mapping[str, str], held: Collection[str]) -> str:
    """Return the resource of a row that must be told apart from others, else NULL.

    Those are instances, volumes, file systems, snapshots and what SageMaker runs, of
    rows without a job tag; and whatever jobs are known to have held (``held``).
    """
    found = Cells(table).text("ResourceId", "lineItem/ResourceId")
    if found == NO_TEXT:
        return ""
    known = " OR ".join(f"{found} LIKE {literal(one)}" for one in _RESOURCES)
    tagged = [f"NULLIF({value}, '') IS NULL" for value in tags.values()]
    wanted = " AND ".join([*tagged, f"({known})"])
    if held:
        names = ", ".join(literal(one) for one in sorted(held))
        wanted = f"({wanted}) OR {found} IN ({names})"
    return f"CASE WHEN {wanted} THEN {found} END"


def rollup_sql(
    table: Table, tags: Mapping[str, str], held: Collection[str] = (), rows: str = ROWS
) -> str:
    """Return the statement whose rows are cells; ``tags`` is job key -> SQL of its value."""
    shape = shape_of(table, tags, resource=resource_sql(table, tags, held))
    names = [f"tag_{number}" for number in range(len(tags))]
    return f"""WITH grouped AS (
{_grouped(shape, rows)}
), worded AS (
{_worded(shape)}
)
{_cells(names)}"""


def control_sql(table: Table, rows: str = ROWS) -> str:
    """Return the statement that sums all rows at once: what the cells are held to."""
    billed, effective = shape_of(table, {}, resource="").amounts
    return f"""SELECT COUNT(*) AS lines, SUM({billed}) AS billed,
  SUM({effective}) AS effective FROM {rows}"""  # noqa: S608 - names are ours


def _grouped(shape: Shape, rows: str) -> str:
    columns = [f"{value} AS {name}" for name, value in shape.keys.items()]
    columns += [f"{value} AS {name}" for name, value in shape.sums.items()]
    return f"SELECT {_list(columns)}\nFROM {rows}\nGROUP BY {_places(shape.keys)}"


def _worded(shape: Shape) -> str:
    kept = ("billed", "billed_n", "effective", "effective_n", "final_n", "lines")
    columns = [f"{value} AS {name}" for name, value in shape.words.items()]
    return f"SELECT {_list([*columns, *kept])}\nFROM grouped"


def cell_types(tags: int) -> Mapping[str, str]:
    """Return the columns of a cell, with their types, in the order of the statement."""
    names = [f"tag_{number}" for number in range(tags)]
    columns = (*KEYS, "skip", "currency", *names, *SUMS)
    return {name: _TYPES.get(name, "VARCHAR") for name in columns}


def _cells(tags: Sequence[str]) -> str:
    within = {
        name: f"CASE WHEN {name} < period THEN period"
        f" WHEN {name} > {_LAST} THEN {_LAST} ELSE {name} END"
        for name in ("day", "last")
    }
    keys = {name: within.get(name, name) for name in (*KEYS, "skip", "currency", *tags)}
    unknown = "account IS NULL OR day IS NULL OR record_type IS NULL OR period IS NULL"
    missing = {name: f"SUM(lines) - SUM({name}_n)" for name in ("billed", "effective")}
    sums = {
        "billed": "SUM(billed)",
        "effective": "SUM(effective)",
        "listed": "CASE WHEN SUM(listed_n) = SUM(lines) THEN SUM(listed) END",
        "quantity": "CASE WHEN SUM(quantity_n) = SUM(lines) THEN SUM(quantity) END",
        "is_final": "CASE WHEN SUM(final_n) = SUM(lines) THEN 1 ELSE 0 END",
        "lines": "SUM(lines)",
        "unknown": f"SUM(CASE WHEN {unknown} THEN lines ELSE 0 END)",
        "no_billed": missing["billed"],
        "no_effective": missing["effective"],
        "ends": "MAX(ends)",
    }
    columns = [f"{value} AS {name}" for name, value in (keys | sums).items()]
    return f"SELECT {_list(columns)}\nFROM worded\nGROUP BY {_places(keys)}"


def _list(columns: Sequence[str]) -> str:
    return ",\n  ".join(columns)


def _places(keys: Collection[str]) -> str:
    return ", ".join(str(number) for number in range(1, len(keys) + 1))
