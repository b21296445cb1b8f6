"""The kind `placement`: a running job that pays for where it runs.

Traffic between regions and zones and through NAT gateways, out of the bill's own usage
types; and spot capacity that a calmer region offers at the same saving, out of the
shipped snapshot of AWS's advisor. It tells, and never acts.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Literal

from pydantic import Field

from billing.core.fleet import Lifecycle
from billing.core.money import Money
from billing.core.periods import start_of
from billing.core.spot_advisor import SpotBand, spot_band, spot_regions
from policies.core.document import PolicyBase
from policies.core.facts import JobFacts, JobTransfer
from policies.core.fields import Amount, Duration, Flag, JobCondition, Percent
from policies.core.finding import Evidence, Finding, PlannedAction, Severity, Subject
from policies.core.judging import Judgement, Judging, message_of, number_text
from policies.core.quantities import percent_text
from policies.core.scoping import judged_jobs, miss_job
from policies.core.view import View

#: sort -> how it is called, and what usually helps
SORTS = {
    "between regions": "Keep its data in the region where it computes.",
    "between zones": "Put its instances and its data in one zone.",
    "through NAT": "Reach S3 and ECR by a VPC endpoint.",
}
#: Regions named in a message.
REGIONS_SHOWN = 3


class PlacementPolicy(PolicyBase):
    """A running job that pays for where it runs."""

    kind: Literal["placement"] = "placement"
    where: JobCondition | None = Field(None, description="condition in CEL")
    lookback: Duration = Field(
        timedelta(days=7), description="how far back the bill is looked at, whole days"
    )
    share: Percent = Field(
        Fraction(1, 20), description="share of the job's cost; strictly more"
    )
    floor: Amount = Field(
        Money.of("50"), description="dollars in that time; strictly more"
    )
    spot: Flag = Field(
        default=True,
        description="tell of calmer regions for spot that is often taken back",
    )

    @property
    def transfer_window(self) -> timedelta:
        """Return how far back the bill is looked at."""
        return self.lookback


def judge(policy: PlacementPolicy, view: View, now: datetime) -> Judgement:
    """Return what running jobs pay for where they run."""
    judging = Judging(policy)
    known = {
        one.job: one for one in view.facts.transfers if one.over == policy.lookback
    }
    spots = _spots(view) if policy.spot else {}
    for job in judged_jobs(judging, policy, view):
        found = known.get(job.job)
        if found is None:
            miss_job(judging, job, "billed days")
        else:
            judging.findings += _paid(policy, job, found, now)
        for shape, region in sorted(spots.get(job.job, ())):
            finding = _calmer(policy, job, shape, region, now=now)
            if finding is not None:
                judging.findings.append(finding)
    return judging.result()


def _paid(
    policy: PlacementPolicy, job: JobFacts, found: JobTransfer, now: datetime
) -> Iterator[Finding]:
    for sort, cost in sorted(found.paid.items()):
        if cost.currency != policy.floor.currency or not found.total.nanos:
            continue
        share = Fraction(cost.nanos, found.total.nanos)
        if cost <= policy.floor or share <= policy.share:
            continue
        shown = number_text(float(share * 100))
        yield Finding(
            policy=policy.name,
            kind=policy.kind,
            mode=str(policy.mode),
            subject=Subject(type="job", id=job.job),
            job=job.job,
            severity=Severity.WARNING,
            clause=f"traffic {sort} over {percent_text(policy.share)} of its cost",
            since=start_of(found.since),
            cost_at_stake=cost,
            evidence=(
                Evidence(
                    name=f"traffic {sort}",
                    value=cost.text(),
                    unit=cost.currency,
                    threshold=policy.floor.text(),
                    as_of=start_of(found.until),
                ),
            ),
            explanation=(
                (
                    f"Traffic {sort} cost {cost}: {shown}% of its {found.total} from "
                    f"{found.since} up to {found.until}."
                ),
                SORTS[sort],
            ),
            actions=(PlannedAction(do="warn", at=now),),
            owner=job.owner,
            team=job.team,
        )


def _spots(view: View) -> dict[str, set[tuple[str, str]]]:
    """Return by job the types and regions in which it runs on spot."""
    found: dict[str, set[tuple[str, str]]] = {}
    for group in view.groups:
        for one in group.instances:
            if group.job and one.instance.lifecycle is Lifecycle.SPOT:
                place = (one.instance.instance_type, one.instance.region)
                found.setdefault(group.job, set()).add(place)
    return found


def _calmer(
    policy: PlacementPolicy, job: JobFacts, shape: str, region: str, *, now: datetime
) -> Finding | None:
    """Return a finding where another region is calmer at the same saving or more."""
    here = spot_band(shape, region)
    if here is None:
        return None
    better = [(band, name) for name, band in _others(shape, region, here)]
    if not better:
        return None
    better.sort(key=lambda pair: (pair[0].rank, -pair[0].saving_pct, pair[1]))
    named = ", ".join(
        f"{name} ({band.label}, saves {band.saving_pct}%)"
        for band, name in better[:REGIONS_SHOWN]
    )
    return Finding(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        subject=Subject(type="job", id=job.job),
        job=job.job,
        severity=Severity.INFO,
        clause=f"spot {shape} in {region} is often taken back",
        since=here.as_of,
        cost_at_stake=None,
        evidence=(
            Evidence(
                name=f"{shape} taken back a month in {region}",
                value=here.label,
                as_of=here.as_of,
            ),
        ),
        explanation=(
            (
                f"AWS's spot advisor of {here.as_of.date()} says {here.label} of {shape} "
                f"are taken back a month in {region}, saving {here.saving_pct}%."
            ),
            f"Calmer at the same saving or more: {named}.",
            "Moving its data there costs too, which is not counted here.",
        ),
        actions=(PlannedAction(do="warn", at=now),),
        owner=job.owner,
        team=job.team,
    )


def _others(shape: str, region: str, here: SpotBand) -> Iterator[tuple[str, SpotBand]]:
    for name in spot_regions(shape):
        band = spot_band(shape, name)
        if name == region or band is None:
            continue
        if band.rank < here.rank and band.saving_pct >= here.saving_pct:
            yield name, band


def message(finding: Finding) -> str:
    """Return the message an owner gets."""
    return message_of(
        finding, f"job {finding.job} pays for where it runs ({finding.policy})"
    )
