"""Grants checked against what is on record, over a real store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.estimate import EstimateRequest
from bot.use_cases.approvals import Ask, Ballot, cancel, file_request, vote
from bot.use_cases.estimate import estimate_run
from bot.use_cases.grants import Coverage, launch_of, verify
from bot.use_cases.pricing import price_book
from policies.core.approvals import ApprovalRequest, RequestState, Verdict
from policies.core.grants import Grant, grant_of
from tests.builders import NOW, REGION, make_price
from tests.builders_policies import make_rule
from tests.fakes.directory import InMemoryDirectory, make_person

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

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
            request_id=request.request_id, version=1, voter=ADA, verdict=verdict
        )
        done = vote(self.store, directory, ballot, channel="", now=NOW)
        assert not done.refused
        return done.request

    def is_granted(self, plan: EstimateRequest = PLAN) -> Grant:
        return _grant(self.hears(self.asks(plan), Verdict.APPROVE))

    def shows(
        self, grant: Grant, plan: EstimateRequest = PLAN, hours: float = 0
    ) -> Coverage:
        with self.store.read() as unit:
            launch = launch_of(plan, price_book(unit.ledger, ()))
            return verify(unit, grant, launch, now=_after(hours))


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
