"""Jobs that run over a limit without a grant are told, and asked for once."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from billing.core.attribution import TagKeys
from bot.use_cases.drift import Watch
from bot.use_cases.facts import FactSources
from bot.use_cases.launch_watch import Found, watch_launches
from bot.use_cases.policies import Routing
from policies.core.approvals import RequestState, Verdict
from policies.core.kinds.approval import ApprovalPolicy
from tests.builders import NOW, make_price
from tests.builders_approvals import ADA, CHANNEL, MIA, PLAN, Desk, after, make_rule
from tests.builders_use_cases import Company, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

P5 = "p5.48xlarge"


@dataclass
class World:
    """A company at $10 an hour and machine, watched; hours from NOW."""

    store: SqlStore
    mode: str = "notify"

    def __post_init__(self) -> None:
        self.desk = Desk(self.store)
        with self.store.write() as unit:
            unit.ledger.record_prices([make_price("10")], NOW)

    def runs(self, count: int, *, job: str = "llm-1", hours: float = 0.1) -> None:
        tags = {"owner": "mia@example.com"}
        Company(self.store, now=after(hours)).is_watched(
            *(
                runs(f"i-{number}", job=job, since=NOW, tags=tags)
                for number in range(count)
            )
        )

    def looks(self, hours: float = 0.15, over: str = "1000") -> Found:
        policy = ApprovalPolicy.model_validate(
            {
                "name": "large", "mode": self.mode, "over": f"${over}",
                "approvers": ["@gpu-approvers"],
            }
        )  # fmt: skip
        watch = Watch(
            store=self.store, policies=lambda: [policy], keys=TagKeys(), own=(),
            horizon=timedelta(hours=24), channel=CHANNEL,
        )  # fmt: skip
        return watch_launches(
            watch,
            FactSources(metrics=None, commitments=None, objects=None),
            routing=lambda _: Routing(alerts="C0ALERTS"),
            owner_id=lambda _: MIA.person_id,
            now=after(hours),
        )

    def alerts(self) -> list[str]:
        """Return the alerts themselves, without the reasons in their threads."""
        texts = self._texts("C0ALERTS")
        return [one for one in texts if '"text": "Why:' not in one]

    def cards(self) -> list[str]:
        return self._texts(CHANNEL)

    def _texts(self, channel: str) -> list[str]:
        query = text(
            "SELECT payload FROM outbox WHERE channel = :name AND kind = 'post'"
            " ORDER BY row_id"
        )
        with self.store.database.read() as session:
            rows = session.execute(query, {"name": channel})
            return [_dumped(row.payload) for row in rows]


def _dumped(payload: Any) -> str:
    return payload if isinstance(payload, str) else json.dumps(payload)


@pytest.fixture
def world(any_store: SqlStore) -> World:
    return World(any_store)


def test_a_job_over_the_limit_is_told_and_asked_for_at_the_first_look(
    world: World,
) -> None:
    """8 machines for 24 h more at $10 are $1,920: over $1,000 before it has cost it."""
    world.runs(8)

    found = world.looks()

    (asked,) = found.asked
    assert (asked.state, asked.envelope.count) == (RequestState.PENDING, 8)
    assert asked.envelope.job == "llm-1"
    assert asked.envelope.hours == 24
    assert (asked.requester, asked.owner) == (MIA.person_id, MIA.person_id)
    assert "found running without approval" in asked.reason
    assert len(world.alerts()) == len(world.cards()) == 1
    assert "llm-1" in world.alerts()[0]


def test_it_is_told_and_asked_for_once(world: World) -> None:
    world.runs(8)
    world.looks()
    world.runs(9, hours=0.3)

    again = [world.looks(hours=0.3), world.looks(hours=0.4)]

    assert [one.asked for one in again] == [(), ()]
    assert len(world.alerts()) == len(world.cards()) == 1


def test_a_job_under_the_limit_is_left_alone(world: World) -> None:
    world.runs(4)

    found = world.looks()

    assert (found.findings, found.asked, world.alerts()) == ((), (), [])


def test_a_job_with_a_live_grant_is_left_alone(world: World) -> None:
    asked = world.desk.asks(rule=make_rule())
    world.desk.votes(asked, ADA, hours=0)
    world.runs(8)

    assert world.looks().asked == ()
    assert world.alerts() == []


def test_a_job_that_waits_for_approval_and_runs_is_told_and_not_asked_twice(
    world: World,
) -> None:
    world.desk.asks(rule=make_rule())
    world.runs(8)

    assert world.looks().asked == ()
    assert len(world.alerts()) == 1


def test_a_job_that_was_denied_and_runs_is_told_and_not_asked_again(
    world: World,
) -> None:
    asked = world.desk.asks(rule=make_rule(), hours=-2)
    world.desk.votes(asked, ADA, Verdict.DENY, hours=-1)
    world.runs(8)

    assert world.looks().asked == ()
    assert len(world.alerts()) == 1


def test_a_job_whose_approved_hours_are_over_is_asked_for_again(world: World) -> None:
    asked = world.desk.asks(replace(PLAN, hours=PLAN.hours / 72), rule=make_rule())
    world.desk.votes(asked, ADA, hours=0)
    world.runs(8, hours=1.4)

    (again,) = world.looks(hours=1.5).asked

    assert again.request_id != asked.request_id


def test_a_policy_that_observes_asks_and_tells_nothing(any_store: SqlStore) -> None:
    world = World(any_store, mode="observe")
    world.runs(8)

    found = world.looks()

    assert len(found.findings) == 1
    assert (found.asked, world.alerts(), world.cards()) == ((), [], [])


def test_a_job_whose_price_nobody_knows_is_no_finding(world: World) -> None:
    Company(world.store, now=after(0.1)).is_watched(
        runs("i-1", job="llm-1", since=NOW, instance_type="p9.96xlarge")
    )

    assert world.looks().findings == ()


def test_without_an_approval_policy_nobody_looks(world: World) -> None:
    world.runs(8)
    watch = Watch(
        store=world.store, policies=tuple, keys=TagKeys(), own=(),
        horizon=timedelta(hours=24), channel=CHANNEL,
    )  # fmt: skip
    found = watch_launches(
        watch,
        FactSources(metrics=None, commitments=None, objects=None),
        routing=lambda _: Routing(alerts=""),
        owner_id=lambda _: "",
        now=after(1),
    )

    assert found == Found(findings=(), asked=())
