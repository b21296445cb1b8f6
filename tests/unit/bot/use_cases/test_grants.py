"""Grants checked against what is on record, over a real store."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from billing.core.attribution import TagKeys
from billing.core.estimate import EstimateRequest
from bot.use_cases.approvals import Ask, file_request
from bot.use_cases.approvals_changing import cancel
from bot.use_cases.approvals_voting import Ballot, vote
from bot.use_cases.estimate import estimate_run
from bot.use_cases.grants import LEASE, Assessor, Coverage, Moment, beat, end, start
from bot.use_cases.pricing import price_book
from policies.core.approvals import ApprovalRequest, RequestState, Verdict
from policies.core.grants import Grant, grant_of
from tests.builders import NOW, REGION, make_price
from tests.builders_policies import make_rule
from tests.builders_use_cases import Company, costs, runs
from tests.fakes.directory import InMemoryDirectory, make_person

if TYPE_CHECKING:
    from bot.ports import UnitOfWork
    from bot.unit_of_work import SqlStore

DAY = 24
LEASE_H = LEASE / timedelta(hours=1)

PLAN = EstimateRequest(
    instance_type="p5.48xlarge", count=8, hours=Fraction(72), region=REGION, job="llm-1"
)
MIA, ADA = make_person("mia"), make_person("ada")


@dataclass
class Launcher:
    """Asks for approval of runs and shows their grants; times are hours from NOW."""

    store: SqlStore

    def __post_init__(self) -> None:
        self.priced_at("10")

    def priced_at(self, rate: str, hours: float = 0) -> None:
        now = _after(hours)
        with self.store.write() as unit:
            unit.ledger.record_prices([make_price(rate, as_of=now)], now)

    def asks(self, plan: EstimateRequest = PLAN, *, free: bool = False) -> Any:
        with self.store.read() as unit:
            estimate = estimate_run(plan, price_book(unit.ledger, ()))
        ask = Ask(
            plan=plan,
            estimate=estimate,
            requester=MIA.person_id,
            caller=MIA.person_id,
            reason="new model",
        )
        return file_request(
            self.store,
            ask,
            None if free else replace(make_rule(), drift=Fraction(1, 5)),
            owner=MIA.person_id,
            record=None,
            channel="",
            now=NOW,
        )

    def hears(self, request: ApprovalRequest, verdict: Verdict) -> ApprovalRequest:
        directory = InMemoryDirectory(people=[ADA], groups={"@gpu": [ADA.slack_id]})
        ballot = Ballot(
            request_id=request.request_id, version=1, voter=ADA, verdict=verdict,
            reason="because",
        )  # fmt: skip
        done = vote(self.store, directory, ballot, channel="", now=NOW)
        assert not done.refused
        return done.request

    def is_granted(self, plan: EstimateRequest = PLAN) -> Grant:
        return _grant(self.hears(self.asks(plan), Verdict.APPROVE))

    def shows(
        self, grant: Grant, plan: EstimateRequest = PLAN, hours: float = 0
    ) -> Coverage:
        with self.store.read() as unit:
            return _assessor(unit).assess(grant, plan, _at(hours))

    def starts(
        self, grant: Grant, plan: EstimateRequest = PLAN, hours: float = 0
    ) -> Coverage:
        with self.store.write() as unit:
            return start(_assessor(unit), grant, plan, by=MIA.person_id, at=_at(hours))

    def runs_on(self, launch: Coverage, *hours: float) -> None:
        """Let a launch be heard of at some instants."""
        assert launch.launch_id is not None
        for one in hours:
            assert beat(self.store, launch.launch_id, _at(one))

    def ends(self, launch: Coverage, hours: float, exit_code: int = 0) -> None:
        end(
            self.store, launch, exit_code=exit_code, by=MIA.person_id, now=_after(hours)
        )

    def record(self) -> list[tuple[str, Any]]:
        """Return the audit events about launches."""
        with self.store.database.read() as session:
            rows = session.execute(
                text(
                    "SELECT event, data FROM audit_event WHERE event LIKE 'launch%'"
                    " ORDER BY seq"
                )
            )
            return [(row.event, json.loads(row.data)) for row in rows]


def _assessor(unit: UnitOfWork) -> Assessor:
    return Assessor(unit, price_book(unit.ledger, ()), TagKeys())


def _at(hours: float) -> Moment:
    return Moment(now=_after(hours), system=_after(hours))


def _after(hours: float) -> datetime:
    return NOW + timedelta(hours=hours)


def _grant(request: ApprovalRequest) -> Grant:
    grant = grant_of(request)
    assert grant is not None
    return grant


@pytest.fixture
def launcher(store: SqlStore) -> Launcher:
    return Launcher(store)


def test_an_approved_run_may_be_launched(launcher: Launcher) -> None:
    assert launcher.shows(launcher.is_granted()).is_covered


def test_a_run_that_no_policy_asks_about_has_a_grant_too(launcher: Launcher) -> None:
    grant = _grant(launcher.asks(free=True))

    assert launcher.shows(grant).is_covered
    assert "not of 'llm-2'" in launcher.shows(grant, replace(PLAN, job="llm-2")).reason


@pytest.mark.parametrize("verdict", ["pending", "denied", "cancelled", "unknown"])
def test_a_grant_without_an_approval_on_record_covers_nothing(
    launcher: Launcher, verdict: str
) -> None:
    request = launcher.asks()
    if verdict == "denied":
        request = launcher.hears(request, Verdict.DENY)
    if verdict == "cancelled":
        request = cancel(
            launcher.store, request.request_id, by=MIA.person_id, channel="", now=NOW
        )
    name = "apr-0000000000" if verdict == "unknown" else request.request_id
    approved = replace(
        request, request_id=name, state=RequestState.APPROVED, decided_at=NOW
    )

    told = launcher.shows(_grant(approved)).reason

    assert (f"is {verdict}" if verdict != "unknown" else "no approval request") in told


def test_a_price_that_rose_by_more_than_the_drift_is_not_covered(
    launcher: Launcher,
) -> None:
    grant = launcher.is_granted()

    launcher.priced_at("11", hours=1)
    within = launcher.shows(grant, hours=1)
    launcher.priced_at("13", hours=2)
    beyond = launcher.shows(grant, hours=2)

    assert within.is_covered
    assert "$11,232 by now, more than the $8,640 approved" in beyond.reason


def test_an_unknown_instance_type_is_not_covered(launcher: Launcher) -> None:
    plan = replace(PLAN, instance_type="p99.huge")

    assert "not approved" in launcher.shows(launcher.is_granted(), plan).reason


# -------------------------------------------------------------------------- launches


def test_a_launch_and_its_end_are_on_record(launcher: Launcher) -> None:
    grant = launcher.is_granted()

    launch = launcher.starts(grant)
    launcher.ends(launch, hours=1, exit_code=7)

    (started, plan), (ended, how) = launcher.record()
    assert (started, plan["job"], plan["count"]) == ("launch_started", "llm-1", 8)
    assert (ended, how["exit_code"]) == ("launch_ended", 7)
    assert how["launch"] == plan["launch"] == launch.launch_id


def test_a_launch_that_is_not_covered_is_not_recorded(launcher: Launcher) -> None:
    grant = launcher.is_granted()

    found = launcher.starts(grant, replace(PLAN, job="llm-2"))

    assert (found.is_covered, found.launch_id) == (False, None)
    assert launcher.record() == []
    assert launcher.starts(grant).is_covered


def test_a_run_that_ended_may_be_started_again(launcher: Launcher) -> None:
    grant = launcher.is_granted()

    launcher.ends(launcher.starts(grant), hours=10, exit_code=1)

    assert launcher.starts(grant, hours=10).is_covered


def test_a_copy_beside_the_run_is_refused(launcher: Launcher) -> None:
    grant = launcher.is_granted()
    running = launcher.starts(grant)

    copy = launcher.starts(grant, hours=0.01)

    assert copy.is_crowded
    assert "8 of 8 approved instances run already" in copy.reason
    assert [one.launch_id for one in copy.running] == [running.launch_id]


def test_parts_of_the_approved_count_may_run_side_by_side(launcher: Launcher) -> None:
    grant, part = launcher.is_granted(), replace(PLAN, count=3)

    told = [launcher.starts(grant, part).is_covered for _ in range(3)]

    assert told == [True, True, False]


def test_a_launcher_that_died_gives_its_place_back(launcher: Launcher) -> None:
    grant = launcher.is_granted()
    launch = launcher.starts(grant)
    launcher.runs_on(launch, 0.01, 0.02)
    free_at = 0.02 + LEASE_H

    before = launcher.starts(grant, hours=free_at - 0.001)
    after = launcher.starts(grant, hours=free_at)

    assert before.is_crowded
    assert after.is_covered


def test_all_restarts_together_have_the_approved_hours(launcher: Launcher) -> None:
    grant = launcher.is_granted()
    launcher.ends(launcher.starts(grant), hours=40)
    second = launcher.starts(grant, hours=40)
    assert second.is_covered

    launcher.ends(second, hours=72)

    assert "all 576 instance hours" in launcher.starts(grant, hours=73).reason


def test_a_dead_launch_has_used_what_it_was_seen_to(launcher: Launcher) -> None:
    grant = launcher.is_granted()
    launcher.runs_on(launcher.starts(grant), 71.9)

    assert launcher.starts(grant, hours=95).is_covered


def test_an_ended_launch_stays_ended(launcher: Launcher) -> None:
    launch = launcher.starts(launcher.is_granted())
    launcher.ends(launch, hours=1)

    launcher.ends(launch, hours=2, exit_code=9)

    assert launch.launch_id is not None
    assert not beat(launcher.store, launch.launch_id, _at(2))
    assert len(launcher.record()) == 2


@pytest.mark.parametrize(
    ("on", "said"), [("2026-11-30", ""), ("2026-12-01", "has cost $9,000 since")]
)
def test_a_job_that_cost_more_than_approved_is_not_started_again(
    launcher: Launcher, on: str, said: str
) -> None:
    """The day of the decision may hold an earlier run, so its bill does not count."""
    grant = launcher.is_granted()
    Company(launcher.store, now=_after(DAY)).bills(costs(on, "9000", "llm-1"))

    told = launcher.starts(grant, hours=DAY).reason

    assert (said in told) if said else not told


def _fleet(launcher: Launcher, *shapes: str, hours: float = 1) -> None:
    """Let the inventory see instances of llm-1."""
    company = Company(launcher.store, now=_after(hours))
    company.is_watched(
        *(
            runs(f"i-{number}", job="llm-1", since=NOW, instance_type=shape)
            for number, shape in enumerate(shapes)
        )
    )


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (["p5.48xlarge"] * 9, ""),
        (["p5.48xlarge"] * 8 + ["m5.large"] * 3, ""),
        (["p5.48xlarge"] * 10, "runs on 10 instances, approved are 8"),
        (["p5.48xlarge", "p4d.24xlarge"], "runs on p4d.24xlarge"),
    ],
)
def test_a_grant_lapses_once_its_job_runs_as_nobody_approved(
    launcher: Launcher, seen: list[str], said: str
) -> None:
    grant = launcher.is_granted()
    _fleet(launcher, *seen)

    told = launcher.shows(grant, hours=1.1)

    assert told.is_lapsed is bool(said)
    assert said in told.reason


def test_what_runs_under_all_grants_of_a_job_is_approved(launcher: Launcher) -> None:
    grant = launcher.is_granted()
    launcher.is_granted(replace(PLAN, instance_type="p4d.24xlarge", count=1))
    launcher.is_granted(replace(PLAN, count=2))

    _fleet(launcher, *["p5.48xlarge"] * 10, "p4d.24xlarge")

    assert launcher.shows(grant, hours=1.1).is_covered


def test_instances_not_seen_lately_make_no_grant_lapse(launcher: Launcher) -> None:
    grant = launcher.is_granted()
    _fleet(launcher, *["p5.48xlarge"] * 20)

    assert launcher.shows(grant, hours=2).is_covered


def test_launches_at_the_same_instant_never_pass_the_count(
    any_store: SqlStore,
) -> None:
    launcher, part = Launcher(any_store), replace(PLAN, count=3)
    grant, barrier = launcher.is_granted(), Barrier(6)

    def attempt(_: int) -> bool:
        barrier.wait(10)
        return launcher.starts(grant, part).is_covered

    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(attempt, range(6)))

    assert sum(told) == 2
    assert len(launcher.record()) == 2
