"""Measure every figure and print one table: `make bench`, or name some of the figures.

``python -m tests.bench ingest answer`` measures only those two. A figure that is over
its target is printed as such; the exit code is 0 all the same.
"""

from __future__ import annotations

import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from os import cpu_count
from pathlib import Path

from tests.bench import (
    answer,
    attribution,
    big,
    clicks,
    exports,
    fleet,
    ingest,
    memory,
    policies,
    reconciliation,
    rollup_rows,
    startup,
)
from tests.bench.figures import Figure, table

PARTS: dict[str, Callable[[Path], list[Figure]]] = {
    "startup": startup.measure,
    "answer": answer.measure,
    "big": big.measure,
    "rows": rollup_rows.measure,
    "fleet": fleet.measure,
    "ingest": ingest.measure,
    "attribution": attribution.measure,
    "memory": memory.measure,
    "clicks": clicks.measure,
    "policies": policies.measure,
    "exports": exports.measure,
    "reconciliation": reconciliation.measure,
}


def main(names: list[str]) -> None:
    """Measure the named parts, or all."""
    unknown = set(names) - set(PARTS)
    if unknown:
        sys.exit(f"bench: no figure {sorted(unknown)}, expected some of {[*PARTS]}")
    start = time.perf_counter()
    figures: list[Figure] = []
    for name in names or PARTS:
        print(f"bench: measuring {name} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="gpucost-bench-") as folder:
            figures += PARTS[name](Path(folder))
    print(_machine())
    print(f"\n{table(figures)}\n")
    heavy = startup.heavy_imports()
    found = f"{', '.join(heavy)}: over" if heavy else "none of them: PASS"
    print(f"gpucost --help imports of {', '.join(startup.HEAVY)}: {found}")
    print(f"took {time.perf_counter() - start:.0f} s; own and baseline are medians")


def _machine() -> str:
    python = f"Python {platform.python_version()}"
    return f"{python}, SQLite {sqlite3.sqlite_version}, {cpu_count()} cores"


if __name__ == "__main__":
    main(sys.argv[1:])
