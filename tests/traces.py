"""Made-up days of GPU jobs with what they were really doing, minute by minute.

A day is a sequence of phases drawn from a seeded generator: boot, loading data, training
with checkpoints and evaluations, waiting after a crash, forgotten after the end. The
label of each minute is known, so a policy can be held against it. Shares nothing with
the product but the shape of its facts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from billing.ports import MetricSeries

MINUTE = timedelta(minutes=1)
PERIOD = 5
DAY_MINUTES = 24 * 60
MEGABYTE = 1_000_000.0


class Doing(StrEnum):
    """What a machine was really doing."""

    BOOT = "boot"
    LOAD = "load"
    TRAIN = "train"
    CHECKPOINT = "checkpoint"
    EVALUATE = "evaluate"
    SERVE = "serve"
    NOTHING = "nothing"


#: GPU %, CPU %, network B/s, disk B/s: lowest and highest of each phase.
LEVELS: dict[Doing, tuple[tuple[float, float], ...]] = {
    Doing.BOOT: ((0, 0), (5, 60), (1 * MEGABYTE, 80 * MEGABYTE), (0, 60 * MEGABYTE)),
    Doing.LOAD: (
        (0, 3), (30, 95), (40 * MEGABYTE, 900 * MEGABYTE), (0, 400 * MEGABYTE),
    ),
    Doing.TRAIN: ((72, 99), (10, 40), (5 * MEGABYTE, 90 * MEGABYTE), (0, MEGABYTE)),
    Doing.CHECKPOINT: (
        (0, 2), (5, 30), (200 * MEGABYTE, 900 * MEGABYTE), (50 * MEGABYTE, MEGABYTE * 500),
    ),
    Doing.EVALUATE: ((20, 80), (10, 50), (MEGABYTE, 20 * MEGABYTE), (0, MEGABYTE)),
    Doing.SERVE: ((0, 70), (2, 20), (0.01 * MEGABYTE, 3 * MEGABYTE), (0, 0)),
    Doing.NOTHING: ((0, 1), (0, 3), (1_000, 60_000), (0, 20_000)),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One job's day.

    Attributes:
        doing: What it did in each minute.
        signals: Mean of each signal over each five minutes.
    """

    job: str
    nodes: int
    gpus: int
    doing: tuple[Doing, ...]
    signals: dict[tuple[int, str, int], list[float]] = field(repr=False)

    def idle_since(self, minute: int) -> int | None:
        """Return for how many minutes nothing was done at a minute; None when it was."""
        if self.doing[minute] is not Doing.NOTHING:
            return None
        start = minute
        while start and self.doing[start - 1] is Doing.NOTHING:
            start -= 1
        return minute - start

    def series(
        self, node: int, start: datetime, until: int, *, back: int
    ) -> Iterator[MetricSeries]:
        """Yield a node's signals of the last ``back`` minutes before minute ``until``."""
        last = until // PERIOD
        first = max(0, last - back // PERIOD)
        times = [start + MINUTE * PERIOD * (index + 1) for index in range(first, last)]
        for (of, signal, part), values in self.signals.items():
            if of == node:
                yield MetricSeries(
                    resource_id=f"{self.job}-{node}",
                    signal=signal,
                    part=str(part) if signal == "gpu_utilization" else "",
                    points=tuple(zip(times, values[first:last], strict=True)),
                    period_s=PERIOD * 60,
                )


def healthy(seed: int) -> Trace:
    """Return a day in which a job always does something."""
    rng = random.Random(seed)
    return _trace(f"healthy-{seed}", rng, list(_working(rng, DAY_MINUTES)))


def forgotten(seed: int) -> Trace:
    """Return a day in which a job ends, crashes or hangs and its machines stay."""
    rng = random.Random(seed)
    busy = rng.randrange(3 * 60, 14 * 60)
    done = list(_working(rng, busy))
    left = [Doing.NOTHING] * (DAY_MINUTES - busy)
    return _trace(f"forgotten-{seed}", rng, [*done, *left])


def _working(rng: random.Random, minutes: int) -> Iterator[Doing]:
    """Yield minutes of a job that works."""
    left = minutes

    def phase(what: Doing, length: int) -> list[Doing]:
        nonlocal left
        length = min(length, left)
        left -= length
        return [what] * length

    yield from phase(Doing.BOOT, rng.randrange(4, 15))
    yield from phase(Doing.LOAD, rng.randrange(5, 75))
    while left:
        yield from phase(Doing.TRAIN, rng.randrange(20, 120))
        yield from phase(Doing.CHECKPOINT, rng.randrange(2, 25))
        if rng.random() < 0.3:
            yield from phase(Doing.EVALUATE, rng.randrange(3, 30))
        if rng.random() < 0.05:  # a restart: boot and load again
            yield from phase(Doing.BOOT, rng.randrange(3, 12))
            yield from phase(Doing.LOAD, rng.randrange(5, 40))


def _trace(job: str, rng: random.Random, doing: list[Doing]) -> Trace:
    nodes, gpus = rng.choice([(1, 1), (1, 8), (2, 8), (4, 8)])
    signals: dict[tuple[int, str, int], list[float]] = {}
    names = ("gpu_utilization", "cpu_utilization", "network", "disk")
    for node in range(nodes):
        for place, name in enumerate(names):
            parts = gpus if name == "gpu_utilization" else 1
            for part in range(parts):
                minutes = [rng.uniform(*LEVELS[what][place]) for what in doing]
                signals[(node, name, part)] = [
                    sum(minutes[at : at + PERIOD]) / PERIOD
                    for at in range(0, len(minutes), PERIOD)
                ]
    return Trace(job=job, nodes=nodes, gpus=gpus, doing=tuple(doing), signals=signals)


#: How pods that serve models look: long silences, short bursts, at any time of a day.
def serving(seed: int) -> Trace:
    """Return a day of a service: bursts of requests, hours without any."""
    rng = random.Random(seed)
    doing: list[Doing] = []
    while len(doing) < DAY_MINUTES:
        doing += [Doing.NOTHING] * rng.randrange(10, 120)
        doing += [Doing.SERVE] * rng.randrange(1, 12)
    return _trace(f"serving-{seed}", rng, doing[:DAY_MINUTES])
