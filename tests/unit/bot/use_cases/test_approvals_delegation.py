"""Approvals handed to others, and what time does to requests: over a real store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.unit_of_work.tables import PersonRow
from bot.use_cases.approvals_delegating import (
    BadDelegationError,
    delegate,
    undelegate,
)
from bot.use_cases.approvals_due import chase, escalate_now, settle_grants
from policies.core.approvals import RequestEvent, RequestState
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
from tests.fakes.directory import make_person

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from policies.core.approvals import Person


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


# --------------------------------------------------------------------- delegation


def hands_over(
    desk: Desk, absent: Person, to: Person, *, hours: float = 0, days: int = 7
) -> None:
    delegate(
        desk.store, absent, to, since=after(hours),
        until=after(hours) + timedelta(days=days), channel=CHANNEL, now=after(hours),
    )  # fmt: skip


def test_a_delegate_counts_instead_of_the_absent(desk: Desk) -> None:
    hands_over(desk, ADA, BOB)
    request = desk.asks()

    absent = desk.votes(request, ADA)
    told = desk.votes(request, BOB)

    assert "speaks for you" in absent.refused
    assert told.request.state is RequestState.APPROVED
    assert told.request.votes[0].seat == ADA.person_id


def test_a_delegate_and_the_absent_are_never_two(desk: Desk) -> None:
    request = desk.asks(rule=make_rule(2))
    desk.votes(request, ADA)
    hands_over(desk, ADA, BOB, hours=1.5)

    told = desk.votes(request, BOB, hours=2)

    assert told.refused
    assert desk.stored(request).state is RequestState.PENDING


def test_once_a_delegate_spoke_the_absent_does_not_speak_again(desk: Desk) -> None:
    request = desk.asks(rule=make_rule(2))
    hands_over(desk, ADA, BOB)
    desk.votes(request, BOB)
    undelegate(desk.store, ADA.person_id, after(2))

    told = desk.votes(request, ADA, hours=3)

    assert "spoke for you" in told.refused


def test_a_delegate_with_a_part_in_the_request_does_not_count(desk: Desk) -> None:
    request = desk.asks()
    hands_over(desk, ADA, MIA)

    assert "you asked for this" in desk.votes(request, MIA).refused


def test_a_delegate_of_somebody_with_a_part_does_not_count(desk: Desk) -> None:
    request = desk.asks(owner=ADA.person_id)
    hands_over(desk, ADA, BOB)

    assert "not among the approvers" in desk.votes(request, BOB).refused


def test_delegation_is_never_passed_on_and_ends(desk: Desk) -> None:
    zoe = make_person("zoe")
    desk.directory.people.append(zoe)
    hands_over(desk, ADA, BOB, days=1)
    hands_over(desk, BOB, zoe, days=1)
    chained, late = desk.asks(), desk.asks(replace(PLAN, count=3), hours=30)

    assert desk.votes(chained, zoe).refused
    assert desk.votes(late, BOB, hours=31).refused


@pytest.mark.parametrize(
    ("to", "days"), [(ADA, 7), (replace(BOB, is_guest=True), 7), (BOB, 0), (BOB, 91)]
)
def test_nothing_is_handed_over_unfairly(desk: Desk, to: Person, days: int) -> None:
    with pytest.raises(BadDelegationError):
        hands_over(desk, ADA, to, days=days)


# -------------------------------------------------------------------------- time


def chasing(desk: Desk, hours: float) -> list[RequestEvent]:
    done = chase(desk.store, desk.directory, channel=CHANNEL, now=after(hours))
    return [event for _, event in done]


def test_after_a_while_the_next_tier_may_decide_too(desk: Desk) -> None:
    rule = replace(make_rule(), escalation=(BOB.email,), escalate_after_s=4 * 3600)
    request = desk.asks(rule=rule)

    assert desk.votes(request, BOB, hours=3).refused
    assert chasing(desk, 4) == [RequestEvent.ESCALATE]
    assert chasing(desk, 5) == []
    assert desk.votes(request, BOB, hours=6).request.state is RequestState.APPROVED


# C092
def test_when_nobody_may_decide_the_next_tier_may_at_once(desk: Desk) -> None:
    rule = replace(
        make_rule(1, MIA.email), escalation=(BOB.email,), escalate_after_s=4 * 3600
    )
    request = desk.asks(rule=rule)

    escalate_now(desk.store, request.request_id, channel=CHANNEL, now=after(0))

    assert desk.votes(request, BOB).request.state is RequestState.APPROVED


def test_reminders_come_at_most_once_in_their_time(desk: Desk) -> None:
    desk.asks(rule=replace(make_rule(), remind_every_s=4 * 3600))

    told = [chasing(desk, hours) for hours in (1, 4, 5, 7.9, 8, 30)]

    assert told == [
        [], [RequestEvent.REMIND], [], [], [RequestEvent.REMIND], [],
    ]  # fmt: skip


def test_an_approved_run_that_never_started_lapses_and_a_used_one_is_consumed(
    desk: Desk,
) -> None:
    unused, used = desk.asks(), desk.asks(replace(PLAN, count=3))
    desk.votes(unused, ADA)
    desk.votes(used, ADA)
    with desk.store.write() as unit:
        launch = unit.journal.add_launch(
            used.request_id, 1, count=3, by="p-x", now=after(2), lease_until=after(3)
        )
        unit.journal.end_launch(launch, now=after(3), exit_code=0)

    early = settle_grants(
        desk.store, channel=CHANNEL, now=after(24 + 72), system_now=after(96)
    )
    settle_grants(desk.store, channel=CHANNEL, now=after(98), system_now=after(98))

    assert early == []
    assert desk.stored(unused).state is RequestState.LAPSED
    assert desk.stored(used).state is RequestState.CONSUMED
