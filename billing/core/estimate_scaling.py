"""Fewer or more instances: how long the same work takes, measured on finished runs.

Work has a part that more instances share and a part that they do not (Amdahl): hours =
serial + shared / instances, fitted to runs of one kind of job. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

#: Counts looked at, as multiples of the planned one.
_STEPS = (Fraction(1, 4), Fraction(1, 2), Fraction(2), Fraction(4))
#: How far outside the measured counts the fit is believed.
_BEYOND = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How long the work took on a number of instances."""

    job: str
    count: int
    hours: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """Hours = serial + shared / count, and the runs it was fitted to."""

    serial: Fraction
    shared: Fraction
    runs: tuple[Measured, ...]

    def hours(self, count: int) -> Fraction:
        """Return how long the work takes on a number of instances."""
        return self.serial + self.shared / count

    def efficiency(self, count: int) -> Fraction:
        """Return the share of the speed-up over the least measured count that is kept."""
        base = min(run.count for run in self.runs)
        return self.hours(base) * base / (self.hours(count) * count)

    def counts_near(self, count: int) -> tuple[int, ...]:
        """Return other counts worth a look, sorted: near the measured ones only."""
        least = min(run.count for run in self.runs)
        most = max(run.count for run in self.runs)
        wanted = {
            int(count * step) for step in _STEPS if (count * step).denominator == 1
        }
        return tuple(
            sorted(
                one
                for one in wanted
                if one >= 1 and least <= one * _BEYOND and one <= most * _BEYOND
            )
        )


def scaling_of(runs: Sequence[Measured]) -> Scaling | None:
    """Fit runs of the same work; None with fewer than two counts, or without sense.

    A negative part would promise what no machine keeps: it is taken as 0.
    """
    if len({run.count for run in runs}) < 2:  # noqa: PLR2004 - a line needs two points
        return None
    points = [(Fraction(1, run.count), run.hours) for run in runs]
    number = len(points)
    mean_x = sum((x for x, _ in points), Fraction(0)) / number
    mean_y = sum((y for _, y in points), Fraction(0)) / number
    spread = sum(((x - mean_x) ** 2 for x, _ in points), Fraction(0))
    shared = sum(((x - mean_x) * (y - mean_y) for x, y in points), Fraction(0)) / spread
    if shared <= 0:
        return None
    serial = max(mean_y - shared * mean_x, Fraction(0))
    if not serial:
        shared = mean_y / mean_x
    return Scaling(serial=serial, shared=shared, runs=tuple(runs))
