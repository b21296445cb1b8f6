"""Approval requests over a real store: one outcome, on record, told once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from billing.core.estimate import EstimateRequest
from bot.use_cases.approvals import (
    Ask,
    Ballot,
    UnknownRequestError,
    VoteOutcome,
    VoteRefusedError,
    cancel,
    committed_cost,
    expire_due,
    file_request,
    vote,
)
from bot.use_cases.cards import card_key
from bot.use_cases.estimate import estimate_run
from bot.use_cases.pricing import price_book
from policies.core.approvals import (
    ApprovalRequest,
    ApprovalRule,
    ApprovalTier,
    RequestState,
    Verdict,
)
from tests.builders import NOW, REGION, make_price, usd
from tests.fakes.directory import InMemoryDirectory, make_person

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

CHANNEL = "C0APPROVE"
PLAN = EstimateRequest(
    instance_type="p5.48xlarge", count=8, hours=Fraction(72), region=REGION, job="llm-1"
)
MIA, ADA, OMAR, BOB = (make_person(name) for name in ("mia", "ada", "omar", "bob"))


def _rule(required: int = 1, *approvers: str) -> ApprovalRule:
    tier = ApprovalTier(
        over=usd("10000"),
        required=required,
        approvers=approvers or ("@gpu-approvers",),
    )
    return ApprovalRule(policy="approve-large-runs", tier=tier, expires_after_s=86_400)


@dataclass
class Desk:
    """Approvals in one store; times are hours after the request."""

    store: SqlStore
    directory: InMemoryDirectory = field(
        default_factory=lambda: InMemoryDirectory(
            people=[MIA, ADA, OMAR, BOB],
            groups={"@gpu-approvers": [ADA.slack_id, OMAR.slack_id, MIA.slack_id]},
        )
    )

    def asks(
        self,
        plan: EstimateRequest = PLAN,
        *,
        rule: ApprovalRule | None = None,
        caller: str = MIA.person_id,
        owner: str = MIA.person_id,
        hours: float = 0,
        priced: bool = True,
        is_free: bool = False,
    ) -> ApprovalRequest:
        with self.store.write() as unit:
            unit.ledger.record_prices([make_price("10")], NOW)
        with self.store.read() as unit:
            estimate = estimate_run(plan, price_book(unit.ledger, ()))
        ask = Ask(
            plan=plan,
            estimate=estimate if priced else None,
            requester=MIA.person_id,
            caller=caller,
            reason="new model",
        )
        return file_request(
            self.store,
            ask,
            None if is_free else rule or _rule(),
            owner=owner,
            record=None,
            channel=CHANNEL,
            now=_after(hours),
        )

    def votes(
        self,
        request: ApprovalRequest,
        who: Any,
        verdict: Verdict = Verdict.APPROVE,
        *,
        hours: float = 1,
        version: int | None = 1,
    ) -> VoteOutcome:
        ballot = Ballot(
            request_id=request.request_id, version=version, voter=who, verdict=verdict
        )
        return vote(
            self.store, self.directory, ballot, channel=CHANNEL, now=_after(hours)
        )

    def stored(self, request: ApprovalRequest) -> ApprovalRequest:
        with self.store.read() as unit:
            found = unit.journal.request(request.request_id)
        assert found is not None
        return found

    def events(self) -> list[str]:
        with self.store.database.read() as session:
            rows = session.execute(text("SELECT event FROM audit_event ORDER BY 1"))
            return [event for (event,) in rows]

    def effects(self) -> list[tuple[str, str]]:
        """Return kind and ref of every effect, oldest first."""
        with self.store.database.read() as session:
            rows = session.execute(text("SELECT kind, ref FROM outbox ORDER BY row_id"))
            return [(kind, ref) for kind, ref in rows]


def _after(hours: float) -> datetime:
    return NOW + timedelta(hours=hours)


@pytest.fixture
def desk(store: SqlStore) -> Desk:
    return Desk(store)


# -------------------------------------------------------------------- asking


def test_a_request_is_stored_recorded_and_its_card_queued_once(desk: Desk) -> None:
    request = desk.asks()

    assert request.state is RequestState.PENDING
    assert request.envelope.cost_ceiling == usd("8640")  # 8 x 72 h x $10 x 1.5
    assert request.expires_at == _after(24)
    assert desk.events() == ["approval_requested"]
    assert desk.effects() == [("post", "")]


def test_an_equal_request_is_the_one_that_is_live(desk: Desk) -> None:
    first = desk.asks()

    again = desk.asks(hours=1)

    assert again.request_id == first.request_id
    assert desk.events() == ["approval_requested"]
    assert desk.effects() == [("post", "")]


def test_a_different_run_is_a_request_of_its_own(desk: Desk) -> None:
    first = desk.asks()

    second = desk.asks(replace(PLAN, count=9))

    assert second.request_id != first.request_id


def test_after_a_denial_the_same_may_be_asked_again(desk: Desk) -> None:
    first = desk.asks()
    desk.votes(first, ADA, Verdict.DENY)

    second = desk.asks(hours=2)

    assert second.request_id != first.request_id
    assert second.state is RequestState.PENDING


def test_an_approval_whose_hours_are_over_does_not_cover_the_same_run_again(
    desk: Desk,
) -> None:
    first = desk.asks()
    desk.votes(first, ADA, hours=1)

    in_time, late = desk.asks(hours=96), desk.asks(hours=98)  # A day to start it.
    later_still = desk.asks(hours=99)

    assert in_time.request_id == first.request_id
    assert late.request_id != first.request_id
    assert late.state is RequestState.PENDING
    assert later_still.request_id == late.request_id


def test_without_a_rule_a_request_is_approved_at_once_and_shown_to_nobody(
    desk: Desk,
) -> None:
    request = desk.asks(is_free=True)

    assert request.state is RequestState.APPROVED
    assert desk.effects() == []


def test_a_request_without_a_price_has_no_ceiling_and_waits_for_a_person(
    desk: Desk,
) -> None:
    # C038
    request = desk.asks(priced=False)

    assert request.envelope.cost_ceiling is None
    assert request.state is RequestState.PENDING
    assert request.basis == "no price is known for this"


def test_pieces_of_one_run_add_up_for_a_day(desk: Desk) -> None:
    desk.asks(replace(PLAN, job="llm-1"))
    desk.asks(replace(PLAN, job="llm-2"), hours=1)
    desk.asks(replace(PLAN, job="other"), hours=1)

    with desk.store.read() as unit:
        soon = committed_cost(unit, MIA.person_id, "llm-3", _after(2))
        tomorrow = committed_cost(unit, MIA.person_id, "llm-3", _after(24.5))
        somebody = committed_cost(unit, ADA.person_id, "llm-3", _after(2))

    assert (soon, tomorrow, somebody) == (usd("17280"), usd("8640"), usd("0"))


# ------------------------------------------------------------------ deciding


def test_an_approver_decides_and_the_card_is_rewritten(desk: Desk) -> None:
    request = desk.asks()

    outcome = desk.votes(request, ADA)

    assert outcome.refused == ""
    assert outcome.request.state is RequestState.APPROVED
    stored = desk.stored(request)
    assert (stored.state, stored.decided_by) == (RequestState.APPROVED, "p-ada")
    assert stored.decided_at == _after(1)
    assert desk.events() == [
        "approval_approved",
        "approval_requested",
        "approval_voted",
    ]
    assert desk.effects() == [("post", ""), ("update", card_key(request))]


def test_one_denial_decides(desk: Desk) -> None:
    request = desk.asks(rule=_rule(2))
    desk.votes(request, ADA)

    outcome = desk.votes(request, OMAR, Verdict.DENY)

    assert outcome.request.state is RequestState.DENIED


@pytest.mark.parametrize(
    ("who", "why"),
    [
        (MIA, "you asked for this"),
        (BOB, "not among the approvers"),
        (make_person("ada", is_guest=True), "guests cannot approve"),
        (make_person("ada", is_bot=True), "an app cannot approve"),
        (make_person("ada", is_deactivated=True), "deactivated"),
    ],
)
def test_who_may_not_decide_changes_nothing_and_is_on_record(
    desk: Desk, who: Any, why: str
) -> None:
    request = desk.asks()

    outcome = desk.votes(request, who)

    assert why in outcome.refused
    assert desk.stored(request).votes == ()
    assert desk.events() == ["approval_requested", "approval_vote_refused"]


def test_who_filed_it_or_owns_the_job_may_not_decide(desk: Desk) -> None:
    request = desk.asks(caller=ADA.person_id, owner=OMAR.person_id)

    assert "you filed this" in desk.votes(request, ADA).refused
    assert "you own this job" in desk.votes(request, OMAR).refused


def test_approvers_are_looked_up_at_the_moment_of_the_vote(desk: Desk) -> None:
    request = desk.asks()
    desk.directory.groups["@gpu-approvers"] = [BOB.slack_id]

    assert "not among the approvers" in desk.votes(request, ADA).refused
    assert desk.votes(request, BOB).request.state is RequestState.APPROVED


def test_two_of_n_need_two_different_people(desk: Desk) -> None:
    request = desk.asks(rule=_rule(2))

    first = desk.votes(request, ADA)
    again = desk.votes(request, ADA)
    second = desk.votes(request, OMAR)

    assert (first.left, first.request.state) == (1, RequestState.PENDING)
    assert again.refused == "you already spoke on this request"
    assert second.request.state is RequestState.APPROVED
    assert len(desk.stored(request).votes) == 2


def test_a_card_of_an_older_version_does_not_decide(desk: Desk) -> None:
    request = desk.asks()

    outcome = desk.votes(request, ADA, version=2)

    assert "changed since this card" in outcome.refused
    assert desk.stored(request).state is RequestState.PENDING


def test_a_decision_is_final(desk: Desk) -> None:
    request = desk.asks()
    desk.votes(request, ADA, Verdict.DENY)

    outcome = desk.votes(request, OMAR)

    assert outcome.refused == "this request is already denied"
    assert desk.stored(request).state is RequestState.DENIED


def test_an_unknown_request_is_named(desk: Desk) -> None:
    request = replace(desk.asks(), request_id="apr-nope")

    with pytest.raises(UnknownRequestError, match="'apr-nope'"):
        desk.votes(request, ADA)


# ------------------------------------------------------------ expiry, cancelling


def test_what_nobody_decided_in_time_expires_once(desk: Desk) -> None:
    request = desk.asks()

    early = expire_due(desk.store, channel=CHANNEL, now=_after(23.9))
    expired = expire_due(desk.store, channel=CHANNEL, now=_after(24))
    again = expire_due(desk.store, channel=CHANNEL, now=_after(25))

    assert [one.request_id for one in expired] == [request.request_id]
    assert (list(early), list(again)) == ([], [])
    assert desk.stored(request).state is RequestState.EXPIRED
    assert desk.effects() == [("post", ""), ("update", card_key(request))]


def test_a_vote_at_the_very_end_is_too_late(desk: Desk) -> None:
    request = desk.asks()

    assert desk.votes(request, ADA, hours=24).refused == "this request has expired"


def test_who_asked_may_cancel_and_nobody_else(desk: Desk) -> None:
    request = desk.asks()

    with pytest.raises(VoteRefusedError, match="only who asked"):
        cancel(
            desk.store, request.request_id, by=ADA.person_id, channel=CHANNEL, now=NOW
        )
    cancelled = cancel(
        desk.store, request.request_id, by=MIA.person_id, channel=CHANNEL, now=NOW
    )

    assert cancelled.state is RequestState.CANCELLED
    assert desk.votes(request, ADA).refused == "this request is already cancelled"


def test_a_decided_request_is_not_cancelled(desk: Desk) -> None:
    request = desk.asks()
    desk.votes(request, ADA)

    with pytest.raises(VoteRefusedError, match="approved already"):
        cancel(
            desk.store, request.request_id, by=MIA.person_id, channel=CHANNEL, now=NOW
        )


# -------------------------------------------------------------------- at once


@pytest.mark.parametrize("attempt", range(3))
def test_approve_and_deny_at_once_have_one_outcome(
    any_store: SqlStore, attempt: int
) -> None:
    # C096
    desk = Desk(any_store)
    request = desk.asks()
    start = Barrier(2)

    def speak(who: Any, verdict: Verdict) -> VoteOutcome:
        start.wait(10)
        return desk.votes(request, who, verdict, hours=1 + attempt)

    with ThreadPoolExecutor(2) as pool:
        both = [
            pool.submit(speak, ADA, Verdict.APPROVE),
            pool.submit(speak, OMAR, Verdict.DENY),
        ]
        outcomes = [one.result(30) for one in both]

    stored = desk.stored(request)
    assert sorted(bool(one.refused) for one in outcomes) == [False, True]
    winner = next(one for one in outcomes if not one.refused)
    assert winner.request.state is stored.state
    decisions = [
        event
        for event in desk.events()
        if event in {"approval_approved", "approval_denied"}
    ]
    assert decisions == [f"approval_{stored.state.value}"]
    assert [kind for kind, _ in desk.effects()] == ["post", "update"]


def test_the_same_request_filed_at_once_is_one(any_store: SqlStore) -> None:
    desk = Desk(any_store)
    start = Barrier(3)

    def ask(number: int) -> str:
        start.wait(10)
        return desk.asks(hours=number / 1000).request_id

    with ThreadPoolExecutor(3) as pool:
        ids = set(pool.map(ask, range(3)))

    assert len(ids) == 1
    assert desk.events() == ["approval_requested"]
