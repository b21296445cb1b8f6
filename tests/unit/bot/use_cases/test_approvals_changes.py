"""Requests sent back, answered, edited, handed on, replaced: over a real store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.unit_of_work.tables import PersonRow
from bot.use_cases.approvals import idempotency_key
from bot.use_cases.approvals_changing import (
    Change,
    answer,
    ask_back,
    cancel,
    edit,
    reassign,
    supersede,
)
from bot.use_cases.approvals_moving import VoteRefusedError
from bot.use_cases.cards import card_key
from bot.use_cases.estimate import estimate_run
from bot.use_cases.pricing import price_book
from policies.core.approvals import RequestState, Verdict
from tests.builders_approvals import (
    ADA,
    BOB,
    CHANNEL,
    MIA,
    OMAR,
    PLAN,
    Desk,
    after,
    make_rule,
)

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from policies.core.approvals import ApprovalRequest, ApprovalRule, Person


@pytest.fixture
def desk(store: SqlStore) -> Desk:
    with store.database.write() as session:
        for one in (MIA, ADA, OMAR, BOB):
            session.add(
                PersonRow(
                    person_id=one.person_id, slack_id=one.slack_id, email=one.email
                )
            )
    return Desk(store)


def sends_back(desk: Desk, request: ApprovalRequest, by: Person = ADA) -> None:
    ask_back(
        desk.store, desk.directory, request.request_id, by=by,
        question="why not spot?", channel=CHANNEL, now=after(1),
    )  # fmt: skip


def edits(
    desk: Desk,
    request: ApprovalRequest,
    *,
    count: int = 16,
    rule: ApprovalRule | None = None,
    is_free: bool = False,
    by: str = MIA.person_id,
    hours: float = 2,
) -> ApprovalRequest:
    plan = replace(PLAN, count=count)
    with desk.store.read() as unit:
        found = estimate_run(plan, price_book(unit.ledger, ()))
    change = Change(
        plan=plan, estimate=found, rule=None if is_free else rule or make_rule(),
        key=idempotency_key(MIA.person_id, plan), basis="list price", reason="",
    )  # fmt: skip
    return edit(
        desk.store, request.request_id, change, by=by, channel=CHANNEL, now=after(hours)
    )


# --------------------------------------------------------- sent back and answered


def test_a_request_that_was_sent_back_waits_for_its_answer(desk: Desk) -> None:
    request = desk.asks()

    sends_back(desk, request)

    assert desk.stored(request).state is RequestState.NEEDS_INFO
    told = desk.votes(request, OMAR, hours=2)
    assert "waits for an answer" in told.refused
    assert desk.stored(request).votes == ()


def test_an_answer_brings_it_back_and_keeps_approvals(desk: Desk) -> None:
    request = desk.asks(rule=make_rule(2))
    desk.votes(request, OMAR)
    sends_back(desk, request)

    answer(
        desk.store, request.request_id, by=MIA.person_id, words="no checkpoints yet",
        channel=CHANNEL, now=after(2),
    )  # fmt: skip

    assert desk.stored(request).state is RequestState.PENDING
    assert desk.votes(request, ADA, hours=3).request.state is RequestState.APPROVED


def test_only_an_approver_sends_back_and_only_who_asked_answers(desk: Desk) -> None:
    request = desk.asks()

    for stranger in (BOB, MIA):
        with pytest.raises(VoteRefusedError):
            sends_back(desk, request, by=stranger)
    sends_back(desk, request)
    with pytest.raises(VoteRefusedError, match="only who asked"):
        answer(
            desk.store, request.request_id, by=OMAR.person_id, words="because",
            channel=CHANNEL, now=after(2),
        )  # fmt: skip


def test_a_request_sent_back_may_be_denied_or_withdrawn(desk: Desk) -> None:
    first, second = desk.asks(), desk.asks(replace(PLAN, count=3))
    sends_back(desk, first)
    sends_back(desk, second)

    desk.votes(first, OMAR, Verdict.DENY, hours=2)
    cancel(
        desk.store, second.request_id, by=MIA.person_id, channel=CHANNEL, now=after(2)
    )

    assert desk.stored(first).state is RequestState.DENIED
    assert desk.stored(second).state is RequestState.CANCELLED


def test_question_and_answer_are_told_in_the_thread_of_the_card(desk: Desk) -> None:
    request = desk.asks()

    sends_back(desk, request)

    with desk.store.read() as unit:
        told = unit.outbox.find(f"approval:{request.request_id}:1:ask:2")
    assert told is not None
    assert told.message.thread_of == card_key(request)


# ------------------------------------------------------------------------- edited


# C094
def test_an_edit_voids_votes_and_refuses_clicks_on_the_old_card(desk: Desk) -> None:
    request = desk.asks(rule=make_rule(2))
    desk.votes(request, ADA)

    changed = edits(desk, request)

    assert (changed.version, changed.state) == (2, RequestState.PENDING)
    assert changed.votes == ()
    assert "changed since" in desk.votes(request, OMAR, hours=3).refused
    assert "count 8 -> 16" in changed.history[-1].text
    assert "$8,640.00 -> $17,280.00" in changed.history[-1].text


# C094
def test_an_edit_of_an_approved_request_voids_the_approval(desk: Desk) -> None:
    request = desk.asks()
    desk.votes(request, ADA)

    changed = edits(desk, request)

    assert changed.state is RequestState.PENDING
    assert changed.decided_at is None
    assert desk.votes(changed, ADA, hours=3, version=2).request.state is (
        RequestState.APPROVED
    )


def test_an_edit_has_a_card_of_its_own_and_the_old_one_loses_its_buttons(
    desk: Desk,
) -> None:
    request = desk.asks()

    changed = edits(desk, request)

    assert desk.effects() == [
        ("post", ""),
        ("update", card_key(request)),
        ("post", ""),
    ]
    with desk.store.read() as unit:
        assert unit.outbox.find(card_key(changed)) is not None


def test_an_edit_below_every_limit_needs_nobody(desk: Desk) -> None:
    request = desk.asks()

    changed = edits(desk, request, count=1, is_free=True)

    assert changed.state is RequestState.APPROVED
    assert changed.decided_at == after(2)


def test_only_who_asked_edits_and_only_a_real_change_counts(desk: Desk) -> None:
    request = desk.asks()

    with pytest.raises(VoteRefusedError, match="only who asked"):
        edits(desk, request, by=ADA.person_id)
    with pytest.raises(VoteRefusedError, match="nothing of it would change"):
        edits(desk, request, count=PLAN.count)
    assert desk.stored(request).version == 1


def test_what_is_denied_or_over_cannot_be_edited(desk: Desk) -> None:
    denied, late = desk.asks(), desk.asks(replace(PLAN, count=3))
    desk.votes(denied, ADA, Verdict.DENY)

    with pytest.raises(VoteRefusedError, match="denied already"):
        edits(desk, denied)
    with pytest.raises(VoteRefusedError, match="expired"):
        edits(desk, late, hours=25)


def test_an_edit_that_equals_another_request_is_refused(desk: Desk) -> None:
    request, other = desk.asks(), desk.asks(replace(PLAN, count=16))

    with pytest.raises(VoteRefusedError, match="another"):
        edits(desk, request)
    assert desk.stored(request).version == desk.stored(other).version == 1


# ----------------------------------------------------------- handed on, superseded


def test_handing_on_names_people_and_changes_nobodys_right(desk: Desk) -> None:
    request = desk.asks()

    moved = reassign(
        desk.store, desk.directory, request.request_id, [OMAR], by=ADA, is_admin=False,
        channel=CHANNEL, now=after(1),
    )  # fmt: skip

    assert moved.history[-1].text == OMAR.person_id
    assert desk.votes(request, ADA, hours=2).request.state is RequestState.APPROVED


@pytest.mark.parametrize("to", [BOB, MIA], ids=["no-approver", "requester"])
def test_nobody_is_handed_what_they_may_not_decide(desk: Desk, to: Person) -> None:
    request = desk.asks()

    with pytest.raises(VoteRefusedError, match="may not decide"):
        reassign(
            desk.store, desk.directory, request.request_id, [to], by=ADA,
            is_admin=False, channel=CHANNEL, now=after(1),
        )  # fmt: skip


def test_a_request_whose_place_was_taken_has_no_grant_any_more(desk: Desk) -> None:
    old, new = desk.asks(), desk.asks(replace(PLAN, count=16))
    desk.votes(old, ADA)

    done = supersede(
        desk.store, old.request_id, by=MIA.person_id, successor=new.request_id,
        channel=CHANNEL, now=after(2),
    )  # fmt: skip

    assert done.state is RequestState.SUPERSEDED
    with pytest.raises(VoteRefusedError):
        supersede(
            desk.store, new.request_id, by=MIA.person_id, successor=new.request_id,
            channel=CHANNEL, now=after(2),
        )  # fmt: skip


# -------------------------------------------------------------- reasons and glass


def test_a_denial_without_a_reason_is_refused_and_changes_nothing(desk: Desk) -> None:
    request = desk.asks()

    told = desk.votes(request, ADA, Verdict.DENY, reason=" ")

    assert "needs a reason" in told.refused
    assert desk.stored(request).state is RequestState.PENDING


def glassy(*named: str) -> ApprovalRule:
    return replace(make_rule(2), break_glass=named or ("mia@example.com",))


def test_the_glass_is_broken_by_named_people_even_for_themselves(desk: Desk) -> None:
    request = desk.asks(rule=glassy(MIA.email))

    told = desk.votes(request, MIA, Verdict.BREAK_GLASS, reason="cluster on fire")

    assert told.request.state is RequestState.APPROVED
    assert "approval_glass_broken" in desk.events()
    with desk.store.read() as unit:
        assert unit.outbox.find(f"approval:{request.request_id}:1:glass") is not None


@pytest.mark.parametrize(
    ("who", "reason", "said"),
    [
        (ADA, "urgent", "does not name you"),
        (MIA, "", "needs a reason"),
        (replace(MIA, is_guest=True), "urgent", "guests"),
        (replace(MIA, home_org=False), "urgent", "other organisations"),
    ],
    ids=["approver", "no-reason", "guest", "stranger"],
)
def test_nobody_else_breaks_the_glass(
    desk: Desk, who: Person, reason: str, said: str
) -> None:
    request = desk.asks(rule=glassy(MIA.email))

    told = desk.votes(request, who, Verdict.BREAK_GLASS, reason=reason)

    assert said in told.refused
    assert desk.stored(request).state is RequestState.PENDING


def test_without_named_people_nobody_breaks_the_glass(desk: Desk) -> None:
    request = desk.asks()

    told = desk.votes(request, ADA, Verdict.BREAK_GLASS, reason="urgent")

    assert "does not name you" in told.refused
