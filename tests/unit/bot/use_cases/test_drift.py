"""Grants lapse when their job leaves its envelope, and people are asked again."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from billing.core.attribution import TagKeys
from bot.use_cases.drift import Lapse, Watch, lapse_drifted
from bot.use_cases.grants import Assessor, Moment
from bot.use_cases.pricing import price_book
from policies.core.approvals import ApprovalRequest, RequestState
from policies.core.grants import Grant, grant_of
from policies.core.kinds.approval import ApprovalPolicy
from tests.builders import NOW, make_price, usd
from tests.builders_approvals import ADA, CHANNEL, PLAN, Desk, after, make_rule
from tests.builders_use_cases import Company, costs, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

RULE = replace(make_rule(), drift=Fraction(1, 5))
P5 = "p5.48xlarge"


@dataclass
class World:
    """A company whose approved run of 8 x p5.48xlarge is watched; hours from NOW."""

    store: SqlStore

    def __post_init__(self) -> None:
        self.desk = Desk(self.store)
        self.request = self.is_approved()

    def is_approved(self, **values: Any) -> ApprovalRequest:
        values.setdefault("rule", None if values.get("is_free") else RULE)
        asked = self.desk.asks(**values)
        if asked.state is RequestState.PENDING:
            asked = self.desk.votes(asked, ADA, hours=0).request
        return asked

    def fleet(self, *shapes: str, hours: float = 1, since: float = 0) -> None:
        Company(self.store, now=after(hours)).is_watched(
            *(
                runs(f"i-{number}", job="llm-1", since=after(since), instance_type=one)
                for number, one in enumerate(shapes)
            )
        )

    def looks(self, hours: float = 1.1, over: str = "10000") -> tuple[Lapse, ...]:
        policy = ApprovalPolicy.model_validate(
            {"name": "large", "over": f"${over}", "approvers": ["@gpu-approvers"]}
        )
        watch = Watch(
            store=self.store, policies=lambda: [policy], keys=TagKeys(), own=(),
            horizon=timedelta(hours=24), channel=CHANNEL,
        )  # fmt: skip
        return lapse_drifted(watch, after(hours))

    def why_not(self, request: ApprovalRequest, at_: float = 1.25, **plan: Any) -> str:
        grant = _grant(request)
        with self.store.read() as unit:
            assessor = Assessor(unit, price_book(unit.ledger, ()), TagKeys())
            at = Moment(now=after(at_), system=after(at_))
            return assessor.assess(grant, replace(PLAN, **plan), at).reason

    def audited(self, event: str) -> list[Any]:
        query = text("SELECT data FROM audit_event WHERE event = :event ORDER BY seq")
        with self.store.database.read() as session:
            rows = session.execute(query, {"event": event})
            return [json.loads(row.data) for row in rows]

    def told(self) -> str:
        with self.store.database.read() as session:
            return "\n".join(
                str(row.payload)
                for row in session.execute(text("SELECT payload FROM outbox"))
            )


def _grant(request: ApprovalRequest) -> Grant:
    approved = replace(request, state=RequestState.APPROVED)
    grant = grant_of(approved)
    assert grant is not None
    return grant


@pytest.fixture
def world(any_store: SqlStore) -> World:
    return World(any_store)


def test_a_job_inside_its_envelope_keeps_its_grant(world: World) -> None:
    world.fleet(*[P5] * 9)

    assert world.looks() == ()
    assert world.why_not(world.request, count=1) == ""


def test_too_many_instances_let_the_grant_lapse_and_ask_again(world: World) -> None:
    world.fleet(*[P5] * 10)

    (lapse,) = world.looks()

    (asked,) = lapse.asks
    stored = world.desk.stored(world.request)
    assert (stored.state, asked.state) == (RequestState.LAPSED, RequestState.PENDING)
    assert (asked.envelope.count, asked.envelope.instance_type) == (10, P5)
    assert asked.requester == world.request.requester
    assert "Approved instances: 8 x p5.48xlarge; now: 10 x p5.48xlarge" in " ".join(
        asked.context
    )
    assert "2 more (+25 %)" in asked.context[0]
    assert len(world.audited("approval_lapsed")) == 1
    assert "The grant lapsed" in world.told()


def test_new_launches_are_refused_with_the_reason(world: World) -> None:
    world.fleet(*[P5] * 10)
    (lapse,) = world.looks()

    # Also once the job is back inside: what lapsed does not come back.
    world.fleet(P5, hours=2)
    told = world.why_not(world.request, at_=2.1, count=1)

    assert "lapsed: it runs on 10 instances, approved are 8" in told
    assert f"{lapse.asks[0].request_id} asks again" in told


def test_what_is_asked_again_covers_the_job_once_approved(world: World) -> None:
    world.fleet(*[P5] * 10)
    (lapse,) = world.looks()

    world.desk.votes(lapse.asks[0], ADA, hours=1.2)

    again = world.desk.stored(lapse.asks[0])
    assert world.looks(hours=1.25) == ()
    hours = again.envelope.hours
    told = world.why_not(again, count=10, hours=hours)
    assert again.state is RequestState.APPROVED
    assert told == ""


def test_a_job_lapses_once_and_asks_once(world: World) -> None:
    world.fleet(*[P5] * 10)
    first = world.looks()

    assert [len(first), len(world.looks()), len(world.looks(hours=1.2))] == [1, 0, 0]
    assert len(world.audited("approval_requested")) == 2


def test_another_instance_type_is_asked_for_beside_the_approved_one(
    world: World,
) -> None:
    with world.store.write() as unit:
        price = make_price("20", product="p4d.24xlarge")
        unit.ledger.record_prices([price], NOW)
    world.fleet(P5, "p4d.24xlarge")

    (lapse,) = world.looks()

    assert sorted(one.envelope.instance_type for one in lapse.asks) == [
        "p4d.24xlarge", P5,
    ]  # fmt: skip
    assert "it runs on p4d.24xlarge, approved is p5.48xlarge" in lapse.told


def test_used_hours_beyond_the_approved_ones_let_it_lapse(world: World) -> None:
    """8 x 72 h are approved; 8 since the decision for 87 h are 696, over 691.2."""
    world.fleet(*[P5] * 8, hours=86)
    assert world.looks(hours=86.1) == ()

    world.fleet(*[P5] * 8, hours=87)
    (lapse,) = world.looks(hours=87.1)

    assert "696 instance hours, approved are 576" in lapse.told
    # Nobody planned what is beyond the approved hours.
    assert lapse.asks[0].envelope.hours == 24


def test_cost_above_the_ceiling_lets_it_lapse(world: World) -> None:
    ceiling = world.request.envelope.cost_ceiling
    assert ceiling is not None
    world.fleet(P5, hours=48)
    bill = costs("2026-12-01", (ceiling + ceiling).text(), "llm-1")
    Company(world.store, now=after(48)).bills(bill, through="2026-12-02T00:00Z")

    (lapse,) = world.looks(hours=48.1)

    assert "it has cost" in lapse.told
    assert lapse.asks[0].rule is not None


def test_unknown_facts_let_nothing_lapse(world: World) -> None:
    # Not seen for an hour: it may be gone.
    world.fleet(*[P5] * 20, hours=1)

    assert world.looks(hours=2) == ()


def test_a_run_that_nobody_had_to_approve_is_granted_again_without_asking(
    any_store: SqlStore,
) -> None:
    small = replace(PLAN, job="small", count=1, hours=Fraction(2))
    world = World(any_store)
    world.is_approved(plan=small, is_free=True)
    Company(any_store, now=after(1)).is_watched(
        *(runs(f"i-{number}", job="small", since=NOW) for number in range(2))
    )

    (lapse,) = world.looks(over="10000")

    assert [one.state for one in lapse.lapsed] == [RequestState.LAPSED]
    assert [one.state for one in lapse.asks] == [RequestState.APPROVED]


def test_the_new_total_decides_the_tier(world: World) -> None:
    world.fleet(*[P5] * 10)

    (lapse,) = world.looks(over="1")

    rule = lapse.asks[0].rule
    assert rule is not None
    assert rule.tier.over == usd("1")


def test_an_ended_job_lapses_no_more(world: World) -> None:
    world.fleet(*[P5] * 8, hours=1)
    Company(world.store, now=after(90)).is_watched()

    assert world.looks(hours=90.1) == ()
