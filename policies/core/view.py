"""Facts arranged for judging: one group per job, each untagged instance alone.

Built once per evaluation and shared by every policy, so that twenty policies look at
ten thousand instances once. Order and duplicates of the input leave no trace. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from billing.core.fleet import InstanceState
from billing.core.money import USD, Money, Rate
from policies.core.conditions import Condition
from policies.core.facts import Facts, InstanceFacts, JobFacts
from policies.core.finding import Subject, Unknown

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The running instances of one job, or one instance without a job.

    Attributes:
        values: Known fields for `where:`, one mapping per instance.
        stale: ``account/region`` scopes of the group whose facts are old.
    """

    subject: Subject
    job: str
    team: str
    owner: str
    instances: tuple[InstanceFacts, ...]
    values: tuple[Mapping[str, object], ...]
    facts: JobFacts | None
    stale: tuple[str, ...] = ()

    @property
    def rate(self) -> Rate | None:
        """Return the price per hour of all instances; None when any is unknown."""
        total: Rate | None = None
        for member in self.instances:
            if member.rate is None:
                return None
            total = member.rate if total is None else total + member.rate
        return total

    @property
    def name(self) -> str:
        """Return how a person would call it."""
        return f"job {self.job}" if self.job else f"instance {self.subject.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The facts of one evaluation, arranged.

    Attributes:
        cache: What policies computed from the same facts; keyed by its computation.
    """

    facts: Facts
    groups: tuple[Group, ...]
    jobs: tuple[JobFacts, ...]
    cache: dict[object, object] = field(default_factory=dict, compare=False)


def view_of(facts: Facts) -> View:
    """Arrange facts; only running instances are looked at."""
    instances = _once(
        facts.instances,
        lambda one: (
            one.instance.account,
            one.instance.region,
            one.instance.resource_id,
        ),
    )
    jobs = _once(facts.jobs, lambda one: (one.job,))
    known = {job.job: job for job in jobs}
    members: dict[tuple[str, ...], list[InstanceFacts]] = {}
    for one in instances:
        if one.instance.state is not InstanceState.RUNNING:
            continue
        key = (one.job,) if one.job else ("", one.instance.resource_id)
        members.setdefault(key, []).append(one)
    groups = [
        _group(tuple(some), known.get(key[0]) if key[0] else None, facts)
        for key, some in members.items()
    ]
    groups.sort(key=lambda group: group.subject)
    return View(facts=facts, groups=tuple(groups), jobs=tuple(jobs))


def selects(
    condition: Condition | None, values: Sequence[Mapping[str, object]]
) -> bool | None:
    """Tell whether a `where:` holds for all of some instances; None when unknown.

    One instance it does not hold for keeps the whole job out of the policy.
    """
    if condition is None:
        return True
    result: bool | None = True
    for some in values[:1] if condition.is_about_job else values:
        holds = condition.holds(some)
        if holds is False:
            return False
        if holds is None:
            result = None
    return result


def unknown_where(policy: str, condition: Condition, group: Group) -> Unknown:
    """Report a group whose `where:` cannot be decided."""
    missing = next(
        condition.missing(some)
        for some in group.values
        if condition.holds(some) is None
    )
    return Unknown(policy=policy, subject=group.subject, missing=missing, job=group.job)


def job_values(job: JobFacts) -> dict[str, object]:
    """Return the known fields of a job for `where:`."""
    values: dict[str, object] = {
        "job.id": job.job,
        "job.instances": job.instances,
        "job.instance_types": list(job.instance_types),
        "job.approved": job.has_grant,
    }
    _known(values, "job.team", job.team or None)
    _known(values, "job.owner", job.owner or None)
    _known(values, "job.env", job.environment or None)
    _known(values, "job.gpus", job.gpus)
    _known(values, "job.spent", _nanos(job.spent))
    _known(values, "job.predicted", _nanos(job.predicted))
    _known(values, "job.rate", _nanos(job.rate))
    return values


def instance_values(one: InstanceFacts) -> dict[str, object]:
    """Return the known fields of an instance for `where:`."""
    instance = one.instance
    values: dict[str, object] = {
        "instance.id": instance.resource_id,
        "instance.type": instance.instance_type,
        "instance.family": instance.instance_type.partition(".")[0],
        "instance.lifecycle": str(instance.lifecycle),
        "instance.region": instance.region,
        "instance.zone": instance.zone,
        "instance.account": instance.account,
        "instance.tags": dict(instance.tags),
    }
    _known(values, "instance.gpus", one.gpus)
    _known(values, "instance.rate", _nanos(one.rate))
    return values


def _known(values: dict[str, object], name: str, value: object) -> None:
    if value is not None:
        values[name] = value


def _nanos(amount: Money | Rate | None) -> int | None:
    """Return nano-units of US dollars; another currency is unknown to usd()."""
    return amount.nanos if amount is not None and amount.currency == USD else None


def _once(items: Iterable[T], key: object) -> list[T]:
    """Return items sorted and each once; of unequal twins the same one always."""
    identify = key if callable(key) else None
    assert identify is not None
    found: dict[tuple[str, ...], T] = {}
    for item in items:
        name = identify(item)
        twin = found.get(name)
        if twin is None or (twin != item and repr(item) < repr(twin)):
            found[name] = item
    return [found[name] for name in sorted(found)]


def _group(
    members: tuple[InstanceFacts, ...], facts: JobFacts | None, all_facts: Facts
) -> Group:
    first = members[0]
    job = first.job
    instance = first.instance
    subject = (
        Subject(type="job", id=job)
        if job
        else Subject(
            type="instance",
            id=instance.resource_id,
            account=instance.account,
            region=instance.region,
        )
    )
    of_job = job_values(facts) if facts else _values_of_members(members)
    scopes = {(one.instance.account, one.instance.region) for one in members}
    stale = sorted(scopes & all_facts.stale_scopes) if all_facts.stale_scopes else []
    return Group(
        subject=subject,
        job=job,
        team=facts.team if facts else _first(one.team for one in members),
        owner=facts.owner if facts else _first(one.owner for one in members),
        instances=members,
        values=tuple(of_job | instance_values(one) for one in members),
        facts=facts,
        stale=tuple(f"{account}/{region}" for account, region in stale),
    )


def _values_of_members(members: tuple[InstanceFacts, ...]) -> dict[str, object]:
    """Return what the instances alone tell of their job."""
    types = sorted({one.instance.instance_type for one in members})
    counts = [one.gpus for one in members if one.gpus is not None]
    values: dict[str, object] = {
        "job.id": members[0].job,
        "job.instances": len(members),
        "job.instance_types": types,
    }
    _known(values, "job.team", _first(one.team for one in members) or None)
    _known(values, "job.owner", _first(one.owner for one in members) or None)
    _known(values, "job.env", _first(one.environment for one in members) or None)
    if len(counts) == len(members):
        values["job.gpus"] = sum(counts)
    return values


def _first(values: Iterable[str]) -> str:
    return next((value for value in values if value), "")
