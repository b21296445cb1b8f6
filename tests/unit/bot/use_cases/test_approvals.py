"""Approval requests over a real store: asked once, decided once, on record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.use_cases.approvals import (
    committed_cost,
)
from bot.use_cases.approvals_moving import UnknownRequestError
from bot.use_cases.cards import card_key
from policies.core.approvals import (
    RequestState,
    Verdict,
)
from tests.builders import usd
from tests.builders_approvals import (
    ADA,
    BOB,
    MIA,
    OMAR,
    PLAN,
    Desk,
    after,
    make_rule,
)
from tests.fakes.directory import make_person

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore


@pytest.fixture
def desk(store: SqlStore) -> Desk:
    return Desk(store)


# -------------------------------------------------------------------- asking


def test_a_request_is_stored_recorded_and_its_card_queued_once(desk: Desk) -> None:
    request = desk.asks()

    assert request.state is RequestState.PENDING
    assert request.envelope.cost_ceiling == usd("8640")  # 8 x 72 h x $10 x 1.5
    assert request.expires_at == after(24)
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
        soon = committed_cost(unit, MIA.person_id, "llm-3", after(2))
        tomorrow = committed_cost(unit, MIA.person_id, "llm-3", after(24.5))
        somebody = committed_cost(unit, ADA.person_id, "llm-3", after(2))

    assert (soon, tomorrow, somebody) == (usd("17280"), usd("8640"), usd("0"))


# ------------------------------------------------------------------ deciding


def test_an_approver_decides_and_the_card_is_rewritten(desk: Desk) -> None:
    request = desk.asks()

    outcome = desk.votes(request, ADA)

    assert outcome.refused == ""
    assert outcome.request.state is RequestState.APPROVED
    stored = desk.stored(request)
    assert (stored.state, stored.decided_by) == (RequestState.APPROVED, "p-ada")
    assert stored.decided_at == after(1)
    assert desk.events() == [
        "approval_approved",
        "approval_requested",
        "approval_voted",
    ]
    assert desk.effects() == [("post", ""), ("update", card_key(request))]


def test_one_denial_decides(desk: Desk) -> None:
    request = desk.asks(rule=make_rule(2))
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
    request = desk.asks(rule=make_rule(2))

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
