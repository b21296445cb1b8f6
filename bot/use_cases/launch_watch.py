"""Find jobs that run over a limit without a grant: tell, and ask for approval once.

Alert only: nothing that runs is touched. It looks at the inventory as it was read last, so
a job is found within one poll; events of AWS make it look at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.attribution import normalise_job
from billing.core.estimate import EstimateRequest
from billing.core.money import Money
from billing.core.prices import Purchase
from bot.ports import UnitOfWork
from bot.use_cases.approvals import Ask, file_request
from bot.use_cases.drift import SELF, Watch, estimate_of, purchase_of, rule_now
from bot.use_cases.facts import FactSources, gather_facts
from bot.use_cases.policies import Routing, run_policies
from policies.core.approvals import ApprovalRequest, RequestState
from policies.core.document import Mode
from policies.core.facts import Facts, InstanceFacts
from policies.core.finding import Finding
from policies.core.kinds.approval import ApprovalPolicy

#: Requests of any state that are looked through for one of the same run.
KNOWN_MAX = 1000
_REFUSED = frozenset({RequestState.DENIED, RequestState.EXPIRED})
#: A request made this long before a job's first machine was for this run.
ASKED_BEFORE = timedelta(days=7)
OwnerId = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Jobs over a limit without a grant, and what was asked for them."""

    findings: tuple[Finding, ...]
    asked: tuple[ApprovalRequest, ...]


def watch_launches(
    watch: Watch,
    sources: FactSources,
    *,
    routing: Callable[[set[str]], Routing],
    owner_id: OwnerId,
    now: datetime,
) -> Found:
    """Judge running jobs by the approval policies; tell what is new, ask once.

    Args:
        watch: What looking after running jobs needs.
        sources: Only how old facts may be matters.
        routing: Returns where notices for some owners go.
        owner_id: Returns the pseudonym of an owner tag's value; "" when unknown.
        now: The instant of the look.
    """
    policies = [one for one in watch.policies() if isinstance(one, ApprovalPolicy)]
    if not policies:
        return Found(findings=(), asked=())
    bare = replace(sources, metrics=None, commitments=None, objects=None)
    facts = gather_facts(
        watch.store, policies, bare, keys=watch.keys, own=watch.own, now=now
    ).facts
    evaluation = run_policies(
        watch.store,
        policies,
        facts,
        routing=routing({one.owner for one in facts.jobs}),
        now=now,
        plans=False,
    )
    over = {
        one.job: one
        for one in evaluation.findings
        if one.mode != Mode.OBSERVE and not one.waiver
    }
    asked = [
        request
        for job, finding in sorted(over.items())
        for request in _ask(watch, job, finding, facts, owner_id, now)
    ]
    return Found(findings=tuple(evaluation.findings), asked=tuple(asked))


def _ask(
    watch: Watch,
    job: str,
    finding: Finding,
    facts: Facts,
    owner_id: OwnerId,
    now: datetime,
) -> list[ApprovalRequest]:
    """File what a job runs on, unless somebody asked for this run already."""
    machines = [one for one in facts.instances if one.job == job and one.gpus != 0]
    began = min(
        (one.running_since for one in machines if one.running_since), default=now
    )
    with watch.store.read() as unit:
        if _is_asked(unit, job, began):
            return []
        record = unit.ledger.job_record(job)
    owner = owner_id(finding.owner) if finding.owner else ""
    filed = []
    for plan in _plans(watch, job, machines):
        estimate = estimate_of(watch, plan)
        rule = rule_now(watch.policies(), plan, record, finding.cost_at_stake)
        if rule is None:
            continue
        ask = Ask(
            plan=plan, estimate=estimate, requester=owner, caller=SELF,
            reason=f"job {job} was found running without approval",
            context=_context(finding, machines, watch.horizon),
        )  # fmt: skip
        filed.append(
            file_request(
                watch.store, ask, rule, owner=owner, record=record,
                channel=watch.channel, now=now,
            )
        )  # fmt: skip
    return filed


def _is_asked(unit: UnitOfWork, job: str, began: datetime) -> bool:
    """Tell whether a request of this run is open, or was refused: the alert stays."""
    return any(
        normalise_job(one.envelope.job) == job
        and (one.state.is_open or _is_refused(one, began))
        for one in unit.journal.requests(limit=KNOWN_MAX)
    )


def _is_refused(request: ApprovalRequest, began: datetime) -> bool:
    return request.state in _REFUSED and request.created_at >= began - ASKED_BEFORE


def _plans(
    watch: Watch, job: str, machines: Sequence[InstanceFacts]
) -> list[EstimateRequest]:
    """Return what runs now, one plan for each type, region and purchase."""
    counts: dict[tuple[str, str, Purchase], int] = {}
    for one in machines:
        machine = one.instance
        purchase = purchase_of(machine.lifecycle)
        key = (machine.instance_type, machine.region, purchase)
        counts[key] = counts.get(key, 0) + 1
    hours = Fraction(watch.horizon // timedelta(minutes=1), 60)
    return [
        EstimateRequest(
            job=job, instance_type=shape, region=region, purchase=purchase,
            count=count, hours=hours,
        )
        for (shape, region, purchase), count in sorted(counts.items())
    ]  # fmt: skip


def _context(
    finding: Finding, machines: Sequence[InstanceFacts], horizon: timedelta
) -> tuple[str, ...]:
    known: Mapping[str, str | None] = {
        one.name: None if one.value is None else str(one.value)
        for one in finding.evidence
    }
    spent = known.get("cost so far")
    currency = finding.cost_at_stake.currency if finding.cost_at_stake else "USD"
    cost = "unknown" if spent is None else str(Money.of(spent, currency))
    hours = horizon // timedelta(hours=1)
    running = "runs" if len(machines) == 1 else "run"
    return (
        f"{len(machines)} of its machines {running} now; it has cost {cost} so far.",
        f"Asked for are {hours} h more: nobody planned this run.",
        "What runs is not stopped, whatever is decided.",
    )
