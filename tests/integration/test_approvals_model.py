"""Approvals against a model of them: random people, times and orders, a real store.

The model is written from the rules as people read them, not from the code.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from bot.unit_of_work.tables import PersonRow
from bot.use_cases.approvals import idempotency_key
from bot.use_cases.approvals_changing import Change, answer, ask_back, cancel, edit
from bot.use_cases.approvals_delegating import delegate, undelegate
from bot.use_cases.approvals_due import chase, expire_due
from bot.use_cases.approvals_moving import VoteRefusedError
from policies.core.approvals import (
    Person,
    RequestEvent,
    RequestState,
    Verdict,
)
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

GUEST = make_person("zed", is_guest=True)
PEOPLE = [MIA, ADA, OMAR, BOB, GUEST]
#: Mia asks, so she never counts though the policy names her; Bob breaks the glass.
APPROVERS = {ADA, OMAR}
JOBS = itertools.count()
OPEN = {RequestState.PENDING, RequestState.NEEDS_INFO}
people = st.sampled_from(PEOPLE)
DECISIONS = {
    RequestEvent.APPROVE, RequestEvent.DENY, RequestEvent.BREAK_GLASS,
    RequestEvent.EXPIRE, RequestEvent.CANCEL,
}  # fmt: skip


@dataclass
class Model:
    """One request as the rules say it stands."""

    required: int
    expires: float
    state: RequestState = RequestState.PENDING
    version: int = 1
    count: int = 8
    spoken: dict[str, str] = field(default_factory=dict)
    yes: int = 0
    handed_until: float = -1

    def seat(self, who: Person, hour: float) -> str | None:
        """Return whose seat somebody takes; None when they may not speak."""
        if self.state not in OPEN or hour >= self.expires or who in {MIA, GUEST}:
            return None
        is_handed = hour < self.handed_until
        if who is ADA and is_handed:
            return None
        if who in APPROVERS:
            taken = who.person_id in self.spoken.values()
            own = self.spoken.get(who.person_id) == who.person_id
            return None if taken and not own else who.person_id
        spoken = {*self.spoken, *self.spoken.values()}
        is_free = ADA.person_id not in spoken
        return ADA.person_id if who is BOB and is_handed and is_free else None

    def hears(self, who: Person, verdict: Verdict, reason: str, hour: float) -> bool:
        """Count a word; False when it does not count."""
        if verdict is Verdict.BREAK_GLASS:
            seat = who.person_id if who is BOB else None
            if self.state not in OPEN or hour >= self.expires:
                seat = None
        else:
            seat = self.seat(who, hour)
        if verdict is not Verdict.APPROVE and not reason:
            seat = None
        if verdict is Verdict.APPROVE and self.state is RequestState.NEEDS_INFO:
            seat = None
        if seat is None or who.person_id in self.spoken:
            return False
        self.spoken[who.person_id] = seat
        self.yes += verdict is Verdict.APPROVE
        if verdict is Verdict.DENY:
            self.state = RequestState.DENIED
        elif verdict is Verdict.BREAK_GLASS or self.yes >= self.required:
            self.state = RequestState.APPROVED
        return True


class Approvals(RuleBasedStateMachine):
    """What people do to one request, in any order."""

    store: ClassVar[SqlStore]

    @initialize(required=st.sampled_from([1, 2]))
    def begin(self, required: int) -> None:
        self.desk = Desk(self.store)
        self.desk.directory.people.append(GUEST)
        self.rule = replace(
            make_rule(required), break_glass=(BOB.email,), remind_every_s=3600 * 5
        )
        self.hour = 0.0
        self.plan = replace(PLAN, job=f"model-{next(JOBS)}x")
        self.request = self.desk.asks(self.plan, rule=self.rule)
        self.model = Model(required=required, expires=24)
        self.before = self.request
        undelegate(self.store, ADA.person_id, self.now)

    @property
    def now(self) -> datetime:
        return after(self.hour)

    def passes(self, hours: float = 0.25) -> None:
        self.hour += hours

    @rule(
        who=people, verdict=st.sampled_from(Verdict), reason=st.sampled_from(["", "so"]),
        is_old=st.sampled_from([False, False, False, True]),
    )  # fmt: skip
    def speaks(self, who: Person, verdict: Verdict, reason: str, is_old: bool) -> None:  # noqa: FBT001 - a strategy's
        self.passes()
        version = self.model.version - is_old
        told = self.desk.votes(
            self.request, who, verdict, hours=self.hour, version=version or None,
            reason=reason,
        )  # fmt: skip
        is_current = not version or version == self.model.version
        counts = is_current and self.model.hears(who, verdict, reason, self.hour)
        assert (told.refused == "") is counts, told.refused

    @rule(who=people)
    def sends_back(self, who: Person) -> None:
        self.passes()
        can = self.model.state is RequestState.PENDING
        can = can and self.model.seat(who, self.hour) is not None
        assert self.does(
            lambda: ask_back(
                self.store, self.desk.directory, self.request.request_id, by=who,
                question="why?", channel=CHANNEL, now=self.now,
            )
        ) is can  # fmt: skip
        self.model.state = RequestState.NEEDS_INFO if can else self.model.state

    @rule(who=people)
    def answers(self, who: Person) -> None:
        self.passes()
        can = self.model.state is RequestState.NEEDS_INFO and who is MIA
        assert self.does(
            lambda: answer(
                self.store, self.request.request_id, by=who.person_id, words="so",
                channel=CHANNEL, now=self.now,
            )
        ) is can  # fmt: skip
        self.model.state = RequestState.PENDING if can else self.model.state

    @rule(who=people, count=st.sampled_from([4, 8, 16]))
    def edits(self, who: Person, count: int) -> None:
        self.passes()
        model = self.model
        is_open = model.state in OPEN and self.hour < model.expires
        can = who is MIA and count != model.count
        can = can and (is_open or model.state is RequestState.APPROVED)
        plan = replace(self.plan, count=count)
        change = Change(
            plan=plan, estimate=None, rule=self.rule, basis="", reason="",
            key=idempotency_key(MIA.person_id, plan),
        )  # fmt: skip
        assert self.does(
            lambda: edit(
                self.store, self.request.request_id, change, by=who.person_id,
                channel=CHANNEL, now=self.now,
            )
        ) is can  # fmt: skip
        if can:
            self.model = Model(
                required=model.required, expires=self.hour + 24, count=count,
                version=model.version + 1, handed_until=model.handed_until,
            )  # fmt: skip

    @rule(who=people)
    def withdraws(self, who: Person) -> None:
        self.passes()
        can = self.model.state in OPEN and who is MIA
        assert self.does(
            lambda: cancel(
                self.store, self.request.request_id, by=who.person_id, channel=CHANNEL,
                now=self.now,
            )
        ) is can  # fmt: skip
        self.model.state = RequestState.CANCELLED if can else self.model.state

    @rule(hours=st.sampled_from([1.0, 6.0, 30.0]))
    def hands_over(self, hours: float) -> None:
        self.passes()
        until = self.now + timedelta(hours=hours)
        delegate(
            self.store, ADA, BOB, since=self.now, until=until, channel="", now=self.now
        )
        self.model.handed_until = self.hour + hours

    @rule()
    def takes_back(self) -> None:
        self.passes()
        undelegate(self.store, ADA.person_id, self.now)
        self.model.handed_until = -1

    @rule(hours=st.sampled_from([1.0, 5.0, 13.0]))
    def time_passes(self, hours: float) -> None:
        self.passes(hours)
        expire_due(self.store, channel=CHANNEL, now=self.now)
        chase(self.store, self.desk.directory, channel=CHANNEL, now=self.now)
        if self.model.state in OPEN and self.hour >= self.model.expires:
            self.model.state = RequestState.EXPIRED

    def does(self, work: object) -> bool:
        """Do something; False when it is refused."""
        assert callable(work)
        with suppress(VoteRefusedError):
            work()
            return True
        return False

    @invariant()
    def stands_as_the_model_says_and_never_widens(self) -> None:
        if not hasattr(self, "model"):
            return
        before, model = self.before, self.model
        stored = self.before = self.desk.stored(self.request)
        assert (stored.state, stored.version) == (model.state, model.version)
        assert {one.person_id for one in stored.votes} == set(model.spoken)
        if stored.version == before.version and before.state not in OPEN:
            assert stored.state is before.state
            assert stored.votes == before.votes
        decided = [one.version for one in stored.history if one.event in DECISIONS]
        assert len(decided) == len(set(decided))
        assert stored.history[: len(before.history)] == before.history


def run(store: SqlStore, examples: int, steps: int) -> None:
    with store.database.write() as session:
        for one in PEOPLE:
            session.add(
                PersonRow(
                    person_id=one.person_id, slack_id=one.slack_id, email=one.email
                )
            )
    machine = type("OnStore", (Approvals,), {"store": store})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
    with store.read() as unit:
        assert unit.audit.verify() == []


def test_approvals_do_what_the_model_says(store: SqlStore) -> None:
    run(store, 8, 25)


@pytest.mark.slow
def test_approvals_do_what_the_model_says_in_ten_thousand_steps(
    store: SqlStore,
) -> None:
    run(store, 200, 55)
