"""DuckDB over the files of one delivery, with bounded memory.

DuckDB is loaded when first used. Knows no ledger.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from billing.core.attribution import TagKeys
from billing.core.placements import Placement
from billing.exports.cells import entry
from billing.exports.celltable import CellTable, Row
from billing.exports.dialect import Dialect, literal, quoted, translated
from billing.exports.files import check_files, relation
from billing.exports.headers import Table, is_wanted
from billing.exports.parquet_names import Chunk, dictionary_keys
from billing.exports.rollup import control_sql, rollup_sql
from billing.exports.split import (
    has_splits,
    placements_of,
    shape_sql,
    split_rows,
    split_sql,
)
from billing.exports.views import ROWS
from billing.exports.watch import Share, watched

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TAGS = ("Tags", "resource_tags", "resourceTags")
_MAPS = (*TAGS, "product")


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


class Reader(CellTable):
    """One delivery's files, rolled up to cells."""

    def __init__(self, connection: DuckDBPyConnection, files: Sequence[Path]) -> None:
        super().__init__(connection)
        self._files = files
        self.table = Table.of(self._open(relation(files)))
        self._tag_values: Mapping[str, str] = {}

    def prepare(self, keys: TagKeys) -> None:
        """Find the job tags that the files hold."""
        found = {
            key: quoted(column) for key, column in self.table.tag_columns(keys).items()
        }
        for column in self.table.columns(*dict.fromkeys(TAGS)):
            kind = self.table.types[column]
            for name in sorted(self._names(column, kind)):
                if is_wanted(name, keys.job):
                    found.setdefault(name, entry(column, name, kind))
        self._tag_values = found
        self.tags = tuple(found)

    def roll_up(self, held: Collection[str] = (), share: Share | None = None) -> None:
        """Sum rows into cells; ``held``: resources that are told apart in any case."""
        sql = translated(rollup_sql(self.table, self._tag_values, held), Dialect.DUCKDB)
        with watched(self._connection, share):
            self._run(f"CREATE TEMP TABLE cell AS {sql}")

    def splits(self, keys: TagKeys) -> Sequence[Placement]:
        """Return what jobs held of instances, by rows of split cost allocation."""
        if not has_splits(self.table):
            return ()
        used = self._answer(split_sql(self.table, self._tag_values))
        shapes: dict[str, str] = dict(self._answer(shape_sql(self.table)))
        return placements_of(split_rows(used, self.tags, keys), shapes)

    def _answer(self, sql: str) -> list[Row]:
        return self._run(translated(sql, Dialect.DUCKDB)).fetchall()

    def control(self) -> tuple[int, Decimal, Decimal]:
        """Sum all rows at once, without rolling them up: rows, billed, effective."""
        sql = translated(control_sql(self.table), Dialect.DUCKDB)
        row = self._run(sql).fetchone()
        assert row is not None
        return int(row[0]), Decimal(row[1] or 0), Decimal(row[2] or 0)

    def _open(self, source: str) -> Mapping[str, str]:
        """Name the rows and return their columns; nested tags become texts of JSON."""
        rows = self._run(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
        types = {row[0]: row[1] for row in rows}
        wanted = {name.lower() for name in _MAPS}
        nested = [
            name
            for name, kind in types.items()
            if name.lower() in wanted
            and not (kind.startswith("MAP(") or kind == "VARCHAR")
        ]
        texts = ", ".join(
            f"CAST(TO_JSON({quoted(name)}) AS VARCHAR) AS {quoted(name)}"
            for name in nested
        )
        chosen = f"* REPLACE ({texts})" if nested else "*"
        self._run(f"CREATE TEMP VIEW {ROWS} AS SELECT {chosen} FROM {source}")  # noqa: S608
        return types | dict.fromkeys(nested, "VARCHAR")

    def _names(self, column: str, kind: str) -> list[str]:
        """Return the tag keys of a column of maps, or of texts of JSON."""
        cell, is_map = quoted(column), kind.startswith("MAP(")
        chunks = self._chunks(column) if is_map else []
        known = dictionary_keys(chunks) if chunks else None
        if known is not None:
            return sorted(known)
        # Maps are slow to tell apart, texts are slow to take apart.
        each = cell if is_map else "t"
        rows = f"(SELECT DISTINCT {cell} AS t FROM {ROWS})"  # noqa: S608
        names = self._run(
            f"SELECT DISTINCT UNNEST({'MAP' if is_map else 'JSON'}_KEYS({each}))"  # noqa: S608 - quoted above
            f" FROM {ROWS if is_map else rows} WHERE {each} IS NOT NULL"
        ).fetchall()
        return [name for (name,) in names]

    def _chunks(self, column: str) -> list[Chunk]:
        """Return where the keys of a column of maps lie in the files."""
        path = f"{column}, %, key"
        return [
            Chunk(path=file, codec=codec, start=start)
            for file in self._files
            for codec, start in self._run(
                "SELECT compression, dictionary_page_offset FROM parquet_metadata(?)"
                " WHERE path_in_schema LIKE ? AND num_values > 0",
                [str(file), path],
            ).fetchall()
        ]


@contextmanager
def open_reader(files: Sequence[Path], limits: EngineLimits) -> Iterator[Reader]:
    """Open the files of one delivery.

    Raises:
        UnreadableExportError: A file is cut, or no table.
        IncompleteExportError: Columns are missing.
    """
    with open_duckdb(limits) as connection:
        check_files(connection, files)
        yield Reader(connection, files)


@contextmanager
def open_duckdb(limits: EngineLimits) -> Iterator[DuckDBPyConnection]:
    """Open an empty database in memory that keeps to the limits."""
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
            yield connection
        finally:
            connection.close()
