"""Random worlds: whatever happened, every nano-unit of the bill is somewhere, once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.core.bill_lines import BillLine
from billing.core.claims import AttributionRules, Claims, subject_of
from billing.core.day_transfers import Day, transfers_of
from billing.core.fleet import Lifecycle
from billing.core.money import Money
from billing.core.placements import Placement, PlacementSource
from billing.core.usage import TagSpan
from tests.builders import (
    ACCOUNT,
    at,
    day,
    make_interval,
    make_tag_span,
    make_volume_interval,
)
from tests.builders_attribution import ON, make_assignment, make_line, make_rule

if TYPE_CHECKING:
    from billing.core.assignments import Assignment
    from billing.core.usage import UsageInterval

START = at(ON) - timedelta(hours=12)
SHAPES = ("p5.48xlarge", "g5.12xlarge", "c5.large")
JOBS = ("job-1", "job-2", "job-3")
USAGE = (
    *(f"BoxUsage:{shape}" for shape in SHAPES),
    *("SpotUsage:p5.48xlarge", "EBS:VolumeUsage.gp3", "NatGateway-Bytes"),
    *("DataTransfer-Out-Bytes", "TimedStorage-ByteHrs", ""),
)
minutes = st.integers(0, 48 * 60)


def spans() -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(minutes, minutes).map(lambda pair: (min(pair), max(pair)))


@st.composite
def fleets(draw: st.DrawFn) -> list[UsageInterval]:
    found = []
    for number in range(draw(st.integers(0, 4))):
        start, end = draw(spans())
        found.append(
            make_interval(
                resource_id=f"i-{number}",
                start=START + timedelta(minutes=start),
                end=START + timedelta(minutes=end + 1) if draw(st.booleans()) else None,
                shape=draw(st.sampled_from(SHAPES)),
                lifecycle=draw(st.sampled_from([*Lifecycle])),
            )
        )
    for number in range(draw(st.integers(0, 2))):
        parent = draw(st.sampled_from(["", "i-0", "i-1"]))
        found.append(
            make_volume_interval(
                resource_id=f"vol-{number}", start=START, size_gib=100, parent_id=parent
            )
        )
    return found


RESOURCES = st.sampled_from(["i-0", "i-1", "i-2", "i-9", "vol-0"])


@st.composite
def placements(draw: st.DrawFn) -> Placement:
    start, end = draw(spans())
    return Placement(
        job=draw(st.sampled_from(JOBS)),
        resource_id=draw(RESOURCES),
        started_at=START + timedelta(minutes=start),
        ended_at=draw(st.sampled_from([None, START + timedelta(minutes=end)])),
        gpus=draw(st.none() | st.decimals(0, 9, places=1)),
        source=PlacementSource.SLURM,
        external_id=str(draw(st.integers(0, 99))),
    )


@st.composite
def tags(draw: st.DrawFn) -> TagSpan:
    start, end = draw(spans())
    return make_tag_span(
        resource_id=draw(RESOURCES),
        key=draw(st.sampled_from(["job-id", "JobId", "eks:cluster-name", "project"])),
        value=draw(st.sampled_from([*JOBS, ""])),
        start=START + timedelta(minutes=start),
        end=draw(st.sampled_from([None, START + timedelta(minutes=end)])),
    )


@st.composite
def assignments(draw: st.DrawFn) -> Assignment:
    start, _ = draw(spans())
    one = make_assignment(draw(st.sampled_from(JOBS)), usage_type="*Bytes*")
    if draw(st.booleans()):
        one = replace(one, usage_type="", resource_id=draw(RESOURCES))
    return replace(one, since=START + timedelta(minutes=start))


@st.composite
def lines(draw: st.DrawFn) -> BillLine:
    amount = draw(st.integers(0, 10**13))
    hours = draw(st.none() | st.decimals(0, 100, places=3))
    return replace(
        make_line(draw(st.sampled_from(["", "", *JOBS])), hours=None),
        usage_type=draw(st.sampled_from(USAGE)),
        resource_id=draw(st.sampled_from(["", "i-0", "i-1", "i-9", "vol-0"])),
        pricing=draw(st.sampled_from(["standard", "committed"])),
        billed=Money(amount),
        effective=Money(draw(st.integers(0, amount))),
        list_cost=draw(st.none() | st.just(Money(amount * 2))),
        quantity=None if hours is None else Decimal(hours),
    )


@st.composite
def worlds(draw: st.DrawFn) -> Day:
    fleet = draw(fleets())
    placed: dict[str, list[Placement]] = defaultdict(list)
    for one in draw(st.lists(placements(), max_size=8)):
        placed[one.resource_id].append(one)
    spans_of: dict[str, list[TagSpan]] = defaultdict(list)
    for span in draw(st.lists(tags(), max_size=6)):
        spans_of[span.resource_id].append(span)
    rules = AttributionRules(
        mapping=draw(
            st.sampled_from(
                [(), (make_rule("team:a", tag_key="project"),), (make_rule("team:b"),)]
            )
        ),
        is_proportional=draw(st.booleans()),
    )
    return Day(
        account=ACCOUNT,
        day=day(ON),
        lines=draw(st.lists(lines(), max_size=8)),
        intervals=fleet,
        claims=Claims(
            rules=rules,
            tags=spans_of,
            placements=placed,
            managed=frozenset(placed),
            assignments=tuple(draw(st.lists(assignments(), max_size=2))),
            subjects={one.resource_id: subject_of(one) for one in fleet},
        ),
        until=draw(st.sampled_from([None, at(f"{ON}T18:00")])),
    )


def check(world: Day) -> None:
    """Hold every invariant of one world."""
    found = transfers_of(world)
    for name in ("billed", "effective"):
        before: dict[str, int] = defaultdict(int)
        for line in world.lines:
            before[line.key] += getattr(line, name).nanos
        after = dict(before)
        for one in found:
            amount = getattr(one, name).nanos
            after[one.from_key] = after.get(one.from_key, 0) - amount
            after[one.to_key] = after.get(one.to_key, 0) + amount
        # The bill, to the nano-unit; and nobody owes what was never spent.
        assert sum(after.values()) == sum(before.values())
        assert min(after.values(), default=0) >= 0
    assert all(one.from_key != one.to_key for one in found)
    _check_resources(world)
    turned = replace(world, lines=world.lines[::-1], intervals=world.intervals[::-1])
    assert transfers_of(turned) == found


def _check_resources(world: Day) -> None:
    """Jobs on one resource never get more than it cost."""
    plain = replace(
        world,
        claims=replace(
            world.claims, rules=replace(world.claims.rules, is_proportional=False)
        ),
    )
    cost: dict[str, int] = defaultdict(int)
    moved: dict[str, int] = defaultdict(int)
    for line in world.lines:
        cost[line.resource_id] += line.effective.nanos
    for one in transfers_of(plain):
        assert one.effective.nanos >= 0
        moved[one.resource_id] += one.effective.nanos
    cost[""] = sum(cost.values())  # Shared cost of several resources is split as one.
    assert all(moved[name] <= cost[name] for name in moved)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(worlds())
def test_buckets_sum_to_the_bill_in_every_world(world: Day) -> None:
    check(world)


@pytest.mark.slow
@settings(
    max_examples=1000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(worlds())
def test_buckets_sum_to_the_bill_in_a_thousand_worlds(world: Day) -> None:
    check(world)
