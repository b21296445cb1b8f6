"""Acting: after a delivered warning, once, on what AWS still shows; else not at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.use_cases.acting import LEFT
from bot.use_cases.control import pause, resume
from policies.core.actions import ActionState
from tests.builders_acting import (
    ADMINS,
    ENFORCED,
    MINUTE,
    Floor,
    KilledError,
    live,
)
from tests.builders_policies import NOW, idle_instance, policy

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore


@pytest.fixture
def floor(store: SqlStore) -> Floor:
    return Floor(store)


@pytest.fixture
def due(floor: Floor) -> Floor:
    """Return a floor whose warning was delivered long enough ago."""
    floor.evaluate()
    floor.deliver()
    floor.wait(15)
    return floor


def test_a_warned_machine_is_stopped_once_its_delay_is_over(due: Floor) -> None:
    (outcome,) = due.act()

    assert outcome.state is ActionState.DONE
    assert due.enforcer.done == {("stop", "i-1"): 1}
    assert due.posted() == ["warning", "done"]


def test_it_is_done_once_however_often_it_is_asked_for(due: Floor) -> None:
    due.act()
    due.evaluate()
    due.act()

    assert due.enforcer.done == {("stop", "i-1"): 1}


def test_nothing_happens_before_the_delay_is_over(floor: Floor) -> None:
    floor.evaluate()
    floor.deliver()
    floor.wait(14.9)

    assert floor.act() == ()
    assert floor.enforcer.done == {}


def test_a_warning_that_slack_never_confirmed_starts_no_countdown(floor: Floor) -> None:
    floor.evaluate()
    floor.wait(24 * 60)

    assert floor.act() == ()
    assert floor.states() == ["waiting"]


def test_late_delivery_starts_the_countdown_late(floor: Floor) -> None:
    floor.evaluate()
    floor.wait(60)
    floor.deliver()
    floor.wait(14)
    assert floor.act() == ()

    floor.wait(1)
    assert [one.state for one in floor.act()] == [ActionState.DONE]


def test_without_a_channel_for_the_warning_nothing_is_planned(floor: Floor) -> None:
    floor.alerts = ""

    floor.evaluate()

    assert floor.actions() == []


def test_one_admin_is_not_enough(store: SqlStore) -> None:
    floor = Floor(store)
    floor.policy = policy(ENFORCED.replace("15m", "20m"))
    floor.confirm("p-ada")

    assert floor.evaluate() == [
        "1 more admin must confirm it: gpucost policy confirm stop-idle"
    ]
    assert floor.actions() == []


def test_an_edit_after_the_warning_calls_the_action_off(due: Floor) -> None:
    due.policy = policy(ENFORCED.replace("15m", "1m"))
    due.confirm(*ADMINS)

    due.act()
    assert due.enforcer.done == {}
    due.evaluate()

    assert due.states()[0] == "cancelled"


def test_without_a_role_nothing_is_planned(floor: Floor) -> None:
    reasons = floor.evaluate(can_act=False)

    assert reasons == ["no aws.enforce_role is configured"]
    assert floor.actions() == []


def test_a_pause_calls_off_what_waits_and_plans_nothing(due: Floor) -> None:
    pause(due.store, by="p-eve", reason="fire drill", now=due.now)

    assert due.act() == ()
    assert due.evaluate() == ["actions are paused by p-eve"]
    assert due.states() == ["cancelled"]
    assert due.enforcer.done == {}


def test_what_a_pause_called_off_does_not_come_back_with_the_end_of_it(
    due: Floor,
) -> None:
    pause(due.store, by="p-eve", reason="", now=due.now)
    resume(due.store, by="p-ada", now=due.now)

    due.evaluate()

    assert due.act() == ()
    assert due.states() == ["cancelled"]


def test_a_pause_between_two_machines_spares_the_second(store: SqlStore) -> None:
    floor = Floor(store, machines=[idle_instance("i-1"), idle_instance("i-2")])
    floor.evaluate()
    floor.deliver()
    floor.wait(15)
    floor.enforcer.after_act = lambda: _pause(floor)

    (outcome,) = floor.act()

    assert floor.enforcer.done == {("stop", "i-1"): 1}
    assert outcome.reason == "i-2: actions were paused"


def _pause(floor: Floor) -> None:
    pause(floor.store, by="p-eve", reason="", now=floor.now)


def test_work_that_began_again_is_left_alone(due: Floor) -> None:
    due.machines = []

    (outcome,) = due.act()

    assert outcome.state is ActionState.CANCELLED
    assert due.enforcer.done == {}
    assert due.posted() == ["warning", "cancelled"]


@pytest.mark.parametrize(
    "changed",
    [
        {"tags": (("job-id", "job-123"),)},
        {"started_at": NOW},
        {"skew": timedelta(minutes=2)},
        {"state": "stopped"},
        {"is_protected": None},
        {"tags": (("gpucost-managed", "true"), ("job-id", "job-9"))},
    ],
)
def test_what_aws_shows_at_the_moment_of_acting_decides(
    due: Floor, changed: dict[str, object]
) -> None:
    machine = due.enforcer.machines["i-1"]
    due.enforcer.machines["i-1"] = replace(machine, **changed)  # type: ignore[arg-type] # some keys

    (outcome,) = due.act()

    assert outcome.state is ActionState.CANCELLED
    assert due.enforcer.done == {}


def test_one_spared_machine_spares_its_whole_job(store: SqlStore) -> None:
    floor = Floor(store, machines=[idle_instance("i-1"), idle_instance("i-2")])
    floor.evaluate()
    floor.deliver()
    floor.wait(15)
    kept = live(floor.machines[1], **{"gpucost-keep": "true"})
    floor.enforcer.machines["i-2"] = kept

    floor.act()

    assert floor.enforcer.done == {}


def test_when_aws_cannot_be_asked_it_waits(due: Floor) -> None:
    due.enforcer.dark.add("i-1")

    assert due.act() == ()
    assert due.states() == ["waiting"]


def test_an_action_hours_late_lapses(due: Floor) -> None:
    due.wait(6 * 60 + 1)

    assert due.act() == ()
    assert due.states() == ["cancelled"]


def test_a_plan_above_its_limits_does_nothing_at_all(store: SqlStore) -> None:
    machines = [idle_instance(f"i-{n}", job=f"job-{n}") for n in range(6)]
    floor = Floor(store, machines=machines)

    floor.evaluate()

    assert floor.actions() == []


def test_a_plan_that_grew_above_its_limits_waits(due: Floor) -> None:
    due.machines += [idle_instance(f"i-{n}", job=f"job-{n}") for n in range(2, 9)]

    assert due.act() == ()
    assert due.enforcer.done == {}


def test_a_refusal_of_one_machine_is_recorded_beside_the_others(
    store: SqlStore,
) -> None:
    floor = Floor(store, machines=[idle_instance("i-1"), idle_instance("i-2")])
    floor.evaluate()
    floor.deliver()
    floor.wait(15)
    floor.enforcer.broken.add("i-1")

    (outcome,) = floor.act()

    assert outcome.state is ActionState.FAILED
    assert outcome.reason == "i-1: UnauthorizedOperation"
    assert floor.enforcer.done == {("stop", "i-2"): 1}


def test_a_process_that_died_after_acting_is_settled_by_looking(due: Floor) -> None:
    def die() -> None:
        raise KilledError

    due.enforcer.after_act = die
    with pytest.raises(KilledError):
        due.act()
    due.enforcer.after_act = lambda: None
    due.wait(6)

    (outcome,) = due.act()

    assert outcome.state is ActionState.DONE
    assert due.enforcer.done == {("stop", "i-1"): 1}


def test_a_process_that_died_before_acting_does_not_act_later(due: Floor) -> None:
    def die() -> None:
        raise KilledError

    due.enforcer.before_act = die
    with pytest.raises(KilledError):
        due.act()
    due.enforcer.before_act = lambda: None
    due.wait(6)

    (outcome,) = due.act()

    assert (outcome.state, outcome.reason) == (ActionState.FAILED, LEFT)
    assert due.enforcer.done == {}


def test_what_is_under_way_elsewhere_is_not_touched(due: Floor) -> None:
    (action,) = due.actions()
    with due.store.write() as unit:
        unit.journal.begin_action(
            action.action_id, now=due.now, lease_until=due.now + 5 * MINUTE
        )

    assert due.act() == ()
    assert due.enforcer.done == {}


def test_every_step_is_in_the_audit_chain(due: Floor) -> None:
    due.act()

    with due.store.read() as unit:
        assert unit.audit.verify() == []
        assert unit.audit.head()[0] == 3  # planned, begun, done


def test_a_finding_with_a_warning_is_not_told_twice(floor: Floor) -> None:
    floor.evaluate()
    floor.evaluate()

    with floor.store.read() as unit:
        assert sum(unit.outbox.depth().values()) == 1
