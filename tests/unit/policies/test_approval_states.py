"""The table of states: total, and nothing ever widens."""

from __future__ import annotations

from itertools import product

import pytest

from policies.core.approval_states import DECIDING, TRANSITIONS, Refused, step
from policies.core.approvals import RequestEvent, RequestState

EVERY = list(product(RequestState, RequestEvent))
OPEN = {RequestState.PENDING, RequestState.NEEDS_INFO}
AFTER_APPROVAL = {RequestState.CONSUMED, RequestState.LAPSED}
FINAL = set(RequestState) - OPEN - {RequestState.APPROVED}


@pytest.mark.parametrize(("state", "event"), EVERY)
def test_every_event_in_every_state_has_an_answer(
    state: RequestState, event: RequestEvent
) -> None:
    found = step(state, event)

    if isinstance(found, Refused):
        assert state.value in found.reason
    else:
        assert found is TRANSITIONS[state][event]


@pytest.mark.parametrize(("state", "event"), EVERY)
def test_nothing_widens(state: RequestState, event: RequestEvent) -> None:
    found = step(state, event)

    if state in FINAL:
        assert isinstance(found, Refused)
    if found in AFTER_APPROVAL:
        assert state is RequestState.APPROVED
    if found is RequestState.APPROVED:
        assert state in OPEN
        assert event in {RequestEvent.APPROVE, RequestEvent.BREAK_GLASS}
    if found in OPEN and state is RequestState.APPROVED:
        assert event is RequestEvent.EDIT  # a new version that nobody agreed to


def test_what_waits_for_an_answer_is_approved_only_in_an_emergency() -> None:
    leads = TRANSITIONS[RequestState.NEEDS_INFO]

    approving = [
        event for event, state in leads.items() if state is RequestState.APPROVED
    ]

    assert approving == [RequestEvent.BREAK_GLASS]


def test_every_state_is_reached_and_every_open_one_can_end() -> None:
    reached = {state for leads in TRANSITIONS.values() for state in leads.values()}

    assert reached == set(RequestState)
    for state in OPEN:
        assert {RequestEvent.EXPIRE, RequestEvent.DENY} <= TRANSITIONS[state].keys()


def test_the_event_of_a_decision_leads_to_it() -> None:
    for state, event in DECIDING.items():
        assert step(RequestState.PENDING, event) is state
