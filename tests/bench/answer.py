"""`/gpucost job-123` on a million charges: from the parsed command to finished blocks.

The baseline is bare SQL on the daily rollup: the two sums, by day and by category,
that the answer shows.
"""

from __future__ import annotations

from pathlib import Path

from tests.bench import million, product
from tests.bench.asking import (
    CPU,
    HIGHEST,
    JOB_LIMIT_S,
    MIDDLE,
    WALL,
    Target,
    ask_jobs,
    figure,
    jobs_of,
)
from tests.bench.figures import Figure, Spent
from tests.bench.fillers import sqlite_url

NAME = "/gpucost JOB"


def measure(folder: Path) -> list[Figure]:
    """Ask about the same jobs in turn, then about the largest over the whole year."""
    url = sqlite_url(folder / "million.db")
    product.build(url)
    size = ", ".join(f"{rows:,} {name}" for name, rows in million.counts(url).items())
    print(f"ledger of the answers: {size}")
    jobs = jobs_of(million.CHARGES)
    month = ask_jobs(url, jobs)
    largest = ask_jobs(url, jobs[: million.GIANTS])
    year = ask_jobs(url, jobs[: million.GIANTS], is_year=True)
    return [
        figure(month, Target(name=f"{NAME}: all, p50, wall", share=MIDDLE, of=WALL)),
        *highest(f"{NAME}: all", month),
        *highest(f"{NAME}: largest", largest),
        figure(
            year,
            Target(name=f"{NAME}: largest over a year, p50, CPU", share=MIDDLE, of=CPU),
        ),
    ]


def highest(
    name: str, rounds: tuple[list[list[Spent]], list[list[Spent]]]
) -> list[Figure]:
    """Return p99 of the answers, which is their slowest for the ten largest jobs."""
    return [
        figure(
            rounds,
            Target(
                name=f"{name}, p99, {kind}", share=HIGHEST, of=of, limit_s=JOB_LIMIT_S
            ),
        )
        for kind, of in (("wall", WALL), ("CPU", CPU))
    ]
