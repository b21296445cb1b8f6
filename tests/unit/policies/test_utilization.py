"""The kind `utilization`: the mean of every GPU against a target."""

from __future__ import annotations

from datetime import timedelta

import pytest

from policies.core.evaluate import evaluate
from policies.core.facts import InstanceFacts
from policies.core.finding import Evaluation
from tests.builders_policies import (
    NOW,
    gpu_series,
    make_facts,
    make_instance,
    policy,
)


def judged(*machines: InstanceFacts) -> Evaluation:
    text = "name: use\nkind: utilization\nbelow: 70%\nfor: 1h"
    return evaluate([policy(text)], make_facts(*machines), NOW)


def machine(*gpus: float, name: str = "i-1", **changes: object) -> InstanceFacts:
    series = gpu_series(*([one] * 24 for one in gpus), resource_id=name)
    return make_instance(name, series=series, **changes)  # type: ignore[arg-type] # builder's keys


@pytest.mark.parametrize(
    ("gpus", "found"),
    [((69.0, 69.0), 1), ((70.0, 70.0), 0), ((40.0, 100.0), 0), ((30.0, 100.0), 1)],
)
def test_the_mean_over_all_gpus_counts(gpus: tuple[float, ...], found: int) -> None:
    assert len(judged(machine(*gpus)).findings) == found


def test_what_is_at_stake_is_the_work_at_the_target() -> None:
    (finding,) = judged(machine(35.0, 35.0)).findings

    assert str(finding.cost_at_stake) == "$1,179.84"


def test_idleness_is_left_to_the_kind_idle() -> None:
    assert judged(machine(0.0, 4.0)).findings == ()


def test_one_gpu_without_samples_makes_it_unknown() -> None:
    result = judged(machine(10.0, 10.0), machine(10.0, name="i-2"))

    assert result.findings == ()
    assert [one.missing for one in result.unknown] == ["gpu_utilization of 1 of 2 GPUs"]


def test_a_start_is_no_low_use() -> None:
    young = machine(10.0, 10.0, running_for=timedelta(minutes=80))

    assert judged(young).findings == ()


def test_a_machine_without_gpus_is_out_of_scope() -> None:
    result = judged(make_instance(gpus=0))

    assert (result.findings, result.unknown) == ((), ())
