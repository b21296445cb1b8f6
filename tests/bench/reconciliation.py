"""How far provisional compute is from the bill of independently generated months.

Own is what running time x price says, the baseline is the bill; the ratio is theirs, by
job and day: the middle, the lowest and the highest. On-demand compute alone is judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median

from billing.core.attribution import TagKeys
from bot.use_cases.reconciliation import Reconciliation, reconciliation
from bot.views.reconciliation import percent
from tests.bench.figures import Figure
from tests.builders_store import opened_store
from tests.generated_month.month import FIRST, LAST, generate
from tests.generated_month.play import NOW, play

JOBS = 60
SEED = 11
TARGET = Fraction(1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One way to watch a month.

    Attributes:
        lost: Share of events that never come, in percent.
        has_target: Whether the target is meant for it.
    """

    name: str
    has_events: bool = True
    lost: int = 0
    has_late_tags: bool = False
    has_target: bool = False


SCENES = (
    Scene(name="polls and events", has_target=True),
    Scene(name="polls and events, 3 % lost", lost=3),
    Scene(name="polls alone", has_events=False),
    Scene(name="polls and events, late tags", has_late_tags=True),
)


def measure(folder: Path) -> list[Figure]:
    """Play a month in every scene and reconcile it."""
    return [
        _figure(scene, _reconciled(folder / f"{number}.db", scene))
        for number, scene in enumerate(SCENES)
    ]


def _reconciled(path: Path, scene: Scene) -> Reconciliation:
    month = generate(SEED, jobs=JOBS, has_late_tags=scene.has_late_tags)
    with opened_store(f"sqlite:///{path}") as store:
        play(store, month, has_events=scene.has_events, lost_percent=scene.lost)
        with store.read() as unit:
            return reconciliation(
                unit,
                since=FIRST.date(),
                until=LAST.date(),
                own=(),
                keys=TagKeys(),
                now=NOW,
            )


def _figure(scene: Scene, found: Reconciliation) -> Figure:
    judged = found.judged_on_demand
    ratios = [
        accrued.nanos / billed.nanos
        for billed, accrued in (one.on_demand for one in found.days)
        if billed.nanos >= 10**9
    ]
    return Figure(
        name=f"provisional compute, {scene.name}",
        own=f"median {percent(judged.median)}, worst {percent(judged.worst)} off",
        baseline=f"the bill of {judged.job_days} job-days",
        ratio=(median(ratios), min(ratios), max(ratios)),
        target="<= 1 % on every job-day" if scene.has_target else "",
        is_met=(
            judged.worst is not None and judged.worst <= TARGET
            if scene.has_target
            else None
        ),
    )
