"""The cells of one delivery in a table of DuckDB's, and every question about them.

A cell is the sum of lines that share everything the ledger tells apart. Knows neither
where the cells come from nor the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from billing.exports.errors import UnreadableExportError
from billing.exports.files import first_line
from billing.exports.rollup import KEYS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = tuple[Any, ...]

#: More cells with a resource than this are one too many: the cheapest lose theirs.
RESOURCE_CELLS_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Sums over cells of one kind.

    Attributes:
        skip: Why these rows are not lines of the bill; "" for those that are.
        unknown: Rows without account, day, type or one of the amounts.
        ends: End of the last usage; None without usage.
    """

    skip: str
    period: date | None
    currency: str
    rows: int
    billed: Decimal
    effective: Decimal
    unknown: int
    ends: datetime | None


class CellTable:
    """The table ``cell`` of a connection: columns as `billing.exports.rollup` makes them."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self.tags: tuple[str, ...] = ()

    def checks(self) -> Sequence[Check]:
        """Sum the cells by what decides whether they may be believed."""
        rows = self._run("""
            SELECT COALESCE(skip, ''), period, COALESCE(currency, ''), SUM(lines),
              SUM(billed), SUM(effective),
              SUM(unknown + no_billed + no_effective), MAX(ends)
            FROM cell GROUP BY ALL ORDER BY ALL""").fetchall()
        return [
            Check(
                skip=skip, period=period, currency=currency, rows=int(count),
                billed=billed, effective=effective, unknown=int(unknown),
                ends=ends and ends.replace(tzinfo=UTC),
            )
            for skip, period, currency, count, billed, effective, unknown, ends in rows
        ]  # fmt: skip

    def unknown_sample(self) -> str:
        """Return what the first record type without an amount lacks, in words."""
        row = self._run("""
            SELECT COALESCE(record_type, 'rows without a type'), SUM(unknown),
              SUM(no_billed), SUM(no_effective)
            FROM cell WHERE skip IS NULL AND unknown + no_billed + no_effective > 0
            GROUP BY ALL ORDER BY ALL LIMIT 1""").fetchone()
        assert row is not None
        kind, unknown, billed, effective = row
        lacks = (
            "billed cost" if billed else "effective cost" if effective else "account"
        )
        count = int(billed or effective or unknown)
        return f"{count} rows of type {kind!r} have no {lacks} that can be read"

    def totals(self) -> tuple[int, Decimal, Decimal]:
        """Return rows, billed and effective of all cells, skipped ones included."""
        row = self._run("""
            SELECT COALESCE(SUM(lines), 0), COALESCE(SUM(billed), 0),
              COALESCE(SUM(effective), 0) FROM cell""").fetchone()
        assert row is not None
        return int(row[0]), Decimal(row[1]), Decimal(row[2])

    def cell_count(self) -> int:
        """Return how many lines of the ledger the cells are, fees not yet spread."""
        row = self._run("SELECT COUNT(*) FROM cell WHERE skip IS NULL").fetchone()
        return int(row[0]) if row else 0

    def bound_resources(self, most: int = RESOURCE_CELLS_MAX) -> int:
        """Let the cheapest resources share their cells; return how many lost theirs."""
        row = self._run(
            "SELECT COUNT(*) FROM cell WHERE resource IS NOT NULL"
        ).fetchone()
        if row is None or row[0] <= most:
            return 0
        self._run("""
            CREATE TEMP TABLE dropped AS SELECT resource FROM (
              SELECT resource, SUM(COUNT(*)) OVER (
                ORDER BY SUM(ABS(effective)) DESC, resource) AS rank
              FROM cell WHERE resource IS NOT NULL GROUP BY resource)
            WHERE rank > ?""", [most])  # fmt: skip
        keys = ", ".join(f"tag_{number}" for number in range(len(self.tags)))
        names = ", ".join(key for key in KEYS if key != "resource")
        names += f", skip, currency{', ' if keys else ''}{keys}"
        self._run(f"""
            CREATE TEMP TABLE fewer AS SELECT {names},
              CASE WHEN resource NOT IN (SELECT resource FROM dropped) THEN resource END
                AS resource,
              SUM(billed) AS billed, SUM(effective) AS effective,
              CASE WHEN COUNT(listed) = COUNT(*) THEN SUM(listed) END AS listed,
              CASE WHEN COUNT(quantity) = COUNT(*) THEN SUM(quantity) END AS quantity,
              MIN(is_final) AS is_final, SUM(lines) AS lines, SUM(unknown) AS unknown,
              SUM(no_billed) AS no_billed, SUM(no_effective) AS no_effective,
              MAX(ends) AS ends
            FROM cell GROUP BY ALL""")  # noqa: S608 - names are ours
        self._run("DROP TABLE cell")
        self._run("ALTER TABLE fewer RENAME TO cell")
        found = self._run("SELECT COUNT(*) FROM dropped").fetchone()
        return int(found[0]) if found else 0

    def accounts(self, period: object) -> Sequence[tuple[str, bool]]:
        """Return each account of a billing period, and whether its bill is final."""
        return self._run(
            "SELECT account, MIN(is_final) = 1 FROM cell"
            " WHERE skip IS NULL AND period = ? GROUP BY account ORDER BY account",
            [period],
        ).fetchall()

    def days(self, period: object, account: str) -> Sequence[Row]:
        """Return day, last day, billed and effective sums of an account."""
        return self._run(
            "SELECT day, last, SUM(billed), SUM(effective) FROM cell WHERE skip IS NULL"
            " AND period = ? AND account = ? GROUP BY day, last ORDER BY day, last",
            [period, account],
        ).fetchall()

    def cells(self, period: object, size: int) -> Iterator[list[Row]]:
        """Yield pages of a period's cells by account: keys, tags, sums, finality.

        Amounts come as texts of 12 places: they are exact, and quick to read.
        """
        tags = "".join(f" tag_{number}," for number in range(len(self.tags)))
        found = self._run(
            f"SELECT {', '.join(KEYS)},{tags}"  # noqa: S608 - names are ours
            " CAST(billed AS VARCHAR), CAST(effective AS VARCHAR),"
            " CAST(listed AS VARCHAR), CAST(quantity AS VARCHAR), is_final = 1"
            " FROM cell WHERE skip IS NULL AND period = ?"
            " ORDER BY account, day, usage_type, resource",
            [period],
        )
        while page := found.fetchmany(size):
            yield page

    def _run(self, sql: str, values: Sequence[object] = ()) -> DuckDBPyConnection:
        from duckdb import Error  # noqa: PLC0415 - loaded when an export is read

        try:
            return self._connection.execute(sql, [*values])
        except Error as error:
            raise UnreadableExportError(first_line(str(error))) from error
