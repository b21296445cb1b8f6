"""What the process says of itself: readiness with reasons, and Prometheus metrics."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from billing.core.errors import GpucostError
from billing.core.periods import day_of
from bot.use_cases.freshness import stale_sources
from bot.wiring.application import Application
from bot.wiring.gauges import add_cost, add_work


def readiness(
    application: Application, policy_problem: str
) -> tuple[bool, dict[str, Any]]:
    """Tell whether the database answers; stale or rejected data is only degraded."""
    try:
        with application.store.read() as unit:
            known = unit.ledger.freshness()
            paused = unit.control.paused()
    except GpucostError as error:
        return False, {"status": "unavailable", "reasons": [str(error)]}
    stale = stale_sources(known, application.schedules, application.now())
    reasons = [f"{one.source.value} {one.account}: {one.reason}" for one in stale]
    if policy_problem:
        reasons.append("policy files are invalid; the last good set is in force")
    document: dict[str, Any] = {
        "status": "degraded" if reasons else "ok",
        "reasons": reasons,
        "paused": paused is not None,
    }
    return True, document


def metrics_text(application: Application) -> bytes:
    """Return Prometheus metrics, read when asked for; labels are few and bounded."""
    registry = CollectorRegistry()
    age = Gauge(
        "gpucost_source_age_seconds", "Age of the last good read",
        ["source", "account"], registry=registry,
    )  # fmt: skip
    depth = Gauge(
        "gpucost_outbox_rows", "Slack effects by state", ["state"], registry=registry
    )
    requests = Gauge(
        "gpucost_aws_requests_today", "Billable AWS requests of this UTC day",
        registry=registry,
    )  # fmt: skip
    spent = Gauge(
        "gpucost_aws_request_cost_today",
        "What they cost, in US dollars",
        registry=registry,
    )
    paused = Gauge("gpucost_paused", "1 while actions are paused", registry=registry)
    events = Gauge(
        "gpucost_events_today",
        "Messages of the event queue on this UTC day, by what became of them",
        ["outcome"], registry=registry,
    )  # fmt: skip
    now = application.now()
    with application.store.read() as unit:
        for outcome, messages in unit.events.counted(day_of(now)).items():
            events.labels(outcome).set(messages)
        for one in unit.ledger.freshness():
            if one.as_of is not None:
                seconds = (now - one.as_of).total_seconds()
                age.labels(one.source.value, one.account).set(seconds)
        for state, rows in unit.outbox.depth().items():
            depth.labels(state).set(rows)
        paused.set(unit.control.paused() is not None)
        add_cost(registry, unit, now)
        add_work(registry, application, unit)
    count, cost = application.store.meter.spent(day_of(now))
    requests.set(count)
    spent.set(float(cost.text()))
    return generate_latest(registry)
