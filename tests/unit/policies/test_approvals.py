"""Who may vote, and what votes mean: refused cases, and every short history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from policies.core.approvals import (
    Person,
    RequestState,
    Verdict,
    Vote,
    can_be_decided,
    refusal,
)
from policies.core.voting import approvals_missing, outcome
from tests.builders_policies import (
    NOW,
    make_person,
    make_request,
    make_rule,
    make_vote,
)

ELIGIBLE = frozenset({"U0APPROVER"})
FINAL = [state for state in RequestState if not state.is_open]


def test_an_approver_may_vote() -> None:
    assert refusal(make_request(), make_person(), ELIGIBLE, NOW) is None


def test_an_approver_known_by_e_mail_may_vote() -> None:
    person = make_person(slack_id="", email="Ada@example.com")

    assert refusal(make_request(), person, {"ada@example.com"}, NOW) is None


# C091, C098
@pytest.mark.parametrize(
    ("person", "said"),
    [
        (make_person(slack_id="U0RANDOM"), "not among the approvers"),
        (make_person(slack_id=""), "not among the approvers"),
        (make_person(is_bot=True), "app"),
        (make_person(is_deactivated=True), "deactivated"),
        (make_person(is_guest=True), "guests"),
        (make_person(home_org=False), "other organisations"),
        (make_person(""), "who you are"),
    ],
    ids=["stranger", "nameless", "bot", "gone", "guest", "other-org", "unknown"],
)
def test_others_may_not_vote(person: Person, said: str) -> None:
    assert said in (refusal(make_request(), person, ELIGIBLE, NOW) or "")


# C091
def test_no_approvers_mean_nobody() -> None:
    assert refusal(make_request(), make_person(), frozenset(), NOW) is not None
    assert refusal(make_request(), make_person(slack_id=""), {""}, NOW) is not None


# C092
@pytest.mark.parametrize("part", ["requester", "caller", "owner"])
def test_whoever_has_a_part_in_it_may_not_vote(part: str) -> None:
    request = make_request(**{part: "p-approver"})  # type: ignore[arg-type]

    assert "somebody else must decide" in (
        refusal(request, make_person(), ELIGIBLE, NOW) or ""
    )


@pytest.mark.parametrize("state", FINAL)
def test_a_decided_request_takes_no_votes(state: RequestState) -> None:
    said = refusal(make_request(state=state), make_person(), ELIGIBLE, NOW)

    assert said == f"this request is already {state}"


@pytest.mark.parametrize(("left_s", "may"), [(1, True), (0, False), (-1, False)])
def test_the_instant_of_expiry_is_too_late(left_s: int, *, may: bool) -> None:
    request = make_request(expires_at=NOW + timedelta(seconds=left_s))

    assert (refusal(request, make_person(), ELIGIBLE, NOW) is None) is may


# C092
def test_a_request_nobody_can_decide_is_known_as_such() -> None:
    assert can_be_decided(1, {"p-2"})
    assert not can_be_decided(1, set())
    assert not can_be_decided(2, {"p-2", ""})


def test_a_request_under_no_rule_is_approved() -> None:
    free = replace(make_request(), rule=None)

    assert outcome(free, (), NOW) is RequestState.APPROVED


@pytest.mark.parametrize("state", FINAL)
def test_a_final_state_never_changes(state: RequestState) -> None:
    request = make_request(state=state)
    votes = [make_vote(verdict=Verdict.DENY), make_vote("p-2")]

    assert outcome(request, votes, NOW + timedelta(days=9)) is state


def test_a_denial_wins_when_both_come_at_once() -> None:
    votes = [make_vote("a"), make_vote("b", Verdict.DENY)]

    for order in (votes, votes[::-1]):
        assert outcome(make_request(), order, NOW) is RequestState.DENIED


def test_what_was_missing_is_counted_in_people() -> None:
    request = make_request(rule=make_rule(required=2))
    votes = [make_vote("a"), make_vote("a"), make_vote("p-requester")]

    assert approvals_missing(request, votes) == 1


# ----------------------------------------------- every history of up to five events

REQUESTER, FIRST, SECOND, OUTSIDER = "p-requester", "p-1", "p-2", "p-outsider"
PEOPLE = {
    name: make_person(name, slack_id=f"U0{name.upper()}")
    for name in (REQUESTER, FIRST, SECOND, OUTSIDER)
}
APPROVERS = frozenset(PEOPLE[name].slack_id for name in (REQUESTER, FIRST, SECOND))
EXPIRE = ("", Verdict.DENY)
WORDS = (Verdict.APPROVE, Verdict.DENY)
EVENTS = (*product(PEOPLE, WORDS), EXPIRE)
LENGTH_MAX = 5
EXPIRES_AT = NOW + timedelta(hours=1)


class History:
    """One request as the product runs it: refuse, count, decide, never undo."""

    def __init__(self, required: int) -> None:
        self.request = make_request(
            rule=make_rule(required=required), expires_at=EXPIRES_AT
        )
        self.votes: tuple[Vote, ...] = ()
        self.state = RequestState.PENDING
        self.now = NOW


def step(history: History, event: tuple[str, Verdict]) -> History:
    """Return the history after one more event."""
    who, verdict = event
    after = History.__new__(History)
    after.request, after.votes, after.state = (
        history.request,
        history.votes,
        history.state,
    )
    after.now = max(history.now + timedelta(seconds=1), EXPIRES_AT if not who else NOW)
    if after.state is not RequestState.PENDING:
        return after
    voted = {vote.person_id for vote in history.votes}
    if (
        who
        and who not in voted
        and not refusal(history.request, PEOPLE[who], APPROVERS, after.now)
    ):
        after.votes = (*history.votes, make_vote(who, verdict, at=after.now))
    after.state = outcome(history.request, after.votes, after.now)
    return after


def histories(start: History, length: int) -> Iterator[tuple[History, History]]:
    """Yield every step of every history from a start, depth first."""
    if not length:
        return
    for event in EVENTS:
        after = step(start, event)
        yield start, after
        yield from histories(after, length - 1)


# A2, A3
@pytest.mark.parametrize("required", [1, 2])
def test_every_short_history_keeps_its_promises(required: int) -> None:
    seen = 0
    for before, after in histories(History(required), LENGTH_MAX):
        seen += 1
        voters = [vote.person_id for vote in after.votes]
        assert len(set(voters)) == len(voters)
        assert not {REQUESTER, OUTSIDER} & set(voters)
        if before.state is not RequestState.PENDING:
            assert after.state is before.state
            assert after.votes == before.votes
        if after.state is RequestState.APPROVED:
            assert len(voters) >= required
            assert all(vote.verdict is Verdict.APPROVE for vote in after.votes)
        if any(vote.verdict is Verdict.DENY for vote in after.votes):
            assert after.state is RequestState.DENIED
        if after.now >= EXPIRES_AT:
            assert after.state is not RequestState.PENDING

    assert seen == sum(len(EVENTS) ** length for length in range(1, LENGTH_MAX + 1))


def test_votes_that_should_never_have_been_stored_count_for_nothing() -> None:
    """The decision does not trust that refusals were obeyed when votes came in."""
    request = make_request(owner="p-owner", expires_at=EXPIRES_AT)
    votes = [
        make_vote(REQUESTER),
        make_vote("p-owner"),
        make_vote(""),
        make_vote("p-late", at=EXPIRES_AT),
    ]

    assert outcome(request, votes, NOW) is RequestState.PENDING
    assert outcome(request, votes, EXPIRES_AT) is RequestState.EXPIRED
