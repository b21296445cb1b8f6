"""Prometheus metrics of cost and of what policies do, read when asked for.

Labels are bounded: the dearest jobs and teams stand alone, the rest is ``other``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta

from prometheus_client import CollectorRegistry, Gauge

from billing.core.money import NANOS_PER_UNIT
from billing.core.periods import day_of
from bot.unit_of_work import SqlUnitOfWork
from bot.unit_of_work.sizes import actions_by_state, database_bytes
from bot.wiring.application import Application
from policies.core.actions import ActionState
from policies.core.approvals import RequestState

#: Series of one metric, besides ``other``.
TOP = 20
OTHER = "other"


def add_cost(registry: CollectorRegistry, unit: SqlUnitOfWork, now: datetime) -> None:
    """Add what jobs and teams cost in this month, as billed so far."""
    gauge = Gauge(
        "gpucost_month_cost",
        "Effective cost of this UTC month as billed so far, without credits",
        ["by", "key", "currency"], registry=registry,
    )  # fmt: skip
    today = day_of(now)
    currency = unit.ledger.currency()
    if currency is None:
        return
    for by in ("job", "team"):
        sums: dict[str, int] = defaultdict(int)
        for cell in unit.ledger.cells(
            by, today.replace(day=1), today + timedelta(days=1)
        ):
            if not cell.is_credit:
                sums[cell.key] += cell.effective_nanos
        for key, nanos in topped(sums).items():
            gauge.labels(by, key, currency).set(nanos / NANOS_PER_UNIT)


def topped(sums: Mapping[str, int]) -> dict[str, int]:
    """Return the largest sums by key, and what is left as one.

    >>> sums = {f"job-{n}": n for n in range(1, 23)}
    >>> topped(sums)["job-22"], topped(sums)["other"], len(topped(sums))
    (22, 3, 21)
    """
    ranked = sorted(sums.items(), key=lambda one: (-one[1], one[0]))
    found = dict(ranked[:TOP])
    rest = ranked[TOP:]
    if rest:
        found[OTHER] = found.get(OTHER, 0) + sum(nanos for _, nanos in rest)
    return found


def add_work(
    registry: CollectorRegistry, application: Application, unit: SqlUnitOfWork
) -> None:
    """Add what policies found and did, what waits for people, and sizes."""
    actions = Gauge(
        "gpucost_actions", "Actions of policies by state", ["state"], registry=registry
    )
    counted = actions_by_state(unit)
    for state in ActionState:
        actions.labels(state.value).set(counted.get(state.value, 0))
    findings = Gauge(
        "gpucost_open_findings", "Findings that are not resolved", ["policy"],
        registry=registry,
    )  # fmt: skip
    found: dict[str, int] = defaultdict(int)
    for one in unit.journal.open_findings():
        found[one.finding.policy] += 1
    for policy, count in found.items():
        findings.labels(policy).set(count)
    waiting = unit.journal.requests(state=RequestState.PENDING)
    Gauge(
        "gpucost_approvals_waiting", "Requests nobody decided yet", registry=registry
    ).set(len(waiting))
    Gauge("gpucost_database_bytes", "Size of the database", registry=registry).set(
        database_bytes(unit)
    )
    limit = application.settings.config.limits.aws_request_cost_per_day
    Gauge(
        "gpucost_aws_request_cost_limit", "What they may cost on one UTC day",
        registry=registry,
    ).set(limit.nanos / NANOS_PER_UNIT)  # fmt: skip
