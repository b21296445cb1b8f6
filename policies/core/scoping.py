"""Which jobs and instances a policy looks at, and what keeps one from being judged.

Every kind asks here, so that stale facts and an undecided `where:` are reported the
same way by all of them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from policies.core.conditions import Condition
from policies.core.facts import JobFacts
from policies.core.finding import Subject, Unknown
from policies.core.judging import Judging
from policies.core.view import Group, View, job_values, selects, unknown_where


class JobScope(Protocol):
    """The keys that choose among jobs."""

    @property
    def name(self) -> str: ...  # noqa: D102 - the policy's key

    @property
    def where(self) -> Condition | None: ...  # noqa: D102 - the policy's key


class InstanceScope(JobScope, Protocol):
    """The keys that choose among running instances and their jobs."""

    @property
    def accounts(self) -> tuple[str, ...]: ...  # noqa: D102 - the policy's key


def judged_groups(
    judging: Judging, policy: InstanceScope, view: View, *, only_gpus: bool = False
) -> Iterator[Group]:
    """Yield the groups a policy is about and may judge; the others are reported.

    Args:
        judging: Counts what is in scope and takes what cannot be judged.
        policy: The policy's keys.
        view: The facts, arranged.
        only_gpus: Leave out groups known to hold no GPU.
    """
    for group in view.groups:
        if only_gpus and all(one.gpus == 0 for one in group.instances):
            continue
        if policy.accounts and not _in_accounts(policy.accounts, group):
            continue
        selected = selects(policy.where, group.values)
        if selected is False:
            continue
        judging.in_scope += 1
        if selected is None and policy.where is not None:
            judging.unknown.append(unknown_where(policy.name, policy.where, group))
        elif group.stale:
            judging.miss(group, f"fresh facts of {', '.join(group.stale)}")
        else:
            yield group


def judged_jobs(judging: Judging, policy: JobScope, view: View) -> Iterator[JobFacts]:
    """Yield the running jobs a policy is about and may judge; others are reported."""
    for job in view.jobs:
        if job.ended_at is not None or not job.instances:
            continue
        values = job_values(job)
        selected = True if policy.where is None else policy.where.holds(values)
        if selected is False:
            continue
        judging.in_scope += 1
        if selected is None and policy.where is not None:
            miss_job(judging, job, policy.where.missing(values))
        else:
            yield job


def miss_job(judging: Judging, job: JobFacts, missing: str) -> None:
    """Report a job that cannot be judged."""
    judging.unknown.append(
        Unknown(
            policy=judging.policy.name,
            subject=Subject(type="job", id=job.job),
            missing=missing,
            job=job.job,
        )
    )


def _in_accounts(accounts: tuple[str, ...], group: Group) -> bool:
    return all(one.instance.account in accounts for one in group.instances)
