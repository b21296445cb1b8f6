"""Files of a delivery as tables: what is known to be wrong is refused before reading.

Knows DuckDB's table functions and metadata, and nothing of bills.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from billing.exports.dialect import literal
from billing.exports.errors import IncompleteExportError, UnreadableExportError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: A Parquet file that unpacks to more than this times its size is no bill.
INFLATION_MAX = 100
_INFLATED_BYTES_FREE = 64 * 1024 * 1024
_MESSAGE_CHARS_MAX = 240


def is_parquet(path: str) -> bool:
    """Tell a Parquet file by its name."""
    return path.lower().endswith((".parquet", ".parq"))


def is_table(path: str) -> bool:
    """Tell by its name whether a file can be read as a table."""
    return is_parquet(path) or path.lower().endswith((".csv", ".csv.gz"))


def relation(files: Sequence[Path]) -> str:
    """Return the table function over files of one kind and one set of columns."""
    names = ", ".join(literal(str(path)) for path in files)
    if is_parquet(files[0].name):
        return f"read_parquet([{names}], hive_partitioning = false)"
    return (
        f"read_csv([{names}], all_varchar = true, header = true, delim = ',',"
        " quote = '\"', escape = '\"', comment = '', nullstr = ['', 'NULL'], strict_mode = true,"
        " hive_partitioning = false)"
    )


def check_files(connection: DuckDBPyConnection, files: Sequence[Path]) -> None:
    """Refuse what is known to be wrong before anything of it is read.

    Raises:
        UnreadableExportError: A file is cut, too large or no table.
        IncompleteExportError: There is none.
    """
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
    from duckdb import Error  # noqa: PLC0415 - loaded when an export is read

    try:
        row = connection.execute(
            "SELECT SUM(total_uncompressed_size) FROM parquet_metadata(?)", [str(path)]
        ).fetchone()
    except Error as error:
        raise UnreadableExportError(first_line(str(error))) from error
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


def first_line(message: str) -> str:
    """Return a failure without the rows that it may quote."""
    line = re.split(r"\r?\n", message.strip(), maxsplit=1)[0][:_MESSAGE_CHARS_MAX]
    if "sniffing" in line:
        line += " Its rows do not fit its header, or it is no CSV file."
    return line
