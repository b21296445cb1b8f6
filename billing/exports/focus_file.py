"""A file of FOCUS rows, CSV or Parquet, that is there as a whole or not at all.

Rows are written beside the file's place and moved there at the end. Knows no ledger.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from billing.core.errors import GpucostError
from billing.exports.dialect import literal, quoted
from billing.exports.engine import EngineLimits, open_duckdb
from billing.exports.focus_rows import COLUMNS, FocusRow

#: A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\n")
_TEXTS = tuple(name for name, kind in COLUMNS.items() if kind == "VARCHAR")


class ExportFileError(GpucostError, OSError):
    """The file could not be written; what was there before still is."""

    code = "not_written"
    hint = "name a file in a folder that exists and can be written to"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{str(path)!r} could not be written: {reason}")


class FocusFile:
    """Takes rows; counts them."""

    def __init__(self, stream: IO[str], *, is_for_people: bool) -> None:
        self._writer = csv.DictWriter(stream, [*COLUMNS], lineterminator="\n")
        self._writer.writeheader()
        self._is_for_people = is_for_people
        self.rows = 0

    def write(self, rows: Iterable[FocusRow]) -> None:
        """Append rows."""
        for row in rows:
            _tidy(row, is_for_people=self._is_for_people)
            self._writer.writerow(row)
            self.rows += 1


@contextmanager
def focus_file(path: Path, *, is_parquet: bool) -> Iterator[FocusFile]:
    """Provide a file to write to; it takes its place when the block ends well.

    Raises:
        ExportFileError: The folder is not there, the disk is full and the like.
    """
    try:
        with tempfile.TemporaryDirectory(
            prefix=".gpucost-export-", dir=path.absolute().parent
        ) as folder:
            made = Path(folder) / "rows.csv"
            with made.open("w", encoding="utf-8", newline="") as stream:
                yield FocusFile(stream, is_for_people=not is_parquet)
            if is_parquet:
                made = _as_parquet(made)
            with made.open("rb") as whole:
                os.fsync(whole.fileno())
            made.replace(path)
    except OSError as error:
        if isinstance(error, GpucostError):
            raise
        raise ExportFileError(path, error.strerror or str(error)) from error
    _settle(path.absolute().parent)


def _settle(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _tidy(row: FocusRow, *, is_for_people: bool) -> None:
    """Keep texts of tags and users on their line, and from being run as formulas.

    See OWASP: CSV injection.
    """
    for name in _TEXTS:
        value: Any = row[name]
        if isinstance(value, str):
            value = value.replace("\r", " ")
            if is_for_people and value.lstrip(" ").startswith(_FORMULA):
                value = f"'{value}"
            row[name] = value


def _as_parquet(made: Path) -> Path:
    path = made.with_name("rows.parquet")
    columns = ", ".join(
        f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}"
        for name, kind in COLUMNS.items()
    )
    with open_duckdb(EngineLimits(spool=made.parent)) as connection:
        connection.execute(
            f"COPY (SELECT {columns} FROM read_csv({literal(str(made))},"  # noqa: S608 - names are ours
            " all_varchar = true, header = true, delim = ',', quote = '\"',"
            " escape = '\"', nullstr = '', allow_quoted_nulls = false,"
            " strict_mode = true, auto_detect = false, columns = "
            f"{_texts()})) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)"
        )
    return path


def _texts() -> str:
    pairs = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in COLUMNS)
    return "{" + pairs + "}"
