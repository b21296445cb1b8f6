"""Questions put to one ledger: the product's answers beside bare SQL on the rollup.

From the parsed question to finished blocks, database included; the network is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import median
from typing import TypeVar

from billing.core.periods import month_start
from bot.use_cases.parts import CostQuestion
from tests.bench import million, product
from tests.bench.figures import Figure, Spent, interleaved, quantile, ratio, seconds
from tests.bench.fillers import Raw, raw

JOBS = 400
ROUNDS = 3
JOB_LIMIT_S = 0.010
TEAMS_LIMIT_S = 0.050
MIDDLE, HIGHEST = 0.5, 0.99
#: What one question costs in one round, own and bare, for each question.
Rounds = tuple[list[list[Spent]], list[list[Spent]]]
T = TypeVar("T")

WALL, CPU = attrgetter("wall"), attrgetter("cpu")
BARE_JOB = tuple(
    f"SELECT {column}, SUM(effective) FROM cost_rollup"  # noqa: S608 - two names of ours
    f" WHERE key = ? AND day >= ? AND day < ? GROUP BY {column}"
    for column in ("day", "cost_category")
)
BARE_TEAMS = (
    "SELECT job.team, SUM(cost_rollup.effective) FROM cost_rollup"
    " JOIN job ON job.job = cost_rollup.key"
    " WHERE cost_rollup.day >= ? AND cost_rollup.day < ? GROUP BY job.team"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a figure is called, which of the answers it speaks of, and its limit.

    Attributes:
        limit_s: None when the figure has no target.
    """

    name: str
    share: float
    of: Callable[[Spent], float]
    limit_s: float | None = None


def jobs_of(charges: int) -> list[str]:
    """Name every giant first, then what runs, then others with cost in the month."""
    month = month_start(million.UNTIL)
    runs = list(million.runs(charges))
    giants = [run.job for run in runs if run.is_giant]
    busy = sorted({run.job for run, _ in million.running(charges)})
    others = [run.job for run in runs if run.last > month]
    return list(dict.fromkeys([*giants, *busy, *others]))[:JOBS]


def ask_jobs(url: str, jobs: Sequence[str], *, is_year: bool = False) -> Rounds:
    """Ask about jobs in turn, in the month or the whole year."""
    since = million.SINCE if is_year else None
    window = (f"{since or month_start(million.UNTIL)}", f"{million.UNTIL}")

    def bare(db: Raw, job: str) -> None:
        for sql in BARE_JOB:
            db.run(sql, (job, *window))

    with raw(url) as db, product.answering(url) as ask:
        return interleaved(
            lambda: [_spent(ask, CostQuestion(job=job, since=since)) for job in jobs],
            lambda: [_spent(lambda one: bare(db, one), job) for job in jobs],
            rounds=ROUNDS,
        )


def ask_teams(url: str, times: int) -> Rounds:
    """Ask what each team cost this month, several times a round."""
    window = (f"{month_start(million.UNTIL)}", f"{million.UNTIL}")
    with raw(url) as db, product.answering(url) as ask:
        return interleaved(
            lambda: [_spent(ask, CostQuestion(by="team")) for _ in range(times)],
            lambda: [_spent(lambda sql: db.run(sql, window), BARE_TEAMS)],
            rounds=ROUNDS,
        )


def figure(rounds: Rounds, target: Target) -> Figure:
    """Compare one quantile of every round's answers."""
    own, bare = (
        [quantile([target.of(one) for one in spent], target.share) for spent in side]
        for side in rounds
    )
    limit = target.limit_s
    return Figure(
        name=target.name,
        own=seconds(median(own)),
        baseline=f"bare SQL on the rollup {seconds(median(bare))}",
        ratio=ratio(own, bare),
        target="" if limit is None else f"<= {seconds(limit)}",
        is_met=None if limit is None else median(own) <= limit,
    )


def _spent(ask: Callable[[T], object], question: T) -> Spent:
    start = Spent(time.perf_counter(), time.thread_time())
    ask(question)
    return Spent(time.perf_counter() - start.wall, time.thread_time() - start.cpu)
