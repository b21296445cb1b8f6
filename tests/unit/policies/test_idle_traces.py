"""The kind `idle` against days whose truth is known: no healthy job, most idle hours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from policies.core.catalogue import Policy
from policies.core.evaluate import evaluate
from policies.core.facts import Facts, InstanceFacts
from tests.builders_policies import NOW, make_facts, make_instance, policy
from tests.traces import DAY_MINUTES, MINUTE, Trace, forgotten, healthy, serving

START = datetime(2026, 11, 30, tzinfo=UTC)
#: A policy as the first page shows it, with a stop.
IDLE = policy("""
    name: stop-idle
    kind: idle
    steps: [warn, {after: 15m, do: stop}]
""")
EVERY = 15
BACK = 100


def facts_at(
    traces: Sequence[Trace], minute: int, tags: dict[str, str] | None = None
) -> Facts:
    machines: list[InstanceFacts] = [
        make_instance(
            f"{trace.job}-{node}",
            job=trace.job,
            gpus=trace.gpus,
            running_for=NOW - START,
            series=trace.series(node, START, minute, back=BACK),
            tags=tags,
        )
        for trace in traces
        for node in range(trace.nodes)
    ]
    return make_facts(*machines)


def stops(
    traces: Sequence[Trace], one: Policy = IDLE, tags: dict[str, str] | None = None
) -> Iterator[tuple[int, str]]:
    """Yield (minute, job) of every stop that would be proposed over the day."""
    for minute in range(60, DAY_MINUTES, EVERY):
        now = START + minute * MINUTE
        for finding in evaluate([one], facts_at(traces, minute, tags), now).findings:
            if any(step.do == "stop" for step in finding.actions):
                yield minute, finding.job


def false_stops(seeds: range) -> list[tuple[int, str]]:
    return list(stops([healthy(seed) for seed in seeds]))


def found_share(seeds: range) -> float:
    """Return the share of idle node-hours found within 45 minutes of their start."""
    traces = {trace.job: trace for trace in map(forgotten, seeds)}
    first: dict[str, int] = {}
    for minute, job in stops(list(traces.values())):
        first.setdefault(job, minute)
    idle = found = 0
    for job, trace in traces.items():
        began = next(
            minute for minute in range(DAY_MINUTES) if trace.idle_since(minute) == 0
        )
        hours = trace.nodes * (DAY_MINUTES - began)
        idle += hours
        if job in first and began <= first[job] <= began + 45:
            found += hours
    return found / idle


def test_no_stop_is_proposed_for_a_healthy_job() -> None:
    assert false_stops(range(30)) == []


def test_most_idle_hours_are_found_within_45_minutes() -> None:
    assert found_share(range(30)) >= 0.9


@pytest.mark.slow
def test_no_stop_is_proposed_in_a_thousand_healthy_days() -> None:
    for first in range(0, 1_000, 50):
        assert false_stops(range(first, first + 50)) == []


@pytest.mark.slow
def test_most_idle_hours_of_many_days_are_found_within_45_minutes() -> None:
    assert found_share(range(200)) >= 0.9


def test_a_service_is_exempt_unless_the_policy_says_otherwise() -> None:
    traces = [serving(seed) for seed in range(5)]
    tags = {"gpucost-workload": "service"}
    judged = policy(
        "name: a\nkind: idle\nservices: judge\nsteps: [warn, {after: 15m, do: stop}]"
    )

    assert list(stops(traces, tags=tags)) == []
    assert list(stops(traces, judged, tags=tags)) != []


def test_a_day_has_the_labels_it_is_judged_by() -> None:
    trace = forgotten(1)

    assert trace.idle_since(DAY_MINUTES - 1) is not None
    assert trace.idle_since(0) is None
    assert timedelta(minutes=len(trace.doing)) == timedelta(days=1)
