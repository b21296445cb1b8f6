"""From a day of the bill to whom it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from billing.core.claims import AttributionRules
from billing.core.fleet import Lifecycle
from billing.core.transfers import Basis, Rule
from tests.builders import make_interval, make_tag_span, make_volume_interval
from tests.builders_attribution import (
    attribute,
    make_assignment,
    make_claims,
    make_line,
    make_placement,
    make_rule,
    totals,
)

if TYPE_CHECKING:
    from billing.core.usage import UsageInterval

SAGEMAKER = "arn:aws:sagemaker:us-east-1:012345678901:training-job/bert-1"


def ran(
    resource_id: str = "i-1",
    start: str = "2026-11-01",
    *,
    shape: str = "p5.48xlarge",
    lifecycle: Lifecycle = Lifecycle.ON_DEMAND,
) -> UsageInterval:
    return make_interval(
        resource_id=resource_id, start=start, shape=shape, lifecycle=lifecycle
    )


def test_a_bill_that_says_it_all_stays_as_it_is() -> None:
    lines = [make_line("job-1"), make_line("", usage_type="TimedStorage-ByteHrs")]

    found = attribute(lines, [ran()], make_claims(tags=[make_tag_span(value="job-1")]))

    assert found == []


def test_untagged_cost_of_a_type_is_spread_over_the_time_of_placements() -> None:
    lines = [make_line("", amount="240", hours="24")]
    claims = make_claims(placements=[make_placement("job-a", gpus="4")])

    found = attribute(lines, [ran()], claims)

    assert totals(lines, found) == {"bucket:idle": "180.00", "job-a": "60.00"}
    assert {one.basis for one in found} == {Basis.ALLOCATED}
    assert {one.evidence for one in found if one.rule is Rule.PLACEMENT} == {
        "slurm 1: 4 of 8 GPUs"
    }


def test_a_line_that_names_its_resource_is_exact() -> None:
    lines = [make_line("", resource_id="i-1"), make_line("", resource_id="i-2")]
    claims = make_claims(placements=[make_placement("job-a", end="2026-11-11")])

    found = attribute(lines, [ran("i-1"), ran("i-2")], claims)

    assert totals(lines, found) == {"bucket:untagged": "240.00", "job-a": "240.00"}
    assert [(one.basis, one.resource_id) for one in found] == [(Basis.EXACT, "i-1")]


def test_placements_come_before_the_tag_that_the_bill_shows() -> None:
    lines = [make_line("job-t", amount="240")]
    claims = make_claims(
        placements=[make_placement("job-a", end="2026-11-10T12:00")],
        tags=[make_tag_span(value="job-t")],
    )

    found = attribute(lines, [ran()], claims)

    assert totals(lines, found) == {"job-a": "120.00", "job-t": "120.00"}


def test_what_the_bill_tagged_already_is_not_spread_over_others() -> None:
    """The untagged half is the untagged instance's, not the tagged one's."""
    lines = [make_line("job-t", hours="24"), make_line("", hours="24")]
    claims = make_claims(
        tags=[make_tag_span(resource_id="i-1", value="job-t")],
        placements=[make_placement("job-a", on="i-2", end="2026-11-11")],
    )

    found = attribute(lines, [ran("i-1"), ran("i-2")], claims)

    assert totals(lines, found) == {"job-a": "240.00", "job-t": "240.00"}


def test_a_tag_that_the_bill_does_not_show_yet_still_counts() -> None:  # C031
    lines = [make_line("", hours="24")]
    claims = make_claims(tags=[make_tag_span(value="job-t")])

    found = attribute(lines, [ran()], claims)

    assert totals(lines, found) == {"job-t": "240.00"}
    assert [one.rule for one in found] == [Rule.TAG]


def test_the_hours_before_a_late_tag_follow_the_tag() -> None:
    lines = [
        make_line("job-t", amount="230", hours="23"),
        make_line("", amount="10", hours="1"),
    ]
    claims = make_claims(tags=[make_tag_span(value="job-t", start="2026-11-10T00:30")])

    found = attribute(lines, [ran(start="2026-11-10")], claims)

    assert totals(lines, found) == {"job-t": "240.00"}


def test_cost_beyond_the_time_that_was_seen_stays_untagged() -> None:
    """An instance that nobody saw cost the rest: it is not spread over the others."""
    lines = [make_line("", amount="480", hours="48")]
    claims = make_claims(placements=[make_placement("job-a", end="2026-11-11")])

    found = attribute(lines, [ran()], claims)

    assert totals(lines, found) == {"bucket:untagged": "240.00", "job-a": "240.00"}


def test_cost_without_hours_is_not_spread_by_type() -> None:
    lines = [make_line("", hours=None)]
    claims = make_claims(placements=[make_placement("job-a", end="2026-11-11")])

    assert attribute(lines, [ran()], claims) == []


def test_a_bill_that_lags_behind_is_spread_in_proportion() -> None:
    """Half of every instance's hours are billed so far; no tag is hidden in that."""
    lines = [make_line("job-t", hours="12"), make_line("", hours="12")]
    claims = make_claims(tags=[make_tag_span(resource_id="i-1", value="job-t")])

    assert attribute(lines, [ran("i-1"), ran("i-2")], claims) == []


def test_spot_and_other_types_are_pools_of_their_own() -> None:
    lines = [make_line("", usage_type="SpotUsage:p5.48xlarge", amount="80")]
    claims = make_claims(
        placements=[
            make_placement("job-od", on="i-1", end="2026-11-11"),
            make_placement("job-spot", on="i-2", end="2026-11-11", external_id="2"),
            make_placement("job-g5", on="i-3", end="2026-11-11", external_id="3"),
        ]
    )
    fleet = [
        ran("i-1"),
        ran("i-2", lifecycle=Lifecycle.SPOT),
        ran("i-3", shape="g5.48xlarge"),
    ]

    found = attribute(lines, fleet, claims)

    assert totals(lines, found) == {"job-spot": "80.00"}


def test_a_volumes_cost_follows_its_instance_by_size() -> None:
    line = make_line(
        "", usage_type="EBS:VolumeUsage.gp3", amount="30", cost_category="storage",
        hours="10",  # GiB-months: 300 GiB for a day of a month of 30 days
    )  # fmt: skip
    fleet = [
        ran("i-1"),
        make_volume_interval(start="2026-11-01", size_gib=100, parent_id="i-1"),
        make_volume_interval(resource_id="vol-2", start="2026-11-01", size_gib=200),
    ]
    claims = make_claims(tags=[make_tag_span(value="job-1")])

    found = attribute([line], fleet, claims)

    assert totals([line], found) == {"bucket:untagged": "20.00", "job-1": "10.00"}


def test_a_resource_that_was_never_seen_is_split_by_its_placements() -> None:
    """The bill counts 12 hours; the job held half of the accelerators for 6."""
    lines = [make_line("", resource_id="i-old", amount="120", hours="12")]
    claims = make_claims(
        placements=[
            make_placement("job-a", on="i-old", gpus="4", end="2026-11-10T06:00")
        ]
    )

    found = attribute(lines, [], claims)

    assert totals(lines, found) == {"bucket:idle": "90.00", "job-a": "30.00"}


def test_a_sagemaker_line_is_its_jobs() -> None:
    lines = [
        make_line("", resource_id=SAGEMAKER, usage_type="USE1-Train:ml.p4d.24xlarge")
    ]

    found = attribute(lines)

    assert totals(lines, found) == {"bert-1": "240.00"}
    assert [one.rule for one in found] == [Rule.PARENT]


@pytest.mark.parametrize(
    ("usage_type", "service"),
    [
        ("NatGateway-Bytes", ""),
        ("DataTransfer-Regional-Bytes", ""),
        ("USE1-Storage.SSD", "Amazon FSx"),
    ],
)
def test_shared_cost_is_split_by_gpu_hours_and_the_rest_is_shared(
    usage_type: str, service: str
) -> None:
    lines = [
        make_line("job-1", hours="60"),
        make_line("job-2", hours="20", amount="1"),
        make_line("", hours="20", amount="2"),
        make_line("", usage_type=usage_type, service=service, amount="10", hours=None),
    ]

    found = attribute(lines)

    assert totals(lines, found) == {
        "bucket:shared": "2.00",
        "bucket:untagged": "2.00",
        "job-1": "246.00",
        "job-2": "3.00",
    }
    assert {one.rule for one in found} == {Rule.SHARED}


def test_measured_use_comes_before_gpu_hours() -> None:
    lines = [
        make_line("job-1"),
        make_line("", usage_type="NatGateway-Bytes", amount="10", hours=None),
    ]

    found = attribute(lines, uses={("nat", "us-east-1"): {"job-2": 3, "job-1": 1}})

    assert totals(lines, found) == {"job-1": "242.50", "job-2": "7.50"}


def test_shared_cost_where_no_job_ran_stays_untagged() -> None:
    lines = [
        make_line("", hours="24"),
        make_line("", usage_type="NatGateway-Bytes", amount="10", hours=None),
        make_line("job-1", region="eu-west-1"),
    ]

    assert attribute(lines) == []


def test_a_person_and_a_rule_come_before_sharing() -> None:
    nat = make_line("", usage_type="NatGateway-Bytes", amount="10", hours=None)
    transfer = make_line(
        "", usage_type="DataTransfer-Out-Bytes", amount="5", hours=None
    )
    rules = AttributionRules(mapping=(make_rule("team:net", usage_type="*Transfer*"),))
    claims = make_claims(
        rules=rules, assignments=[make_assignment("job-x", usage_type="NatGateway-*")]
    )
    lines = [make_line("job-1"), nat, transfer]

    found = attribute(lines, claims=claims)

    assert totals(lines, found) == {
        "job-1": "240.00", "job-x": "10.00", "team:net": "5.00",
    }  # fmt: skip


def test_an_assignment_of_half_a_day_gets_half() -> None:
    lines = [make_line("", usage_type="TimedStorage-ByteHrs", amount="10", hours=None)]
    claims = make_claims(
        assignments=[
            make_assignment(usage_type="TimedStorage*", since="2026-11-10T12:00")
        ]
    )

    found = attribute(lines, claims=claims)

    assert totals(lines, found) == {"bucket:untagged": "5.00", "job-x": "5.00"}


def test_proportional_benefit_levels_equal_use() -> None:
    rules = AttributionRules(is_proportional=True)
    lines = [
        make_line("job-1", amount="98", effective="98"),
        make_line("job-2", amount="98", effective="50", pricing="committed"),
        make_line("job-3", usage_type="SpotUsage:p5.48xlarge", amount="30",
                  pricing="dynamic"),
        make_line("job-4", usage_type="BoxUsage:g5.xlarge", amount="7"),
    ]  # fmt: skip

    found = attribute(lines, claims=make_claims(rules=rules))

    assert totals(lines, found) == {
        "job-1": "74.00", "job-2": "74.00", "job-3": "30.00", "job-4": "7.00",
    }  # fmt: skip
    assert [(one.rule, one.billed.text()) for one in found] == [
        (Rule.COMMITMENT, "0.00")
    ]


def test_proportional_benefit_weighs_by_list_price_and_by_size() -> None:
    rules = AttributionRules(is_proportional=True)
    by_list = [
        make_line("job-1", amount="30", list_cost="30"),
        make_line("job-2", amount="5", list_cost="10", pricing="committed"),
    ]
    by_size = [
        make_line("job-1", amount="30", usage_type="BoxUsage:g5.2xlarge", hours="1"),
        make_line("job-2", amount="0", usage_type="BoxUsage:g5.xlarge", hours="1",
                  pricing="committed"),
    ]  # fmt: skip

    assert [
        totals(lines, attribute(lines, claims=make_claims(rules=rules)))
        for lines in (by_list, by_size)
    ] == [{"job-1": "26.25", "job-2": "8.75"}, {"job-1": "20.00", "job-2": "10.00"}]


def test_amounts_that_do_not_divide_leave_nothing_over() -> None:
    lines = [make_line("", amount="0.000000010", usage_type="BoxUsage:g5.12xlarge")]
    claims = make_claims(
        placements=[
            make_placement(f"job-{number}", gpus="1", end="2026-11-11",
                           external_id=str(number))
            for number in range(3)
        ]
    )  # fmt: skip

    found = attribute(lines, [ran(shape="g5.12xlarge")], claims)

    parts = totals(lines, found)
    assert sorted(parts.values()) == [
        "0.000000002",
        "0.000000002",
        "0.000000003",
        "0.000000003",
    ]
