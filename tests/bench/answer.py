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
from operator import attrgetter
from pathlib import Path
from statistics import median

from billing.core.periods import month_start
from tests.bench import million, product
from tests.bench.figures import Figure, Spent, interleaved, quantile, ratio, seconds

JOBS = 400
ROUNDS = 3
LIMIT_S = 0.010
MIDDLE = 0.5
Rounds = tuple[list[list[Spent]], list[list[Spent]]]
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
    month = _rounds(path, jobs, None)
    largest = _rounds(path, giants, None)
    year = _rounds(path, giants, million.SINCE)
    return [
        _figure("all, p50, wall", month, wall, share=MIDDLE),
        _figure("all, p99, wall", month, wall, share=0.99, has_target=True),
        _figure("all, p99, CPU", month, cpu, share=0.99, has_target=True),
        _figure("largest, p99, wall", largest, wall, share=0.99, has_target=True),
        _figure("largest, p99, CPU", largest, cpu, share=0.99, has_target=True),
        _figure("largest over a year, p50, CPU", year, cpu, share=MIDDLE),
    ]


wall, cpu = attrgetter("wall"), attrgetter("cpu")


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


def _rounds(path: Path, jobs: list[str], since: date | None) -> Rounds:
    """Return what every answer of every round that counts took: own, and bare SQL."""
    window = (f"{since or month_start(million.UNTIL)}", f"{million.UNTIL}")
    with (
        closing(sqlite3.connect(path)) as db,
        product.answering(path, since=since) as ask,
    ):

        def bare(job: str) -> list[object]:
            return [db.execute(sql, (job, *window)).fetchall() for sql in BARE]

        return interleaved(
            lambda: [_spent(ask, job) for job in jobs],
            lambda: [_spent(bare, job) for job in jobs],
            rounds=ROUNDS,
        )


def _spent(ask: Callable[[str], object], job: str) -> Spent:
    start = Spent(time.perf_counter(), time.thread_time())
    ask(job)
    return Spent(time.perf_counter() - start.wall, time.thread_time() - start.cpu)


def _figure(
    name: str,
    rounds: Rounds,
    of: Callable[[Spent], float],
    *,
    share: float,
    has_target: bool = False,
) -> Figure:
    """Compare one quantile of every round's answers."""
    own, bare = (
        [quantile([of(one) for one in spent], share) for spent in side]
        for side in rounds
    )
    return Figure(
        name=f"/gpucost JOB: {name}",
        own=seconds(median(own)),
        baseline=f"bare SQL on the rollup {seconds(median(bare))}",
        ratio=ratio(own, bare),
        target=f"<= {seconds(LIMIT_S)}" if has_target else "",
        is_met=median(own) <= LIMIT_S if has_target else None,
    )
