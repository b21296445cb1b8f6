"""DuckDB over the files of one delivery, with bounded memory.

The only module that knows DuckDB, which is loaded when first used. Knows no ledger.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billing.core.attribution import TagKeys
from billing.exports.errors import IncompleteExportError, UnreadableExportError
from billing.exports.headers import Table, is_wanted
from billing.exports.views import KEYS, line_sql, literal, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = tuple[Any, ...]

#: A Parquet file that unpacks to more than this times its size is no bill.
INFLATION_MAX = 100
_INFLATED_BYTES_FREE = 64 * 1024 * 1024
_MESSAGE_CHARS_MAX = 240
_TAGS = ("Tags", "resource_tags", "resourceTags")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLimits:
    """What reading an export may use.

    Attributes:
        spool: Where DuckDB puts what does not fit in memory; None: the system's place.
    """

    memory: str = "1GB"
    threads: int = 2
    disk: str = "20GB"
    spool: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Sums over lines of one kind, from a pass of its own over the files.

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


class Reader:
    """One delivery's files as lines and cells.

    A cell is the sum of lines that share everything the ledger tells apart.
    """

    def __init__(self, connection: DuckDBPyConnection, files: Sequence[Path]) -> None:
        self._connection = connection
        self._relation = _relation(files)
        self.table = Table.of(self._types())
        self.tags: tuple[str, ...] = ()

    def prepare(self, keys: TagKeys) -> None:
        """Make the view of lines, with the job tags that the files hold."""
        values = self._tag_values(keys)
        self.tags = tuple(values)
        self._run(f"CREATE VIEW line AS {line_sql(self.table, values, self._relation)}")

    def checks(self) -> Sequence[Check]:
        """Sum the lines without rolling them up."""
        rows = self._run("""
            SELECT COALESCE(skip, ''), period, COALESCE(currency, ''), COUNT(*),
              SUM(billed), SUM(effective),
              COUNT(*) FILTER (account IS NULL OR day IS NULL OR record_type IS NULL
                OR billed IS NULL OR effective IS NULL),
              MAX(ends)
            FROM line GROUP BY ALL ORDER BY ALL""").fetchall()
        return [
            Check(
                skip=skip, period=period, currency=currency, rows=count, billed=billed,
                effective=effective, unknown=unknown,
                ends=ends and ends.replace(tzinfo=UTC),
            )
            for skip, period, currency, count, billed, effective, unknown, ends in rows
        ]  # fmt: skip

    def unknown_sample(self) -> str:
        """Return what the first record type without an amount lacks, in words."""
        row = self._run("""
            SELECT COALESCE(record_type, 'rows without a type'), COUNT(*),
              COUNT(*) FILTER (billed IS NULL), COUNT(*) FILTER (effective IS NULL)
            FROM line WHERE skip IS NULL AND (account IS NULL OR day IS NULL
              OR record_type IS NULL OR billed IS NULL OR effective IS NULL)
            GROUP BY ALL ORDER BY ALL LIMIT 1""").fetchone()
        assert row is not None
        kind, count, billed, effective = row
        lacks = (
            "billed cost" if billed else "effective cost" if effective else "account"
        )
        return f"{count} rows of type {kind!r} have no {lacks} that can be read"

    def roll_up(self) -> None:
        """Sum lines into cells; the month is that of the day, so it is no key."""
        keys = ", ".join(key for key in KEYS if key != "period")
        tags = "".join(f", tag_{number}" for number in range(len(self.tags)))
        self._run(f"""
            CREATE TEMP TABLE cell AS
            SELECT {keys}{tags}, ANY_VALUE(period) AS period, SUM(billed) AS billed,
              SUM(effective) AS effective,
              CASE WHEN COUNT(listed) = COUNT(*) THEN SUM(listed) END AS listed,
              CASE WHEN COUNT(quantity) = COUNT(*) THEN SUM(quantity) END AS quantity,
              BOOL_AND(is_final) AS is_final, COUNT(*) AS lines
            FROM line WHERE skip IS NULL GROUP BY ALL""")  # noqa: S608 - names are ours

    def cell_count(self) -> int:
        """Return how many lines of the ledger the cells are, fees not yet spread."""
        row = self._run("SELECT COUNT(*) FROM cell").fetchone()
        return int(row[0]) if row else 0

    def cell_sums(self) -> Sequence[Row]:
        """Return period, lines, billed and effective of the cells."""
        return self._run("""
            SELECT period, SUM(lines), SUM(billed), SUM(effective)
            FROM cell GROUP BY period ORDER BY period""").fetchall()

    def accounts(self, period: object) -> Sequence[tuple[str, bool]]:
        """Return each account of a billing period, and whether its bill is final."""
        return self._run(
            "SELECT account, BOOL_AND(is_final) FROM cell WHERE period = ?"
            " GROUP BY account ORDER BY account",
            [period],
        ).fetchall()

    def days(self, period: object, account: str) -> Sequence[Row]:
        """Return day, last day, billed and effective sums of an account."""
        return self._run(
            "SELECT day, last, SUM(billed), SUM(effective) FROM cell"
            " WHERE period = ? AND account = ? GROUP BY day, last ORDER BY day, last",
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
            " CAST(listed AS VARCHAR), CAST(quantity AS VARCHAR), is_final"
            " FROM cell WHERE period = ? ORDER BY ALL",
            [period],
        )
        while page := found.fetchmany(size):
            yield page

    def _types(self) -> Mapping[str, str]:
        rows = self._run(f"DESCRIBE SELECT * FROM {self._relation}").fetchall()  # noqa: S608
        return {row[0]: row[1] for row in rows}

    def _tag_values(self, keys: TagKeys) -> Mapping[str, str]:
        """Return tag key -> SQL of its value, for job keys only."""
        found = {
            key: f"NULLIF({quoted(column)}, '')"
            for key, column in self.table.tag_columns(keys).items()
        }
        for column in self.table.columns(*dict.fromkeys(_TAGS)):
            cell, kind = quoted(column), self.table.types[column]
            is_map = kind.startswith("MAP(")
            if not is_map and kind != "VARCHAR":
                cell = f"TO_JSON({cell})"
            # Maps are slow to tell apart, texts are slow to take apart.
            each = cell if is_map else "t"
            rows = f"(SELECT DISTINCT {cell} AS t FROM {self._relation})"  # noqa: S608
            names = self._run(
                f"SELECT DISTINCT UNNEST({'MAP' if is_map else 'JSON'}_KEYS({each}))"  # noqa: S608 - quoted above
                f" FROM {self._relation if is_map else rows}"
                f" WHERE {each} IS NOT NULL"
            ).fetchall()
            for (name,) in sorted(names):
                if is_wanted(name, keys.job):
                    found.setdefault(name, _tag_value(cell, name, is_map=is_map))
        return found

    def _run(self, sql: str, values: Sequence[object] = ()) -> DuckDBPyConnection:
        from duckdb import Error  # noqa: PLC0415 - loaded when an export is read

        try:
            return self._connection.execute(sql, [*values])
        except Error as error:
            raise UnreadableExportError(_first_line(str(error))) from error


@contextmanager
def open_reader(files: Sequence[Path], limits: EngineLimits) -> Iterator[Reader]:
    """Open the files of one delivery.

    Raises:
        UnreadableExportError: A file is cut, or no table.
        IncompleteExportError: Columns are missing.
    """
    import duckdb  # noqa: PLC0415 - loaded when an export is read

    with tempfile.TemporaryDirectory(prefix="gpucost-", dir=limits.spool) as spool:
        settings = {
            "memory_limit": limits.memory, "threads": str(limits.threads),
            "temp_directory": spool, "max_temp_directory_size": limits.disk,
            "enable_progress_bar": "false",  # It would go to stdout.
            "preserve_insertion_order": "false", "TimeZone": "UTC",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }  # fmt: skip
        connection = duckdb.connect(":memory:")
        try:
            for name, value in settings.items():
                connection.execute(f"SET {name} = {literal(value)}")
            _check_files(connection, files)
            yield Reader(connection, files)
        finally:
            connection.close()


def is_parquet(path: str) -> bool:
    """Tell a Parquet file by its name."""
    return path.lower().endswith((".parquet", ".parq"))


def is_table(path: str) -> bool:
    """Tell by its name whether a file can be read as a table."""
    return is_parquet(path) or path.lower().endswith((".csv", ".csv.gz"))


def _relation(files: Sequence[Path]) -> str:
    """Return the table function over files of one kind and one set of columns."""
    names = ", ".join(literal(str(path)) for path in files)
    if is_parquet(files[0].name):
        return f"read_parquet([{names}], hive_partitioning = false)"
    return (
        f"read_csv([{names}], all_varchar = true, header = true, delim = ',',"
        " quote = '\"', escape = '\"', comment = '', nullstr = ['', 'NULL'], strict_mode = true,"
        " hive_partitioning = false)"
    )


def _check_files(connection: DuckDBPyConnection, files: Sequence[Path]) -> None:
    """Refuse what is known to be wrong before anything of it is read."""
    if not files:
        raise IncompleteExportError("the export has no files")
    kinds = {is_parquet(path.name) for path in files}
    other = next((path.name for path in files if not is_table(path.name)), "")
    if other:
        raise UnreadableExportError(
            f"{other!r} is no table that can be read: deliver Parquet or GZIP, not ZIP"
        )
    if len(kinds) > 1:
        raise UnreadableExportError("the export mixes Parquet and CSV files")
    for path in files:
        if kinds == {True}:
            _check_inflation(connection, path)
        elif path.suffix.lower() == ".csv":
            _check_ends_whole(path)


def _check_inflation(connection: DuckDBPyConnection, path: Path) -> None:
    from duckdb import Error  # noqa: PLC0415 - as above

    try:
        row = connection.execute(
            "SELECT SUM(total_uncompressed_size) FROM parquet_metadata(?)", [str(path)]
        ).fetchone()
    except Error as error:
        raise UnreadableExportError(_first_line(str(error))) from error
    inflated = int((row and row[0]) or 0)
    allowed = max(path.stat().st_size * INFLATION_MAX, _INFLATED_BYTES_FREE)
    if inflated > allowed:
        raise UnreadableExportError(
            f"{path.name!r} unpacks to {inflated} bytes, over {INFLATION_MAX} times its size"
        )


def _check_ends_whole(path: Path) -> None:
    """Refuse a text that stops inside a line: its last amount may be cut."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(file.tell() - 1, 0))
        if file.read(1) not in {b"\n", b"\r"}:
            raise UnreadableExportError(f"{path.name!r} ends inside a line")


def _tag_value(cell: str, name: str, *, is_map: bool) -> str:
    if is_map:
        return f"NULLIF({cell}[{literal(name)}], '')"
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    path = f'$."{escaped}"'
    return f"NULLIF(JSON_EXTRACT_STRING({cell}, {literal(path)}), '')"


def _first_line(message: str) -> str:
    """Return a failure without the rows that it may quote."""
    line = re.split(r"\r?\n", message.strip(), maxsplit=1)[0][:_MESSAGE_CHARS_MAX]
    if "sniffing" in line:
        line += " Its rows do not fit its header, or it is no CSV file."
    return line
