"""Questions to ten million charges, on SQLite and, where there is one, PostgreSQL.

Building the ledger takes a minute or two for each; it is not part of any figure. On
PostgreSQL the server's own work counts in the wall time only.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.bench import million, product
from tests.bench.answer import highest
from tests.bench.asking import (
    CPU,
    MIDDLE,
    TEAMS_LIMIT_S,
    WALL,
    Target,
    ask_jobs,
    ask_teams,
    figure,
    jobs_of,
)
from tests.bench.figures import Figure
from tests.bench.fillers import SERVER, postgres_url, sqlite_url

CHARGES = 10_000_000
TIMES = 10


def measure(folder: Path) -> list[Figure]:
    """Measure every database there is."""
    path = folder / "ten-million.db"
    figures = _measure("SQLite", sqlite_url(path))
    path.unlink()
    with postgres_url() as url:
        if url is None:
            print(f"ten million on PostgreSQL: not measured, {SERVER} is not set")
            return figures
        return figures + _measure("PostgreSQL", url)


def _measure(where: str, url: str) -> list[Figure]:
    start = time.perf_counter()
    product.build(url, CHARGES)
    size = ", ".join(f"{rows:,} {name}" for name, rows in million.counts(url).items())
    took = time.perf_counter() - start
    print(f"ten million on {where}: built in {took:.0f} s: {size}", file=sys.stderr)
    jobs = jobs_of(CHARGES)
    month = ask_jobs(url, jobs)
    largest = ask_jobs(url, jobs[: million.GIANTS])
    teams = ask_teams(url, TIMES)
    job, team = f"10M, {where}, JOB", f"10M, {where}, month by team"
    return [
        figure(month, Target(name=f"{job}: all, p50, wall", share=MIDDLE, of=WALL)),
        *highest(f"{job}: all", month),
        *highest(f"{job}: largest", largest),
        *(
            figure(
                teams,
                Target(
                    name=f"{team}, p50, {kind}",
                    share=MIDDLE,
                    of=of,
                    limit_s=TEAMS_LIMIT_S,
                ),
            )
            for kind, of in (("wall", WALL), ("CPU", CPU))
        ),
    ]
