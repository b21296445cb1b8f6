"""Generate what ran in a month, what polls and events would tell of it, and its bill.

Imports nothing of the product: prices, seconds and rounding are its own, in `Decimal`.
Prices are invented for this month. The bill follows what AWS says of it: running time
alone, by the second, at least 60 s at each start, in lines by UTC hour, each rounded to
ten places; a line carries the tag that the instance had when its hour (or its run)
ended.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal

FIRST = datetime(2026, 10, 1, tzinfo=UTC)
LAST = datetime(2026, 11, 1, tzinfo=UTC)
#: Dollars an hour, and from the cut on.
PRICES = {
    "p5.48xlarge": ("55.0400", "49.5360"),
    "p4d.24xlarge": ("21.9576", "21.9576"),
    "g6.12xlarge": ("4.6016", "4.6016"),
    "g5.xlarge": ("1.0060", "1.0060"),
}
CUT = datetime(2026, 10, 17, tzinfo=UTC)
SPOT_STEPS = (("0.41", 0), ("0.47", 5), ("0.38", 11), ("0.52", 19))
_TENTH = Decimal("0.0000000001")
_SECONDS = Decimal(3600)
_LEAST_S = 60


@dataclass(frozen=True, slots=True)
class Run:
    """One stretch of running of one instance.

    Attributes:
        launched: LaunchTime; billed time begins at ``running``.
        ended: When it left ``running``.
        says_when: Whether EC2's reason names the time of the end.
    """

    launched: datetime
    running: datetime
    ended: datetime
    says_when: bool


@dataclass(frozen=True, slots=True)
class Node:
    """One instance of the month; ``tags`` are ``(since, job)`` in order."""

    id: str
    kind: str
    is_spot: bool
    runs: tuple[Run, ...]
    tags: tuple[tuple[datetime, str], ...]

    def job_at(self, instant: datetime) -> str:
        held = [job for since, job in self.tags if since <= instant]
        return held[-1] if held else ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the bill: a job (or "") on a day, by type and purchase."""

    day: date
    job: str
    kind: str
    is_spot: bool
    hours: Decimal
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Month:
    """A generated month."""

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...] = field(repr=False)


def generate(seed: int, *, jobs: int, has_late_tags: bool = False) -> Month:
    """Generate a month of some jobs; the same seed gives the same month."""
    dice = random.Random(seed)
    nodes = tuple(
        node
        for number in range(jobs)
        for node in _job(dice, f"job-{number}", has_late_tags=has_late_tags)
    )
    return Month(nodes, tuple(bill(nodes)))


def _job(dice: random.Random, job: str, *, has_late_tags: bool) -> Iterator[Node]:
    kind = dice.choice(sorted(PRICES))
    is_spot = kind == "g5.xlarge" and dice.random() < 0.5
    count = dice.choice((1, 1, 2, 4, 8))
    room_s = int((LAST - FIRST).total_seconds()) - 6 * 86_400
    began = FIRST + timedelta(seconds=dice.randrange(3_600, room_s))
    hours = min(dice.lognormvariate(2.2, 1.3), 120.0)
    for number in range(count):
        launched = began + timedelta(seconds=dice.randrange(0, 300))
        wanted_s = max(20.0, hours * 3600 * dice.uniform(0.9, 1.1))
        runs = tuple(_runs(dice, launched, timedelta(seconds=int(wanted_s))))
        yield Node(
            id=f"i-{job.partition('-')[2]:0>8}{number:0>9}",
            kind=kind,
            is_spot=is_spot,
            runs=runs,
            tags=_tags(dice, job, runs, has_late_tags=has_late_tags),
        )


def _runs(dice: random.Random, launched: datetime, length: timedelta) -> Iterator[Run]:
    """Yield one run, or two with a stop between them."""
    parts = [length]
    if length > timedelta(hours=6) and dice.random() < 0.2:
        parts = [length / 3, length / 2]
    for part in parts:
        running = launched + timedelta(seconds=dice.randrange(12, 90))
        ended = running + timedelta(seconds=int(part.total_seconds()))
        yield Run(launched, running, ended, dice.random() < 0.7)
        launched = ended + timedelta(seconds=dice.randrange(900, 20_000))


def _tags(
    dice: random.Random, job: str, runs: tuple[Run, ...], *, has_late_tags: bool
) -> tuple[tuple[datetime, str], ...]:
    launched = runs[0].launched
    if not has_late_tags:
        return ((launched, job),)
    late = timedelta(minutes=dice.choice((0, 0, 0, 3, 20)))
    tags = [(launched + late, job)]
    middle = runs[0].running + (runs[0].ended - runs[0].running) / 2
    if dice.random() < 0.1 and middle > launched + late:
        tags.append((middle, f"{job}-b"))
    return tuple(tags)


def bill(nodes: tuple[Node, ...]) -> Iterator[Line]:
    """Yield the bill's lines, summed by day, job, type and purchase."""
    sums: dict[tuple[date, str, str, bool], list[Decimal]] = {}
    for node in nodes:
        for run in node.runs:
            for start, end, seconds in _hours(run):
                job = node.job_at(end - timedelta(microseconds=1))
                cost = _price(node, start) * seconds / _SECONDS
                cost = cost.quantize(_TENTH, rounding=ROUND_HALF_EVEN)
                key = (start.date(), job, node.kind, node.is_spot)
                found = sums.setdefault(key, [Decimal(0), Decimal(0)])
                found[0] += seconds / _SECONDS
                found[1] += cost
    for (day, job, kind, is_spot), (hours, cost) in sorted(sums.items()):
        yield Line(day, job, kind, is_spot, hours, cost)


def _hours(run: Run) -> Iterator[tuple[datetime, datetime, Decimal]]:
    """Yield each UTC hour of a run with its seconds; a short run has its minimum."""
    start = run.running
    if (run.ended - start).total_seconds() < _LEAST_S:
        yield start, run.ended, Decimal(_LEAST_S)
        return
    while start < run.ended:
        hour = start.replace(minute=0, second=0, microsecond=0)
        end = min(run.ended, hour + timedelta(hours=1))
        yield start, end, Decimal(int((end - start).total_seconds()))
        start = end


def _price(node: Node, instant: datetime) -> Decimal:
    if node.is_spot:
        past = [
            text for text, day in SPOT_STEPS if FIRST + timedelta(days=day) <= instant
        ]
        return Decimal(past[-1])
    return Decimal(PRICES[node.kind][instant >= CUT])
