"""Which checkpoints a retention rule keeps, and which it would let go.

Steps are numbers. A restart in the same folder starts a new run, told by a step that
is lower although it is later; each run keeps its own. What is being written, looks
incomplete, or cannot be ordered is kept. Pure; plans only, nothing is deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.ports import StoredObject
from policies.core.locations import Location

#: Objects of such a name say something about their checkpoint and are no part of it.
MARK_PREFIX = "gpucost-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What to keep; a checkpoint that any clause keeps stays.

    Attributes:
        last: Newest complete checkpoints of each run; None keeps all. At least 1.
        best: How many by ``metric``; 0 when not asked for.
        is_lower_better: Order of the metric.
        every: Keep steps that are multiples of this; 0 when not asked for.
        newer_than: Keep anything younger; None when not asked for.
        settle: Younger than this it may still be written.
    """

    last: int | None = 1
    best: int = 0
    metric: str = ""
    is_lower_better: bool = True
    every: int = 0
    newer_than: timedelta | None = None
    settle: timedelta = timedelta(hours=1)

    def __post_init__(self) -> None:
        """Refuse a rule that would keep nothing."""
        assert self.last is None or self.last >= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One checkpoint: every object under one step's folder.

    Attributes:
        folder: Key prefix of the checkpoint, verbatim.
        objects: Current ones; marks of gpucost do not count.
        size_bytes: Of all versions of its objects: what is billed.
        old_bytes: The part of it that only versions hold which are not current.
        written_at: Newest current object.
        parts: Every version, in order of key and version.
    """

    job: str
    step: int
    folder: str
    objects: int
    size_bytes: int
    written_at: datetime
    old_bytes: int = 0
    parts: tuple[StoredObject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a rule means for one job's checkpoints.

    Attributes:
        keep: Steps with the reason, in order of step.
        drop: Checkpoints that nothing keeps, in order of step.
        question: Why nothing is proposed and somebody must look; "" when decided.
    """

    job: str
    keep: tuple[tuple[Checkpoint, str], ...]
    drop: tuple[Checkpoint, ...]
    question: str = ""

    @property
    def bytes_before(self) -> int:
        """Return the size of all checkpoints."""
        return self.bytes_after + sum(one.size_bytes for one in self.drop)

    @property
    def bytes_after(self) -> int:
        """Return the size of what is kept."""
        return sum(one.size_bytes for one, _ in self.keep)


def checkpoints_of(
    location: Location, objects: Iterable[StoredObject]
) -> Mapping[str, tuple[Checkpoint, ...]]:
    """Group objects into checkpoints by job, in order of step.

    Keys that the template does not mean are left out, and so are folder markers: an
    empty object named like the folder is one key, not a checkpoint. A folder without
    any current object was deleted: `deleted_bytes` tells what it still costs.
    """
    jobs: dict[str, list[Checkpoint]] = {}
    found = _by_folder(location, objects)
    for (job, step, folder), items in sorted(found.items(), key=lambda pair: pair[0]):
        current = [item for item in items if item.is_current and not is_mark(item.key)]
        if not sum(item.size_bytes for item in current):
            continue
        checkpoint = Checkpoint(
            job=job,
            step=step,
            folder=folder,
            objects=len({item.key for item in current}),
            size_bytes=sum(item.size_bytes for item in items),
            written_at=max(item.modified_at for item in current),
            old_bytes=sum(item.size_bytes for item in items if not item.is_current),
            parts=tuple(sorted(items, key=lambda item: (item.key, item.version_id))),
        )
        jobs.setdefault(job, []).append(checkpoint)
    return {job: tuple(some) for job, some in jobs.items()}


def deleted_bytes(
    location: Location, objects: Iterable[StoredObject]
) -> Mapping[str, int]:
    """Return by job what deleted checkpoints still hold: versions nobody sees."""
    jobs: Counter[str] = Counter()
    for (job, _, _), items in _by_folder(location, objects).items():
        if not any(item.is_current for item in items):
            jobs[job] += sum(item.size_bytes for item in items)
    return jobs


def is_mark(key: str) -> bool:
    """Tell whether an object only says something about its checkpoint."""
    return key.rpartition("/")[2].startswith(MARK_PREFIX)


def _by_folder(
    location: Location, objects: Iterable[StoredObject]
) -> Mapping[tuple[str, int, str], list[StoredObject]]:
    """Group objects by job, step and the folder of the step."""
    found: dict[tuple[str, int, str], list[StoredObject]] = {}
    for item in objects:
        match = location.pattern.fullmatch(item.key)
        if item.bucket != location.bucket or match is None or not match["rest"]:
            continue
        folder = item.key[: len(item.key) - len(match["rest"])]
        job = match.groupdict().get("job") or ""
        found.setdefault((job, int(match["step"]), folder), []).append(item)
    return found


def plan(
    rule: Rule,
    job: str,
    checkpoints: Sequence[Checkpoint],
    now: datetime,
    *,
    scores: Mapping[int, float] | None = None,
    held: Mapping[str, str] | None = None,
) -> Plan:
    """Decide what a rule keeps of one job's checkpoints.

    Args:
        rule: What to keep.
        job: Whose checkpoints they are.
        checkpoints: All of them.
        now: The instant ages are measured at.
        scores: The metric by step; a step without one might be the best.
        held: Why some must stay whatever the rule says, by folder.
    """
    reasons: dict[str, str] = dict(held or {})
    question = _ambiguous(checkpoints)
    for run in _runs(checkpoints):
        _keep_of_run(reasons, rule, run, now)
    if rule.best:
        question = question or _keep_best(reasons, rule, checkpoints, scores)
    ordered = sorted(checkpoints, key=lambda one: (one.step, one.folder))
    if question:
        kept = tuple((one, reasons.get(one.folder, "undecided")) for one in ordered)
        return Plan(job=job, keep=kept, drop=(), question=question)
    return Plan(
        job=job,
        keep=tuple((c, reasons[c.folder]) for c in ordered if c.folder in reasons),
        drop=tuple(one for one in ordered if one.folder not in reasons),
    )


def _ambiguous(checkpoints: Sequence[Checkpoint]) -> str:
    """Say why order cannot be told; "" when it can."""
    steps = Counter(one.step for one in checkpoints)
    twice = sorted(step for step, number in steps.items() if number > 1)
    if twice:
        return f"step {twice[0]} exists in two folders"
    times = Counter(one.written_at for one in checkpoints)
    if any(number > 1 for number in times.values()):
        return "several checkpoints were written at the same instant, as after a copy"
    return ""


def _runs(checkpoints: Sequence[Checkpoint]) -> list[list[Checkpoint]]:
    """Split by restarts: in order of writing, a step lower than the one before."""
    runs: list[list[Checkpoint]] = []
    for one in sorted(checkpoints, key=lambda each: (each.written_at, each.step)):
        if runs and one.step > runs[-1][-1].step:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _keep_of_run(
    reasons: dict[str, str], rule: Rule, run: list[Checkpoint], now: datetime
) -> None:
    usual = max(
        Counter(one.objects for one in run).items(), key=lambda pair: pair[::-1]
    )
    complete: list[Checkpoint] = []
    for one in run:
        age = now - one.written_at
        if age < rule.settle:
            reasons[one.folder] = "may still be written"
        elif one.objects < usual[0]:
            reasons[one.folder] = "looks incomplete"
        else:
            complete.append(one)
        if rule.newer_than is not None and age < rule.newer_than:
            reasons.setdefault(one.folder, "young")
        if rule.every and one.step % rule.every == 0:
            reasons.setdefault(one.folder, f"every {rule.every} steps")
    last = complete if rule.last is None else complete[-rule.last :]
    for one in last:
        reasons[one.folder] = "among the last"


def _keep_best(
    reasons: dict[str, str],
    rule: Rule,
    checkpoints: Sequence[Checkpoint],
    scores: Mapping[int, float] | None,
) -> str:
    """Keep the best by metric; say what is missing when a candidate has no score."""
    scores = scores or {}
    unscored = [
        one
        for one in checkpoints
        if one.folder not in reasons and one.step not in scores
    ]
    if unscored:
        return f"{rule.metric} of {len(unscored)} of {len(checkpoints)} checkpoints"
    scored = [one for one in checkpoints if one.step in scores]
    sign = 1 if rule.is_lower_better else -1
    scored.sort(key=lambda one: (sign * scores[one.step], -one.step))
    for one in scored[: rule.best]:
        reasons.setdefault(one.folder, f"among the best by {rule.metric}")
    return ""
