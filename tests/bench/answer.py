"""`/gpucost job-123` on a million charges: from the parsed command to finished blocks.

The database is included, the network is not. The baseline is bare SQL on the daily
rollup: the two sums, by day and by category, that the answer shows.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path
from statistics import median

from billing.core.periods import month_start
from tests.bench import million, product
from tests.bench.figures import Figure, interleaved, quantile, seconds

JOBS = 400
ROUNDS = 3
LIMIT_S = 0.010
MIDDLE = 0.5
BARE = tuple(
    f"SELECT {column}, SUM(effective) FROM cost_rollup"  # noqa: S608 - two names of ours
    f" WHERE key = ? AND day >= ? AND day < ? GROUP BY {column}"
    for column in ("day", "cost_category")
)


def measure(folder: Path) -> list[Figure]:
    """Ask about the same jobs in turn, then about the largest over the whole year."""
    path = folder / "million.db"
    product.create(path)
    million.fill(path, product.SOURCE)
    product.add_fleet(path)
    million.add_history(path)
    size = ", ".join(f"{rows:,} {name}" for name, rows in million.counts(path).items())
    print(f"ledger of the answers: {size}")
    jobs = chosen_jobs()
    giants = [job for job in jobs if job.startswith("giant")]
    own, bare = _times(path, jobs, None)
    year, bare_year = _times(path, giants, million.SINCE)
    return [
        _figure("all jobs, p50", own, bare, share=0.50),
        _figure("all jobs, p99", own, bare, share=0.99),
        _figure(
            "the largest jobs, p99",
            [times[: len(giants)] for times in own],
            [times[: len(giants)] for times in bare],
            share=0.99,
        ),
        _figure("the largest over a year, p50", year, bare_year, share=0.50),
    ]


def chosen_jobs() -> list[str]:
    """Name every giant first, then what runs, then others with cost in the month."""
    month = month_start(million.UNTIL)
    busy = {run.job for run, _ in million.running()}
    others = [run.job for run in million.runs() if run.last > month]
    return list(
        dict.fromkeys(
            [
                *(job for job in others if job.startswith("giant")),
                *sorted(busy),
                *others,
            ]
        )
    )[:JOBS]


def _times(
    path: Path, jobs: list[str], since: date | None
) -> tuple[list[list[float]], list[list[float]]]:
    """Return the seconds of every answer in every round that counts."""
    window = (f"{since or month_start(million.UNTIL)}", f"{million.UNTIL}")
    own: list[list[float]] = []
    bare: list[list[float]] = []
    with (
        closing(sqlite3.connect(path)) as db,
        product.answering(path, since=since) as ask,
    ):
        interleaved(
            lambda: _each(jobs, ask, own),
            lambda: _each(jobs, lambda job: _bare(db, job, window), bare),
            rounds=ROUNDS,
        )
    return own[1:], bare[1:]


def _each(
    jobs: list[str], ask: Callable[[str], object], rounds: list[list[float]]
) -> float:
    """Ask about every job once and note the seconds of each."""
    times = []
    for job in jobs:
        start = time.perf_counter()
        ask(job)
        times.append(time.perf_counter() - start)
    rounds.append(times)
    return sum(times)


def _bare(
    db: sqlite3.Connection, job: str, window: tuple[str, str]
) -> list[list[tuple[object, ...]]]:
    return [db.execute(sql, (job, *window)).fetchall() for sql in BARE]


def _figure(
    name: str, own: list[list[float]], bare: list[list[float]], *, share: float
) -> Figure:
    """Compare one quantile of every round's answers."""
    mine = [quantile(times, share) for times in own]
    base = [quantile(times, share) for times in bare]
    ratios = sorted(a / b for a, b in zip(mine, base, strict=True))
    return Figure(
        name=f"/gpucost JOB: {name}",
        own=seconds(median(mine)),
        baseline=f"bare SQL on the rollup {seconds(median(base))}",
        ratio=(median(ratios), ratios[0], ratios[-1]),
        target=f"<= {seconds(LIMIT_S)}" if share > MIDDLE else "",
        is_met=median(mine) <= LIMIT_S if share > MIDDLE else None,
    )
