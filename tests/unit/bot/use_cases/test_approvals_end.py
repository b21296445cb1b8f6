"""How requests end otherwise: in time, by who asked, and when all speak at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from bot.use_cases.approvals_changing import cancel
from bot.use_cases.approvals_due import expire_due
from bot.use_cases.approvals_moving import VoteRefusedError
from bot.use_cases.approvals_voting import VoteOutcome
from bot.use_cases.cards import card_key
from policies.core.approvals import (
    RequestState,
    Verdict,
)
from tests.builders import NOW
from tests.builders_approvals import (
    ADA,
    CHANNEL,
    MIA,
    OMAR,
    Desk,
    after,
)

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore


@pytest.fixture
def desk(store: SqlStore) -> Desk:
    return Desk(store)


# ------------------------------------------------------------ expiry, cancelling


def test_what_nobody_decided_in_time_expires_once(desk: Desk) -> None:
    request = desk.asks()

    early = expire_due(desk.store, channel=CHANNEL, now=after(23.9))
    expired = expire_due(desk.store, channel=CHANNEL, now=after(24))
    again = expire_due(desk.store, channel=CHANNEL, now=after(25))

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
