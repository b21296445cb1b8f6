"""One source text of SQL, in Athena's dialect, for every engine that reads exports.

Statements keep to a subset that means the same everywhere, which the tests hold to equal
answers on DuckDB and Spark: no rounding, `element_at` for maps, intervals instead of
`date_add` (whose unit is lost on the way to Spark), `GROUP BY` by place, sums of
DECIMAL(38,12). Knows no engine.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache


class Dialect(StrEnum):
    """Engines by the words of the translator."""

    ATHENA = "athena"
    DUCKDB = "duckdb"
    SPARK = "spark"


@lru_cache(maxsize=64)
def translated(sql: str, to: Dialect) -> str:
    """Return a statement of Athena's as another engine understands it."""
    if to is Dialect.ATHENA:
        return sql
    import sqlglot  # noqa: PLC0415 - half a second, paid when an export is read

    return sqlglot.transpile(sql, read=Dialect.ATHENA.value, write=to.value)[0]


def quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
