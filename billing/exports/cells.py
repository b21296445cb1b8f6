"""Expressions over a table's columns, whatever the columns' names and types. Pure text.

In Athena's dialect; see `billing.exports.dialect` for the subset that is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from billing.exports.dialect import literal, quoted
from billing.exports.headers import Table

AMOUNT = "DECIMAL(38,12)"
NO_TEXT = "CAST(NULL AS VARCHAR)"
NO_AMOUNT = f"CAST(NULL AS {AMOUNT})"
NO_INSTANT = "CAST(NULL AS TIMESTAMP)"


@dataclass(frozen=True, slots=True)
class Cells:
    """Expressions over one row; an absent column is NULL."""

    table: Table

    def text(self, *names: str) -> str:
        """Return the first of the columns that holds a text."""
        found = [self.as_text(column) for column in self.table.columns(*names)]
        return first([f"NULLIF({one}, '')" for one in found], NO_TEXT)

    def amount(self, *names: str, lenient: bool = False) -> str:
        """Return the first of the columns that holds a number, exact to 12 places."""
        cast = "TRY_CAST" if lenient else "CAST"
        found = []
        for column in self.table.columns(*names):
            is_text = self.table.types[column] == "VARCHAR"
            cell = f"NULLIF({quoted(column)}, '')" if is_text else quoted(column)
            found.append(f"{cast}({cell} AS {AMOUNT})")
        return first(found, NO_AMOUNT)

    def entries(self, column_name: str, key: str) -> list[str]:
        """Return one text of maps, or of JSON in texts."""
        return [
            entry(column, key, self.table.types[column])
            for column in self.table.columns(column_name)
        ]

    def instant(self, name: str) -> str:
        """Return an instant in UTC."""
        found = []
        for column in self.table.columns(name):
            cell = quoted(column)
            if self.table.types[column] == "VARCHAR":
                # Athena reads no mark between date and time, and none of the zone.
                cell = f"NULLIF(REPLACE(REPLACE({cell}, 'T', ' '), 'Z', ''), '')"
            found.append(f"CAST({cell} AS TIMESTAMP)")
        return first(found, NO_INSTANT)

    def as_text(self, column: str) -> str:
        """Return a column as a text, whatever it holds."""
        is_text = self.table.types[column] == "VARCHAR"
        return quoted(column) if is_text else f"CAST({quoted(column)} AS VARCHAR)"


@dataclass(slots=True)
class Grouped:
    """Expressions over what rows are grouped by: the columns as they stand in the file.

    Words are made of groups and not of rows: there are a thousand times fewer.
    """

    row: Cells
    keys: dict[str, str] = field(default_factory=dict)

    def of(self, expression: str) -> str:
        """Group by an expression over a row and return its name."""
        if expression.startswith("CAST(NULL AS"):
            return expression
        for name, known in self.keys.items():
            if known == expression:
                return name
        name = f"k{len(self.keys)}"
        self.keys[name] = expression
        return name

    def text(self, *names: str) -> str:
        """Return the first of the columns that holds a text."""
        found = [
            self.of(self.row.as_text(one)) for one in self.row.table.columns(*names)
        ]
        return first([f"NULLIF({one}, '')" for one in found], NO_TEXT)

    def entry(self, column_name: str, key: str) -> str:
        """Return one text of a map, or of JSON in a text."""
        found = [self.of(one) for one in self.row.entries(column_name, key)]
        return first([f"NULLIF({one}, '')" for one in found], NO_TEXT)

    def day(self, name: str) -> str:
        """Return the day of an instant."""
        instant = self.row.instant(name)
        return self.of(
            "CAST(NULL AS DATE)"
            if instant == NO_INSTANT
            else f"CAST({instant} AS DATE)"
        )

    def month(self, name: str) -> str:
        """Return the first day of an instant's month."""
        return f"CAST(DATE_TRUNC('month', {self.day(name)}) AS DATE)"


def entry(column: str, key: str, kind: str) -> str:
    """Return one text of a column that is a map, or a text of JSON."""
    if kind.startswith("MAP("):
        return f"ELEMENT_AT({quoted(column)}, {literal(key)})"
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    path = literal(f'$["{escaped}"]')
    return f"JSON_EXTRACT_SCALAR({quoted(column)}, {path})"


def first(expressions: Sequence[str], absent: str) -> str:
    """Return the first of the values that is known."""
    if not expressions:
        return absent
    if len(expressions) == 1:
        return expressions[0]
    return f"COALESCE({', '.join(expressions)})"
