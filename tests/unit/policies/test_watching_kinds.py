"""The kinds that watch and never act: stalled, failed-launch, capacity, anomaly."""

from __future__ import annotations

from datetime import timedelta

import pytest

from billing.core.fleet import Lifecycle
from billing.core.resources import ReservationKind
from policies.core.evaluate import evaluate, needs_of
from policies.core.facts import Facts
from policies.core.finding import Evaluation
from tests.builders_policies import (
    NOW,
    gpu_series,
    make_facts,
    make_instance,
    make_job,
    policy,
)
from tests.builders_watching import make_anomaly, make_launch, make_reservation

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
BUSY, QUIET = [99.0] * 24, [0.0] * 24


def judged(facts: Facts, kind: str, *lines: str) -> Evaluation:
    return evaluate(
        [policy("\n".join(("name: a", f"kind: {kind}", *lines)))], facts, NOW
    )


# ---------------------------------------------------------------------------- stalled


def hung(progressed: timedelta | None, *gpus: list[float]) -> Evaluation:
    machine = make_instance(series=gpu_series(*gpus))
    return judged(
        make_facts(machine, jobs=[make_job(progressed=progressed)]), "stalled"
    )


@pytest.mark.parametrize(
    ("progressed", "found"), [(29 * MINUTE, 0), (30 * MINUTE, 1), (5 * HOUR, 1)]
)
def test_busy_gpus_without_progress_are_found(
    progressed: timedelta, found: int
) -> None:
    assert len(hung(progressed, BUSY, BUSY).findings) == found


def test_a_job_that_reports_nothing_is_not_judged() -> None:
    result = hung(None, BUSY, BUSY)

    assert (result.findings, result.unknown) == ((), ())


def test_a_job_that_is_idle_as_well_is_left_to_idle() -> None:
    assert hung(2 * HOUR, QUIET, QUIET).findings == ()


def test_one_busy_gpu_is_enough_and_a_silent_one_makes_it_unknown() -> None:
    assert len(hung(2 * HOUR, QUIET, BUSY).findings) == 1
    assert len(hung(2 * HOUR, QUIET).unknown) == 1


def test_a_hang_pages_and_never_acts() -> None:
    (finding,) = hung(2 * HOUR, BUSY, BUSY).findings

    assert [step.do for step in finding.actions] == ["warn"]
    assert str(finding.cost_at_stake) == "$196.64"


# ----------------------------------------------------------------------- failed-launch


def test_starts_that_fail_fast_are_found_from_the_second_on() -> None:
    one = judged(make_facts(launches=[make_launch()]), "failed-launch")
    two = judged(
        make_facts(launches=[make_launch(), make_launch(ago=HOUR)]), "failed-launch"
    )

    assert one.findings == ()
    assert [finding.job for finding in two.findings] == ["job-123"]


@pytest.mark.parametrize(
    "spared",
    [
        make_launch(ago=HOUR, lasted=16 * MINUTE),
        make_launch(ago=HOUR, lasted=None),
        make_launch(ago=HOUR, gpus=7),
        make_launch(ago=25 * HOUR),
        make_launch("job-9", ago=HOUR),
    ],
)
def test_what_is_no_fast_failure_of_the_job_does_not_count(spared: object) -> None:
    facts = make_facts(launches=[make_launch(), spared])  # type: ignore[list-item] # a launch

    assert judged(facts, "failed-launch").findings == ()


def test_a_fast_failure_of_unknown_size_is_unknown() -> None:
    facts = make_facts(launches=[make_launch(gpus=None)])

    assert len(judged(facts, "failed-launch").unknown) == 1


def test_an_unknown_cost_is_no_zero() -> None:
    starts = [make_launch(cost=None), make_launch(ago=HOUR)]

    (finding,) = judged(make_facts(launches=starts), "failed-launch").findings

    assert finding.cost_at_stake is None


# ---------------------------------------------------------------------------- capacity


def test_unused_capacity_names_who_could_use_it() -> None:
    facts = make_facts(
        make_instance("i-1", job="job-1"),
        make_instance("i-2", job="job-2", lifecycle=Lifecycle.SPOT),
        make_instance("i-3", job="job-3", instance_type="p4d.24xlarge"),
        reservations=[make_reservation()],
    )

    (finding,) = judged(facts, "capacity").findings

    assert finding.explanation[2] == "Jobs on demand that could run in it: job-1."


def test_what_is_at_stake_is_the_unused_part_of_the_fee() -> None:
    (finding,) = judged(
        make_facts(reservations=[make_reservation()]), "capacity"
    ).findings

    # $24,000 for 4 instances over 5 days: $1,200 a day each.
    assert str(finding.cost_at_stake) == "$2,400.00"


def test_an_unknown_fee_is_no_zero() -> None:
    facts = make_facts(reservations=[make_reservation(fee=None)])

    assert judged(facts, "capacity").findings[0].cost_at_stake is None


@pytest.mark.parametrize(
    ("left", "clauses"),
    [
        (25 * HOUR, []),
        (24 * HOUR, ["ends within 24h"]),
        (3 * HOUR, ["ends within 4h"]),
        (39 * MINUTE, ["ends within 40m"]),
    ],
)
def test_the_end_of_what_was_paid_ahead_is_told_step_by_step(
    left: timedelta, clauses: list[str]
) -> None:
    facts = make_facts(reservations=[make_reservation(available=0, ends_in=left)])

    assert [one.clause for one in judged(facts, "capacity").findings] == clauses


def test_what_was_not_paid_ahead_may_end() -> None:
    held = make_reservation(
        kind=ReservationKind.ON_DEMAND, available=0, ends_in=HOUR, fee=None
    )

    assert judged(make_facts(reservations=[held]), "capacity").findings == ()


@pytest.mark.parametrize("state", ["expired", "cancelled", "pending", "failed"])
def test_what_is_not_active_is_left_alone(state: str) -> None:
    facts = make_facts(reservations=[make_reservation(state=state)])

    assert judged(facts, "capacity").findings == ()


def test_reservations_nobody_read_or_counted_are_unknown() -> None:
    unread = judged(make_facts(reservations=None), "capacity")
    uncounted = judged(
        make_facts(reservations=[make_reservation(available=None)]), "capacity"
    )

    assert len(unread.unknown) == len(uncounted.unknown) == 1
    assert unread.findings == uncounted.findings == ()


# ----------------------------------------------------------------------------- anomaly


@pytest.mark.parametrize(("excess", "found"), [("500", 0), ("500.01", 1)])
def test_the_floor_itself_is_no_finding(excess: str, found: int) -> None:
    facts = make_facts(anomalies=[make_anomaly(excess=excess)])

    assert len(judged(facts, "anomaly", "floor: $500").findings) == found


def test_one_team_may_be_watched_alone() -> None:
    facts = make_facts(anomalies=[make_anomaly(), make_anomaly("account 012345678901")])

    everything = judged(facts, "anomaly").findings
    alone = judged(facts, "anomaly", "team: NLP").findings

    assert [one.subject.id for one in everything] == ["012345678901", "nlp"]
    assert [one.subject.id for one in alone] == ["nlp"]


def test_too_little_history_is_unknown() -> None:
    result = judged(make_facts(anomalies=None), "anomaly")

    assert (len(result.findings), len(result.unknown)) == (0, 1)


# ------------------------------------------------------------------------------- needs


@pytest.mark.parametrize(
    ("kind", "need"),
    [
        ("stalled", "progress"),
        ("capacity", "reservations"),
        ("anomaly", "anomalies"),
        ("failed-launch", "launches_lookback"),
    ],
)
def test_each_gathers_what_it_looks_at_and_nothing_else(kind: str, need: str) -> None:
    needs = needs_of([policy(f"name: a\nkind: {kind}")])

    asked = {
        name
        for name in ("progress", "reservations", "anomalies", "launches_lookback")
        if getattr(needs, name)
    }
    assert asked == {need}
