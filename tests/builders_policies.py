"""Test values of the policy part: facts, policies, requests, people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from billing.core.anomalies import Anomaly
from billing.core.fleet import Instance, InstanceState, Lifecycle
from billing.core.money import Money, Rate
from billing.core.prices import Purchase
from billing.core.resources import Reservation
from billing.ports import (
    CommitmentFacts,
    MetricSeries,
    OwnedPlan,
    StoredObject,
)
from policies.core.approvals import (
    ApprovalRequest,
    ApprovalRule,
    ApprovalTier,
    Envelope,
    Person,
    RequestState,
    Verdict,
    Vote,
)
from policies.core.catalogue import Policy
from policies.core.facts import (
    CheckpointFacts,
    Facts,
    InstanceFacts,
    JobFacts,
    JobTransfer,
    JobWork,
    LaunchFacts,
    TeamMonth,
)
from policies.load import load_text

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
ACCOUNT = "012345678901"
REGION = "us-east-1"


def policies(text: str) -> tuple[Policy, ...]:
    """Load policies written as the list under `policies:`; any error fails."""
    lines = "\n".join(f"  {line}" for line in text.strip("\n").splitlines())
    loaded, errors = load_text(f"policies:\n{lines}\n")
    assert errors == (), [str(error) for error in errors]
    return loaded


def policy(text: str) -> Policy:
    """Load one policy written as its keys."""
    first, *rest = text.strip("\n").splitlines()
    indent = len(first) - len(first.lstrip())
    body = [f"- {first[indent:]}", *(f"  {line[indent:]}" for line in rest)]
    (loaded,) = policies("\n".join(body))
    return loaded


def make_series(
    values: Sequence[float],
    *,
    resource_id: str = "i-1",
    signal: str = "gpu_utilization",
    part: str = "0",
    period_s: int = 300,
    end: datetime = NOW,
) -> MetricSeries:
    """Return samples that end at an instant, evenly spaced."""
    step = timedelta(seconds=period_s)
    first = end - step * (len(values) - 1)
    return MetricSeries(
        resource_id=resource_id,
        signal=signal,
        part=part,
        points=tuple(
            (first + step * index, value) for index, value in enumerate(values)
        ),
        period_s=period_s,
    )


def gpu_series(*gpus: Sequence[float], resource_id: str = "i-1") -> list[MetricSeries]:
    """Return one GPU utilisation series for each GPU."""
    return [
        make_series(values, resource_id=resource_id, part=str(index))
        for index, values in enumerate(gpus)
    ]


def quiet_network(resource_id: str = "i-1", *, samples: int = 24) -> MetricSeries:
    """Return a network series far below any limit."""
    return make_series(
        [2_000.0] * samples, resource_id=resource_id, signal="network", part=""
    )


def make_instance(
    resource_id: str = "i-1",
    *,
    job: str = "job-123",
    team: str = "nlp",
    owner: str = "ada",
    environment: str = "dev",
    account: str = ACCOUNT,
    region: str = REGION,
    instance_type: str = "p5.48xlarge",
    lifecycle: Lifecycle = Lifecycle.ON_DEMAND,
    state: InstanceState = InstanceState.RUNNING,
    gpus: int | None = 2,
    rate: Rate | None = Rate.of("98.32"),  # noqa: B008 (immutable)
    running_for: timedelta | None = timedelta(hours=12),
    series: Iterable[MetricSeries] = (),
    series_complete: bool = True,
    tags: Mapping[str, str] | None = None,
    termination_protected: bool | None = None,
) -> InstanceFacts:
    started = None if running_for is None else NOW - running_for
    return InstanceFacts(
        instance=Instance(
            resource_id=resource_id,
            account=account,
            region=region,
            zone=f"{region}a",
            instance_type=instance_type,
            lifecycle=lifecycle,
            state=state,
            launched_at=started or NOW,
            tags=tags or {},
            termination_protected=termination_protected,
        ),
        job=job,
        team=team,
        owner=owner,
        environment=environment,
        gpus=gpus,
        rate=rate,
        running_since=started,
        series=tuple(series),
        series_complete=series_complete,
    )


def idle_instance(resource_id: str = "i-1", **changes: object) -> InstanceFacts:
    """Return an instance of two GPUs that has done nothing for two hours."""
    quiet = [0.0] * 24
    series = [
        *gpu_series(quiet, quiet, resource_id=resource_id),
        quiet_network(resource_id),
    ]
    return make_instance(resource_id, **{"series": series, **changes})  # type: ignore[arg-type]


def make_job(
    job: str = "job-123",
    *,
    team: str = "nlp",
    owner: str = "ada",
    environment: str = "dev",
    spent: str | None = "1000",
    predicted: str | None = None,
    instance_types: tuple[str, ...] = ("p5.48xlarge",),
    instances: int = 1,
    gpus: int | None = 8,
    ended_at: datetime | None = None,
    has_grant: bool = False,
    grant_ends_at: datetime | None = None,
    approved_ceiling: str | None = None,
    progressed: timedelta | None = None,
    currency: str = "USD",
) -> JobFacts:
    return JobFacts(
        job=job,
        team=team,
        owner=owner,
        environment=environment,
        spent=None if spent is None else Money.of(spent, currency),
        rate=Rate.of("98.32", currency),
        predicted=None if predicted is None else Money.of(predicted, currency),
        instance_types=instance_types,
        instances=instances,
        gpus=gpus,
        since=NOW - timedelta(hours=12),
        ended_at=ended_at,
        has_grant=has_grant,
        grant_ends_at=grant_ends_at,
        approved_ceiling=(
            None if approved_ceiling is None else Money.of(approved_ceiling, currency)
        ),
        progressed_at=None if progressed is None else NOW - progressed,
    )


def make_month(
    team: str = "nlp",
    *,
    spent: str | None = "170000",
    forecast: str | None = None,
    budget: str | None = "200000",
) -> TeamMonth:
    return TeamMonth(
        team=team,
        since=date(2026, 11, 1),
        spent=None if spent is None else Money.of(spent),
        forecast=None if forecast is None else Money.of(forecast),
        budget=None if budget is None else Money.of(budget),
    )


def make_object(
    key: str,
    *,
    age: timedelta = timedelta(days=30),
    size_bytes: int = 2**30,
    bucket: str = "models",
    version: str = "",
    is_current: bool = True,
) -> StoredObject:
    return StoredObject(
        bucket=bucket,
        key=key,
        size_bytes=size_bytes,
        modified_at=NOW - age,
        storage_class="STANDARD",
        version_id=version,
        is_current=is_current,
    )


def saved_steps(
    *steps: int, job: str = "job-1", first_age: timedelta = timedelta(days=30)
) -> list[StoredObject]:
    """Return one object per step, each written an hour after the one before."""
    return [
        make_object(
            f"{job}/checkpoints/step-{step}/model.pt",
            age=first_age - timedelta(hours=index),
        )
        for index, step in enumerate(steps)
    ]


CHECKPOINTS = "s3://models/{job}/checkpoints/step-{step}/"


def make_listing(
    objects: Iterable[StoredObject],
    *,
    location: str = CHECKPOINTS,
    is_complete: bool = True,
    price: str | None = "0.023",
    tags: Mapping[str, Mapping[str, str]] | None = None,
) -> CheckpointFacts:
    return CheckpointFacts(
        location=location,
        objects=tuple(objects),
        is_complete=is_complete,
        prices={} if price is None else {"STANDARD": Money.of(price)},
        tags=tags,
    )


def make_coverage(
    covered: str = "600",
    eligible: str = "1000",
    *,
    family: str = "p5",
    baseline_pct: float | None = None,
    utilization_pct: float | None = 99.0,
    baseline: str | None = None,
    plan_share: Fraction | None = None,
) -> CommitmentFacts:
    return CommitmentFacts(
        family=family,
        since=date(2026, 10, 31),
        until=date(2026, 11, 30),
        covered=Money.of(covered),
        eligible=Money.of(eligible),
        utilization_pct=utilization_pct,
        baseline_covered_pct=baseline_pct,
        baseline=None if baseline is None else Money.of(baseline),
        plan_share=plan_share,
    )


def make_facts(
    *instances: InstanceFacts,
    jobs: Iterable[JobFacts] = (),
    checkpoints: Iterable[CheckpointFacts] = (),
    commitments: Iterable[CommitmentFacts] = (),
    commitments_known: bool = True,
    plans: Iterable[OwnedPlan] | None = (),
    team_months: Iterable[TeamMonth] = (),
    launches: Iterable[LaunchFacts] = (),
    reservations: Iterable[Reservation] | None = (),
    anomalies: Iterable[Anomaly] | None = (),
    work: Iterable[JobWork] = (),
    transfers: Iterable[JobTransfer] = (),
    stale: Iterable[tuple[str, str]] = (),
) -> Facts:
    return Facts(
        currency="USD",
        instances=instances,
        jobs=tuple(jobs),
        checkpoints=tuple(checkpoints),
        commitments=tuple(commitments),
        commitments_known=commitments_known,
        plans=None if plans is None else tuple(plans),
        team_months=tuple(team_months),
        launches=tuple(launches),
        reservations=tuple(reservations or ()),
        reservations_known=reservations is not None,
        anomalies=tuple(anomalies or ()),
        anomalies_known=anomalies is not None,
        work=tuple(work),
        transfers=tuple(transfers),
        stale_scopes=frozenset(stale),
    )


def make_rule(
    *, required: int = 1, over: str = "10000", approvers: tuple[str, ...] = ("@gpu",)
) -> ApprovalRule:
    tier = ApprovalTier(over=Money.of(over), required=required, approvers=approvers)
    return ApprovalRule(policy="approve-large-runs", tier=tier, expires_after_s=86_400)


def make_request(
    *,
    rule: ApprovalRule | None = None,
    state: RequestState = RequestState.PENDING,
    requester: str = "p-requester",
    caller: str = "",
    owner: str = "",
    expires_at: datetime | None = NOW + timedelta(hours=24),
    votes: tuple[Vote, ...] = (),
) -> ApprovalRequest:
    return ApprovalRequest(
        request_id="apr-1",
        version=1,
        state=state,
        envelope=Envelope(
            job="job-123",
            instance_type="p5.48xlarge",
            count=4,
            hours=Fraction(72),
            purchase=Purchase.ON_DEMAND,
            region=REGION,
            cost_ceiling=Money.of("40000"),
        ),
        requester=requester,
        caller=caller,
        owner=owner,
        reason="a run",
        low=Money.of("20000"),
        expected=Money.of("30000"),
        high=Money.of("40000"),
        rule=rule or make_rule(),
        created_at=NOW,
        expires_at=expires_at,
        votes=votes,
    )


def make_person(
    person_id: str = "p-approver",
    *,
    slack_id: str = "U0APPROVER",
    email: str = "",
    is_bot: bool = False,
    is_deactivated: bool = False,
    is_guest: bool = False,
    home_org: bool = True,
) -> Person:
    return Person(
        person_id=person_id,
        slack_id=slack_id,
        email=email,
        name="Ada",
        is_bot=is_bot,
        is_deactivated=is_deactivated,
        is_guest=is_guest,
        home_org=home_org,
    )


def make_vote(
    person_id: str = "p-approver",
    verdict: Verdict = Verdict.APPROVE,
    *,
    at: datetime = NOW,
) -> Vote:
    return Vote(person_id=person_id, verdict=verdict, at=at)
