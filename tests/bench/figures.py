"""Interleaved rounds, their median and spread, and the one table of all figures.

Knows nothing of what is measured.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table.

    Attributes:
        ratio: Own over baseline: the middle, the lowest and the highest round.
        target: What is aimed at, in words.
        is_met: None when the line has no target of its own.
    """

    name: str
    own: str
    baseline: str
    ratio: tuple[float, float, float]
    target: str = ""
    is_met: bool | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What one piece of work took: wall time, and CPU time of its process, in seconds.

    On a machine that is busy otherwise the wall says little; the CPU says more.
    """

    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


def interleaved(
    own: Callable[[], T], baseline: Callable[[], T], *, rounds: int, warm_up: int = 1
) -> tuple[list[T], list[T]]:
    """Measure both sides in turn, in changing order; the warm-up does not count."""
    pairs = []
    for number in range(rounds + warm_up):
        if number % 2:
            second, first = baseline(), own()
        else:
            first, second = own(), baseline()
        pairs.append((first, second))
    counted = pairs[warm_up:]
    return [first for first, _ in counted], [second for _, second in counted]


def timed(work: Callable[[], object]) -> Spent:
    """Run once and return what it took, earlier rounds' garbage swept away first."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def ratio(
    own: Sequence[float], baseline: Sequence[float]
) -> tuple[float, float, float]:
    """Return the middle, lowest and highest ratio of the rounds' pairs."""
    ratios = [a / b for a, b in zip(own, baseline, strict=True)]
    return median(ratios), min(ratios), max(ratios)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(ceil(share * len(ordered)), 1) - 1]


def seconds(value: float) -> str:
    """Write a time with three digits that matter."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"


def mebibytes(value: float) -> str:
    """Write an amount of memory."""
    return f"{value / 2**20:.1f} MiB"


HEADER = ("figure", "own", "baseline", "ratio (rounds)", "target", "")


def table(figures: Sequence[Figure]) -> str:
    """Render every figure in one table."""
    rows = [HEADER, *(_cells(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


def _cells(figure: Figure) -> tuple[str, ...]:
    middle, low, high = figure.ratio
    verdict = {True: "PASS", False: "over", None: ""}[figure.is_met]
    shown = f"{middle:.2f} ({low:.2f}-{high:.2f})"
    return figure.name, figure.own, figure.baseline, shown, figure.target, verdict
