"""An export that is too large for one machine: rolled up far away, proved here.

The statement is the one that DuckDB gets, untranslated. Its rows, a cell each, go into a
table of DuckDB's, where every later question is answered as for files that were read
here. Knows no AWS.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from billing.core.attribution import TagKeys
from billing.core.periods import next_month
from billing.core.placements import Placement
from billing.exports.cells import Cells, entry
from billing.exports.celltable import CellTable
from billing.exports.dialect import literal, quoted
from billing.exports.engine import TAGS, EngineLimits, open_duckdb
from billing.exports.errors import UnreadableExportError
from billing.exports.headers import ExportFormat, Table, is_wanted
from billing.exports.rollup import cell_types, control_sql, rollup_sql
from billing.exports.split import (
    has_splits,
    placements_of,
    shape_sql,
    split_rows,
    split_sql,
)
from billing.exports.views import ROWS
from billing.exports.watch import Share
from billing.ports.exports import RemoteTable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NULL = "\\N"
#: Tag keys of texts of JSON cannot be listed far away: these spellings are looked for.
_PREFIXES = ("", "user:", "user_")


class RemoteReader(CellTable):
    """One billing period of a table far away, rolled up to cells."""

    def __init__(
        self, connection: DuckDBPyConnection, remote: RemoteTable, period: date
    ) -> None:
        super().__init__(connection)
        self._remote = remote
        self.table = Table.of(remote.columns())
        self._rows = f"(SELECT * FROM {remote.name} WHERE {within(self.table, period)}) AS {ROWS}"  # noqa: S608 - names are ours, or of the configuration
        self._tag_values: Mapping[str, str] = {}

    def prepare(self, keys: TagKeys) -> None:
        """Find the job tags that the rows hold."""
        found = {
            key: quoted(column) for key, column in self.table.tag_columns(keys).items()
        }
        for column in self.table.columns(*dict.fromkeys(TAGS)):
            kind = self.table.types[column]
            for name in sorted(self._names(column, kind, keys)):
                if is_wanted(name, keys.job):
                    found.setdefault(name, entry(column, name, kind))
        self._tag_values = found
        self.tags = tuple(found)

    def roll_up(self, held: Collection[str] = (), share: Share | None = None) -> None:
        """Have rows summed into cells; ``held``: resources told apart in any case."""
        del share  # Athena does not say how far it is.
        sql = rollup_sql(self.table, self._tag_values, held, self._rows)
        types = cell_types(len(self.tags))
        with TemporaryDirectory(prefix="gpucost-cells-") as folder:
            path = Path(folder) / "cells.csv"
            with path.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                for page in self._remote.run(sql):
                    for row in page:
                        if len(row) != len(types):
                            raise UnreadableExportError(
                                f"a row of {len(row)} cells, expected {len(types)}"
                            )
                        writer.writerow([_NULL if one is None else one for one in row])
            self._load(path, types)

    def splits(self, keys: TagKeys) -> Sequence[Placement]:
        """Return what jobs held of instances, by rows of split cost allocation."""
        if not has_splits(self.table):
            return ()
        used = [
            (row[0], date.fromisoformat(str(row[1])), *row[2:])
            for row in self._answer(split_sql(self.table, self._tag_values, self._rows))
        ]
        shapes = {
            str(resource): str(kind)
            for resource, kind in self._answer(shape_sql(self.table, self._rows))
        }
        return placements_of(split_rows(used, self.tags, keys), shapes)

    def _answer(self, sql: str) -> list[Sequence[str | None]]:
        return [row for page in self._remote.run(sql) for row in page]

    def control(self) -> tuple[int, Decimal, Decimal]:
        """Have all rows summed at once, by a statement of its own."""
        rows = [
            row for page in self._remote.run(control_sql(self.table, self._rows))
            for row in page
        ]  # fmt: skip
        if len(rows) != 1:
            raise UnreadableExportError(f"the control has {len(rows)} rows, expected 1")
        lines, billed, effective = rows[0]
        return int(lines or 0), Decimal(billed or 0), Decimal(effective or 0)

    def _load(self, path: Path, types: Mapping[str, str]) -> None:
        columns = ", ".join(
            f"CAST({name} AS {kind}) AS {name}" for name, kind in types.items()
        )
        texts = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in types)
        self._run(
            f"CREATE TEMP TABLE cell AS SELECT {columns} FROM read_csv("  # noqa: S608 - names are ours
            f"{literal(str(path))}, header = false, auto_detect = false, delim = ',',"
            f" quote = '\"', escape = '\"', nullstr = '{_NULL}', columns = {{{texts}}})"
        )

    def _names(self, column: str, kind: str, keys: TagKeys) -> list[str]:
        if not kind.startswith("MAP("):
            return [f"{prefix}{key}" for prefix in _PREFIXES for key in keys.job]
        found = self._remote.run(
            f"SELECT DISTINCT k FROM {self._rows}"  # noqa: S608 - as above
            f" CROSS JOIN UNNEST(MAP_KEYS({quoted(column)})) AS u (k)"
        )
        return [row[0] for page in found for row in page if row[0] is not None]


def within(table: Table, period: date) -> str:
    """Return the condition of a billing month; partitions are named where there are."""
    is_focus = table.format is ExportFormat.FOCUS
    start = "BillingPeriodStart" if is_focus else "bill/BillingPeriodStartDate"
    instant = Cells(table).instant(start)
    conditions = [
        f"{instant} >= TIMESTAMP '{period} 00:00:00'",
        f"{instant} < TIMESTAMP '{next_month(period)} 00:00:00'",
    ]
    conditions += [
        f"{quoted(name)} = '{period:%Y-%m}'"
        for name in table.types
        if name.lower() == "billing_period"
    ]
    return " AND ".join(conditions)


@contextmanager
def open_remote(
    remote: RemoteTable, period: date | None, limits: EngineLimits
) -> Iterator[RemoteReader]:
    """Open one billing period of a table far away.

    Raises:
        UnreadableExportError: The delivery does not say of which period it is.
        IncompleteExportError: Columns are missing.
    """
    if period is None:
        raise UnreadableExportError("engine athena needs deliveries with a manifest")
    with open_duckdb(limits) as connection:
        yield RemoteReader(connection, remote, period)
