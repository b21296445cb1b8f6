"""What is known now of idle GPUs, commitments and checkpoints, whatever policies say.

The same facts that policies judge, gathered the same way, with their default limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.attribution import TagKeys
from billing.core.checkpoints_size import (
    BILLED_GB,
    STORAGE_NAME,
    STORAGE_PER_GB_MONTH,
)
from billing.core.fleet import ScopeFailure
from billing.core.gpus import gpu_count
from billing.core.money import USD, Money, Rate
from billing.core.periods import day_of
from billing.core.usage import ResourceKind
from billing.ports import CommitmentFacts, SourceUnavailableError, StoredObject
from bot.ports import Store
from bot.use_cases.checkpoint_facts import OBJECTS_MAX, failure_of
from bot.use_cases.explain_running import rate_text
from bot.use_cases.facts import FactSources, gather_facts
from bot.use_cases.pricing import OwnPrice
from bot.views.facts_values import (
    CheckpointItem,
    CheckpointsAnswer,
    CoverageAnswer,
    CoverageItem,
    IdleAnswer,
    IdleItem,
)
from policies.core.activity import Watch, quiet_since
from policies.core.facts import InstanceFacts
from policies.core.kinds.idle import IdlePolicy
from policies.core.locations import Location
from policies.core.retention import Checkpoint, checkpoints_of

COVERAGE_LOOKBACK = timedelta(days=30)
#: Order of states: what costs and does nothing comes first.
_STATES = {"idle": 0, "unknown": 1, "busy": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Asks for facts: a store, sources, and the instant of asking."""

    store: Store
    sources: FactSources
    keys: TagKeys
    own: Sequence[OwnPrice]
    now: datetime

    def idle(self) -> IdleAnswer:
        """Return running GPU instances and whether their signals are quiet."""
        policy = IdlePolicy(name="asked")
        gathered = gather_facts(
            self.store,
            [policy],
            self.sources,
            keys=self.keys,
            own=self.own,
            now=self.now,
        )
        facts = gathered.facts
        items = [
            self._idle_item(one, policy) for one in facts.instances if one.gpus != 0
        ]
        return IdleAnswer(
            currency=facts.currency,
            now=self.now,
            window=policy.for_,
            items=tuple(sorted(items, key=_idle_first)),
            failures=tuple(map(_failure_text, gathered.failures)),
            as_of=facts.as_of.get("inventory"),
        )

    def _idle_item(self, one: InstanceFacts, policy: IdlePolicy) -> IdleItem:
        limits = policy.signals.limits
        cache: dict[object, object] = {}
        watch = Watch(limits, self.now - policy.for_, self.now, cache)
        seen = watch.activity(one)
        began = one.running_since
        minutes = policy.for_ // timedelta(minutes=1)
        if began is not None and began > self.now - policy.for_:
            missing = (*seen.missing, f"{minutes} minutes of running")
        else:
            missing = seen.missing
        state = "busy" if seen.busy else ("unknown" if missing else "idle")
        since = quiet_since(one, limits, self.now, cache=cache)
        return IdleItem(
            resource_id=one.instance.resource_id,
            account=one.instance.account,
            region=one.instance.region,
            instance_type=one.instance.instance_type,
            lifecycle=one.instance.lifecycle.value,
            job=one.job,
            team=one.team,
            owner=one.owner,
            gpus=one.gpus,
            state=state,
            signals=seen.highest,
            limits={name: str(limit) for name, limit in limits.items()},
            busy=seen.busy,
            missing=missing,
            quiet_gpus=seen.quiet_gpus,
            quiet_for=self.now - since if state == "idle" and since else None,
            running_since=began,
            rate=one.rate,
        )

    def coverage(self, families: Sequence[str] = ()) -> CoverageAnswer:
        """Return what commitments cover, by default of the families that run now."""
        with self.store.read() as unit:
            currency = unit.ledger.currency() or USD
            shapes = {
                one.shape
                for one in unit.ledger.open_intervals()
                if one.kind is ResourceKind.INSTANCE and gpu_count(one.shape) != 0
            }
        named = tuple(families) or tuple(sorted({_family(shape) for shape in shapes}))
        today = day_of(self.now)
        since = day_of(self.now - COVERAGE_LOOKBACK)
        source = self.sources.commitments
        found: Sequence[CommitmentFacts] = ()
        if source is not None and named:
            found = source.facts(named, since, today)
        known = {one.family for one in found}
        items = [_coverage_item(one) for one in found]
        return CoverageAnswer(
            currency=currency,
            now=self.now,
            since=since,
            until=today,
            items=tuple(sorted(items, key=lambda one: (-one.open_.nanos, one.family))),
            missing=tuple(name for name in named if name not in known),
        )

    def checkpoints(self, locations: Sequence[Location]) -> CheckpointsAnswer:
        """Return the checkpoints under some locations, by job, largest first."""
        failures: list[str] = []
        items: list[CheckpointItem] = []
        for location in locations:
            objects, is_complete = self._objects(location, failures)
            for job, found in checkpoints_of(location, objects).items():
                items.append(
                    _checkpoint_item(location, job, found, objects, is_complete)
                )
        rate = rate_text(
            Rate(STORAGE_PER_GB_MONTH.nanos, STORAGE_PER_GB_MONTH.currency)
        ).removesuffix("/h")
        return CheckpointsAnswer(
            currency=STORAGE_PER_GB_MONTH.currency,
            now=self.now,
            items=tuple(
                sorted(items, key=lambda one: (-one.size_bytes, one.location, one.job))
            ),
            locations=tuple(location.text for location in locations),
            price=f"{rate} per GB-month (2^30 bytes), {STORAGE_NAME}",
            failures=tuple(failures),
        )

    def _objects(
        self, location: Location, failures: list[str]
    ) -> tuple[list[StoredObject], bool]:
        found: list[StoredObject] = []
        source = self.sources.objects
        if source is None:
            return found, False
        try:
            for page in source.objects(location.bucket, location.prefix):
                found.extend(page)
                if len(found) > OBJECTS_MAX:
                    failures.append(
                        f"{location.text}: only the first {OBJECTS_MAX:,} objects"
                    )
                    return found, False
        except SourceUnavailableError as error:
            failures.append(f"{location.text}: {failure_of(error).message}")
            return found, False
        return found, True


def _idle_first(one: IdleItem) -> tuple[int, int, str]:
    return (_STATES[one.state], -(one.rate.nanos if one.rate else 0), one.resource_id)


def _failure_text(one: ScopeFailure) -> str:
    place = " ".join(part for part in (one.account, one.region) if part)
    return f"{one.source} {place}: {one.message}".replace("  ", " ")


def _family(shape: str) -> str:
    return shape.removeprefix("ml.").partition(".")[0]


def _coverage_item(one: CommitmentFacts) -> CoverageItem:
    pct = None
    if one.eligible.nanos > 0:
        pct = float(Fraction(100 * one.covered.nanos, one.eligible.nanos))
    return CoverageItem(
        family=one.family,
        since=one.since,
        until=one.until,
        covered=one.covered,
        eligible=one.eligible,
        open_=one.eligible - one.covered,
        covered_pct=pct,
        baseline_covered_pct=one.baseline_covered_pct,
        utilization_pct=one.utilization_pct,
    )


def _checkpoint_item(
    location: Location,
    job: str,
    found: Sequence[Checkpoint],
    objects: Sequence[StoredObject],
    is_complete: bool,  # noqa: FBT001 - told beside what was found
) -> CheckpointItem:
    folders = tuple(one.folder for one in found)
    classes: dict[str, int] = {}
    for one in objects:
        if one.key.startswith(folders):
            name = one.storage_class or "STANDARD"
            classes[name] = classes.get(name, 0) + one.size_bytes
    size = sum(one.size_bytes for one in found)
    is_standard = set(classes) <= {"STANDARD"}
    return CheckpointItem(
        location=location.text,
        folder=location.folder(job),
        job=job,
        checkpoints=len(found),
        objects=sum(one.objects for one in found),
        size_bytes=size,
        oldest_at=min(one.written_at for one in found),
        newest_at=max(one.written_at for one in found),
        first_step=min(one.step for one in found),
        last_step=max(one.step for one in found),
        classes=classes,
        per_month=_per_month(size) if is_standard else None,
        is_complete=is_complete,
    )


def _per_month(size_bytes: int) -> Money:
    return STORAGE_PER_GB_MONTH.scaled(Fraction(size_bytes, BILLED_GB))
