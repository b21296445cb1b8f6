"""The kind `idle`: all known and all quiet for the whole time, or nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from billing.core.fleet import InstanceState, Lifecycle
from policies.core.evaluate import evaluate
from policies.core.facts import Facts
from policies.core.finding import Evaluation, Severity
from tests.builders_policies import (
    ACCOUNT,
    NOW,
    REGION,
    gpu_series,
    idle_instance,
    make_facts,
    make_instance,
    make_job,
    make_series,
    policy,
    quiet_network,
)

QUIET = [0.0] * 24


def judged(facts: Facts, *lines: str) -> Evaluation:
    text = "\n".join(("name: idle", "kind: idle", *lines))
    return evaluate([policy(text)], facts, NOW)


def test_quiet_gpus_are_a_finding_with_its_reasons() -> None:
    result = judged(make_facts(idle_instance()))

    (finding,) = result.findings
    assert result.unknown == ()
    assert (finding.job, finding.owner, finding.team) == ("job-123", "ada", "nlp")
    assert str(finding.cost_at_stake) == "$2,359.68"
    assert finding.explanation == (
        (
            "2 GPUs of 1 instance stayed within every limit for 30m: highest "
            "gpu_utilization 0% (limit < 5%), highest network 2000 B/s "
            "(limit < 1 MB/s)."
        ),
        "It costs $98.32/h, $2,359.68 a day.",
    )
    assert [(action.do, action.at) for action in finding.actions] == [("warn", NOW)]
    assert finding.since == NOW - timedelta(minutes=115)


# C054
def test_no_samples_are_unknown_and_not_idle() -> None:
    cpu = make_series([41.0] * 24, signal="cpu_utilization", part="")
    result = judged(make_facts(make_instance(series=[cpu, quiet_network()])))

    assert result.findings == ()
    assert result.unknown[0].missing == "gpu_utilization of 2 of 2 GPUs"


# C055
def test_too_few_samples_are_unknown() -> None:
    few = gpu_series([0.0] * 3, [0.0] * 3)
    result = judged(
        make_facts(make_instance(series=[*few, quiet_network()])), "for: 2h"
    )

    assert result.findings == ()
    assert "gpu_utilization of 2 of 2 GPUs" in result.unknown[0].missing


@pytest.mark.parametrize(("samples", "known"), [(4, False), (5, True), (6, True)])
def test_four_fifths_of_the_samples_are_enough(samples: int, *, known: bool) -> None:
    some = [0.0] * samples
    series = [*gpu_series(some, some), quiet_network()]

    result = judged(make_facts(make_instance(series=series)))

    assert bool(result.findings) is known
    assert bool(result.unknown) is not known


def test_one_silent_gpu_makes_the_instance_unknown() -> None:
    series = [*gpu_series(QUIET), quiet_network()]  # of two GPUs

    result = judged(make_facts(make_instance(series=series)))

    assert result.findings == ()
    assert result.unknown[0].missing == "gpu_utilization of 1 of 2 GPUs"


def test_a_named_signal_without_samples_is_unknown() -> None:
    result = judged(make_facts(make_instance(series=gpu_series(QUIET, QUIET))))

    assert result.findings == ()
    assert result.unknown[0].missing == "network"


# C056
def test_any_sample_over_the_limit_is_use() -> None:
    series = [*gpu_series([0.4, 88.0, 0, 0, 0, 0], [0.0] * 6), quiet_network()]
    result = judged(make_facts(make_instance(series=series)), "for: 30m")

    assert [finding.severity for finding in result.findings] == [Severity.INFO]


def test_a_sample_at_the_limit_is_use() -> None:
    series = [*gpu_series([5.0] * 24, [5.0] * 24), quiet_network()]

    assert judged(make_facts(make_instance(series=series))).findings == ()


def test_a_sample_that_is_no_number_is_no_sample() -> None:
    nan = [float("nan")] * 24
    series = [*gpu_series(nan, [-1.0] * 24), quiet_network()]

    result = judged(make_facts(make_instance(series=series)))

    assert result.unknown[0].missing == "gpu_utilization of 2 of 2 GPUs"


# C058
def test_busy_cpus_beside_idle_gpus_are_only_warned_about() -> None:
    cpu = make_series([85.0] * 24, signal="cpu_utilization", part="")
    series = [*gpu_series(QUIET, QUIET), quiet_network(), cpu]
    steps = "steps: [warn, {after: 15m, do: stop}]"

    (finding,) = judged(make_facts(make_instance(series=series)), steps).findings

    assert finding.clause.startswith("idle, CPU busy")
    assert [action.do for action in finding.actions] == ["warn"]
    assert "The CPUs are busy (85%)" in finding.explanation[1]


# C058
def test_idle_cpus_say_nothing_about_busy_gpus() -> None:
    cpu = make_series([2.0] * 24, signal="cpu_utilization", part="")
    busy = [96.0] * 24
    series = [*gpu_series(busy, busy), quiet_network(), cpu]

    result = judged(make_facts(make_instance(series=series)))

    assert (result.findings, result.unknown) == ((), ())


# C060
def test_one_busy_gpu_keeps_the_host_and_the_others_are_advice() -> None:
    series = [*gpu_series([95.0] * 24, *[QUIET] * 7), quiet_network()]
    result = judged(make_facts(make_instance(gpus=8, series=series)))

    (finding,) = result.findings
    assert finding.severity is Severity.INFO
    assert finding.actions == ()
    assert finding.evidence[0].value == "7 of 8"


# C061
def test_silent_ranks_of_a_busy_job_are_in_use() -> None:
    busy = [91.0] * 24
    rank_0 = make_instance("i-0", series=[*gpu_series(busy, busy), quiet_network()])
    others = [make_instance(f"i-{rank}") for rank in (1, 2, 3)]

    result = judged(make_facts(rank_0, *others))

    assert (result.findings, result.unknown) == ((), ())


# C061
def test_silent_ranks_of_a_quiet_job_are_unknown() -> None:
    others = [make_instance(f"i-{rank}") for rank in (1, 2, 3)]

    result = judged(make_facts(idle_instance("i-0"), *others))

    assert result.findings == ()
    assert (
        "gpu_utilization of 2 of 2 GPUs on 3 of 4 instances"
        in result.unknown[0].missing
    )


# C062
@pytest.mark.parametrize(
    ("minutes", "found"), [(12, 0), (39, 0), (40, 1)], ids=["boot", "grace", "after"]
)
def test_time_after_a_start_does_not_count(minutes: int, found: int) -> None:
    instance = idle_instance(running_for=timedelta(minutes=minutes))

    result = judged(make_facts(instance))

    assert len(result.findings) == found
    assert result.unknown == ()


# C062
def test_setup_that_uses_the_network_is_not_idle() -> None:
    download = make_series([50e6] * 24, signal="network", part="")

    result = judged(
        make_facts(make_instance(series=[*gpu_series(QUIET, QUIET), download]))
    )

    assert (result.findings, result.unknown) == ((), ())


def test_an_unknown_start_is_unknown() -> None:
    result = judged(make_facts(idle_instance(running_for=None)))

    assert result.findings == ()
    assert result.unknown[0].missing == "start of running"


def test_an_unknown_number_of_gpus_is_unknown() -> None:
    result = judged(make_facts(idle_instance(gpus=None)))

    assert result.findings == ()
    assert "number of GPUs" in result.unknown[0].missing


def test_an_unknown_price_is_said_and_not_zero() -> None:
    (finding,) = judged(make_facts(idle_instance(rate=None))).findings

    assert finding.cost_at_stake is None
    assert finding.explanation[-1] == "The price per hour is unknown."


# C065
def test_members_of_a_scaling_group_are_not_stopped_one_by_one() -> None:
    instance = idle_instance(tags={"aws:autoscaling:groupName": "train-asg"})
    steps = "steps: [warn, {after: 15m, do: terminate}]"

    (finding,) = judged(make_facts(instance), steps).findings

    assert [action.do for action in finding.actions] == [
        "warn",
        "lower-desired-capacity",
    ]
    assert "train-asg" in finding.explanation[-1]


def test_a_stop_of_spot_is_refused_with_the_reason() -> None:
    steps = "steps: [warn, {after: 15m, do: stop}]"
    result = judged(make_facts(idle_instance(lifecycle=Lifecycle.SPOT)), steps)

    (refused,) = result.refused
    assert refused.action == "stop job job-123"
    assert "cannot be stopped" in refused.reason
    assert [action.do for action in result.findings[0].actions] == ["warn"]


# C066
def test_a_protected_instance_is_named_and_not_ended() -> None:
    steps = "steps: [warn, {after: 15m, do: terminate}]"
    facts = make_facts(idle_instance("i-2", termination_protected=True))

    (refused,) = judged(facts, steps).refused

    assert refused.reason == "i-2 is protected against termination"


# C068
@pytest.mark.parametrize(
    "state", [state for state in InstanceState if state is not InstanceState.RUNNING]
)
def test_only_running_instances_are_looked_at(state: InstanceState) -> None:
    result = judged(make_facts(idle_instance(state=state)))

    assert (result.findings, result.unknown) == ((), ())


# C070
def test_stale_facts_are_unknown() -> None:
    result = judged(make_facts(idle_instance(), stale=[(ACCOUNT, REGION)]))

    assert result.findings == ()
    assert result.unknown[0].missing == f"fresh facts of {ACCOUNT}/{REGION}"


def test_instances_without_a_job_are_judged_alone() -> None:
    facts = make_facts(idle_instance("i-1", job=""), make_instance("i-2", job=""))
    result = judged(facts)

    assert [finding.subject.id for finding in result.findings] == ["i-1"]
    assert [unknown.subject.id for unknown in result.unknown] == ["i-2"]


def test_an_instance_without_gpus_is_no_subject() -> None:
    result = judged(make_facts(make_instance(gpus=0, job="")))

    assert (result.findings, result.unknown) == ((), ())


def test_where_leaves_jobs_out() -> None:
    facts = make_facts(idle_instance(environment="prod"))

    assert judged(facts, 'where: job.env != "prod"').findings == ()
    assert judged(facts, 'where: job.env == "prod"').findings != ()


# P2
def test_a_missing_environment_is_unknown_and_not_other_than_prod() -> None:
    result = judged(
        make_facts(idle_instance(environment="")), 'where: job.env != "prod"'
    )

    assert result.findings == ()
    assert result.unknown[0].missing == "job.env"


def test_accounts_narrow_what_is_judged() -> None:
    facts = make_facts(idle_instance())

    assert judged(facts, 'accounts: ["999999999999"]').findings == ()
    assert judged(facts, f'accounts: ["{ACCOUNT}"]').findings != ()


def test_after_the_end_of_a_job_less_quiet_time_is_enough() -> None:
    recent = [90.0] * 20 + [0.0] * 4  # quiet for the last 20 minutes
    instance = make_instance(series=[*gpu_series(recent, recent), quiet_network()])
    ended = make_job(ended_at=NOW - timedelta(minutes=15))

    assert judged(make_facts(instance, jobs=[make_job()])).findings == ()
    assert len(judged(make_facts(instance, jobs=[ended])).findings) == 1


def test_two_series_of_one_gpu_are_busy_when_either_is() -> None:
    series = [*gpu_series(QUIET, QUIET), *gpu_series([90.0] * 24), quiet_network()]

    result = judged(make_facts(make_instance(series=series)))

    assert [finding.severity for finding in result.findings] == [Severity.INFO]


def test_the_countdown_of_an_action_starts_at_the_warning() -> None:
    steps = "steps: [warn, {after: 15m, do: stop}]"

    (finding,) = judged(make_facts(idle_instance()), steps).findings

    assert [(action.do, action.at) for action in finding.actions] == [
        ("warn", NOW),
        ("stop", NOW + timedelta(minutes=15)),
    ]
