"""Shared cost: pooled over resources, split once by the time of the whole day."""

from __future__ import annotations

from dataclasses import replace

import pytest

from billing.core.transfers import Rule
from tests.builders import make_interval
from tests.builders_attribution import (
    ON,
    attribute,
    make_assignment,
    make_claims,
    make_line,
    make_placement,
    totals,
)


@pytest.mark.parametrize("resource_id", ["", "a-nat", "z-nat"])
def test_shared_cost_counts_gpu_time_of_the_whole_day(resource_id: str) -> None:
    nat = make_line(
        "", usage_type="NatGateway-Bytes", amount="10", hours=None,
        resource_id=resource_id,
    )  # fmt: skip
    lines = [
        make_line("job-1", amount="1", hours="6", resource_id="i-1"),
        nat,
        make_line("job-2", amount="1", hours="4", resource_id="i-9"),
    ]

    found = attribute(lines)

    assert totals(lines, found) == {"job-1": "7.00", "job-2": "5.00"}


def test_shared_cost_of_many_resources_is_one_transfer_to_each_job() -> None:
    lines = [make_line("job-1", hours="2"), make_line("job-2", hours="1")]
    lines += [
        make_line(
            "", usage_type="DataTransfer-Regional-Bytes", amount="0.000000001",
            hours=None, resource_id=f"i-{number}",
        )
        for number in range(100)
    ]  # fmt: skip

    found = attribute(lines)

    assert [(one.to_key, one.billed.nanos, one.resource_id) for one in found] == [
        ("job-1", 67, ""),
        ("job-2", 33, ""),
    ]
    assert {one.evidence for one in found} == {"transfer by GPU hours of us-east-1"}


def test_shared_cost_of_one_resource_names_it_and_list_cost_stays_known() -> None:
    nat = make_line(
        "", usage_type="NatGateway-Bytes", amount="10", list_cost="12", hours=None,
        resource_id="nat-1",
    )  # fmt: skip

    [found] = attribute([make_line("job-1"), nat])

    assert found.resource_id == "nat-1"
    assert found.list_cost is not None
    assert found.list_cost.text() == "12.00"


def test_one_unknown_list_cost_leaves_that_of_the_pool_unknown() -> None:
    nat = make_line(
        "", usage_type="NatGateway-Bytes", amount="10", list_cost="12", hours=None
    )
    lines = [make_line("job-1"), nat, replace(nat, list_cost=None)]

    [found] = attribute(lines)

    assert (found.billed.text(), found.list_cost) == ("20.00", None)


def test_shared_cost_that_a_person_assigned_is_not_pooled() -> None:
    nat = make_line(
        "", usage_type="NatGateway-Bytes", amount="10", hours=None, resource_id="nat-1"
    )
    claims = make_claims(assignments=[make_assignment("job-x", resource_id="nat-1")])
    lines = [make_line("job-1"), nat, replace(nat, resource_id="nat-2")]

    found = attribute(lines, claims=claims)

    assert totals(lines, found) == {"job-1": "250.00", "job-x": "10.00"}
    assert {one.to_key: one.rule for one in found} == {
        "job-1": Rule.SHARED,
        "job-x": Rule.ASSIGNMENT,
    }


def test_a_sum_of_what_nothing_holds_is_not_spread_over_time_that_was_seen() -> None:
    unheld = replace(make_line("", amount="240", hours="24"), is_unheld=True)
    held = make_interval(resource_id="i-1", start=f"{ON}T00:00", end=f"{ON}T12:00")
    claims = make_claims(placements=[make_placement("job-a", on="i-1")])

    assert attribute([unheld], [held], claims) == []
    assert len(attribute([replace(unheld, is_unheld=False)], [held], claims)) == 1
