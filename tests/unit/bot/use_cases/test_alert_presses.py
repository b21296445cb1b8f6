"""Presses under alerts: kept, snoozed, denied and stopped, once, within what is allowed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from bot.use_cases.acting import Outcome
from bot.use_cases.alert_presses import KEEP_FOR, KEEP_MAX, Presses
from bot.use_cases.alerts import Routing
from bot.use_cases.control import pause
from bot.use_cases.stopping import CHANGED, NO_ROLE, PAUSED, RUNNING, stop_now
from policies.core.actions import ActionState
from tests.builders_acting import ENFORCED, Floor, live
from tests.builders_policies import NOW, idle_instance, policy

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from bot.views.slack_values import Alert
    from policies.ports import StoredFinding

NOTIFIES = ENFORCED.replace("mode: enforce", "mode: notify")


@pytest.fixture
def floor(store: SqlStore) -> Floor:
    """Return one idle machine that its owner was told of."""
    made = Floor(store, policy=policy(NOTIFIES))
    made.evaluate()
    return made


def _past_its_ttl(store: SqlStore) -> Floor:
    """Return a machine that has run for eight of at most ten hours; meant was one."""
    rule = policy(
        "name: ttl\nkind: ttl\nmode: notify\ndefault: 1h\nmax: 10h\n"
        "steps: [{before: 30m, do: warn}, {do: stop}]"
    )
    machine = idle_instance(running_for=timedelta(hours=8))
    made = Floor(store, policy=rule, machines=[machine])
    made.evaluate()
    return made


def _presses(floor: Floor) -> Presses:
    return Presses(
        store=floor.store, routing=Routing(alerts="C0ALERTS"), policies=[floor.policy]
    )


def _told(floor: Floor) -> tuple[StoredFinding, Alert]:
    with floor.store.read() as unit:
        (stored,) = unit.journal.open_findings()
        alert = unit.alerts.find(stored.finding.fingerprint)
    assert alert is not None
    return stored, alert


def _keep(floor: Floor, by: str = "p-mia") -> datetime | None:
    return _presses(floor).keep(*_told(floor), by=by, now=floor.now).until


def _texts(floor: Floor) -> list[str]:
    with floor.store.database.read() as session:
        rows = session.execute(text("SELECT payload FROM outbox ORDER BY row_id"))
        return list(rows.scalars())


def _events(floor: Floor) -> list[str]:
    with floor.store.database.read() as session:
        return list(
            session.execute(text("SELECT event FROM audit_event ORDER BY 1")).scalars()
        )


def test_kept_for_a_day_and_left_alone_by_its_policy(floor: Floor) -> None:
    until = _keep(floor)
    floor.wait(1)
    floor.evaluate()

    assert until == NOW + KEEP_FOR
    stored, _ = _told(floor)
    assert stored.finding.waiver
    assert stored.finding.actions == ()
    assert "Kept until" in _texts(floor)[-1]


def test_pressed_twice_it_is_granted_once(floor: Floor) -> None:
    _keep(floor)
    floor.wait(1)
    again = _presses(floor).keep(*_told(floor), by="p-mia", now=floor.now)

    assert again.again
    with floor.store.read() as unit:
        assert len(unit.journal.waivers(since=NOW)) == 1
    assert _events(floor).count("waiver granted") == 1


def test_nothing_is_kept_for_ever(floor: Floor) -> None:
    ends = []
    for _ in range(6):
        ends.append(_keep(floor))
        floor.wait(23 * 60)
        floor.evaluate()

    assert max(one for one in ends if one) == NOW + KEEP_MAX
    assert ends[-1] is None


def test_a_ttl_policy_keeps_up_to_its_own_maximum(store: SqlStore) -> None:
    made = _past_its_ttl(store)

    assert _keep(made) == NOW + timedelta(hours=2)


def test_keeping_calls_off_what_waits(floor: Floor) -> None:
    told = _told(floor)
    floor.policy = policy(ENFORCED)
    floor.confirm("p-ada", "p-bob")
    floor.evaluate()
    assert floor.states() == ["waiting"]

    _presses(floor).keep(*told, by="p-mia", now=floor.now)

    assert floor.states() == ["cancelled"]


def test_not_idle_is_counted_once_and_keeps_it(floor: Floor) -> None:
    first = _presses(floor).not_idle(*_told(floor), by="p-mia", now=floor.now)
    second = _presses(floor).not_idle(*_told(floor), by="p-mia", now=floor.now)

    assert (first.again, second.again) == (False, True)
    with floor.store.read() as unit:
        (said,) = unit.alerts.feedback(NOW - KEEP_FOR, NOW + KEEP_FOR)
        assert (said.policy, said.by) == ("stop-idle", "p-mia")
        assert len(unit.journal.waivers(since=NOW)) == 1


def test_snoozed_it_is_not_told_again_until_then(store: SqlStore) -> None:
    floor = _past_its_ttl(store)
    stored, alert = _told(floor)
    until = NOW + timedelta(hours=30)
    _presses(floor).snooze(stored, alert, until, by="p-mia", now=NOW)
    before = len(_texts(floor))

    floor.wait(25 * 60)
    floor.evaluate()
    assert [one for one in _texts(floor)[before:] if "still holds" in one] == []
    floor.wait(6 * 60)
    floor.evaluate()
    assert [one for one in _texts(floor)[before:] if "still holds" in one]


# ------------------------------------------------------------------------- stop now


def _stop(floor: Floor) -> Outcome | str:
    return stop_now(floor.hand(), _told(floor)[0], by="p-mia")


def test_stop_now_stops_without_any_policy_that_enforces(floor: Floor) -> None:
    outcome = _stop(floor)

    assert isinstance(outcome, Outcome)
    assert outcome.state is ActionState.DONE
    assert floor.enforcer.done == {("stop", "i-1"): 1}
    assert "action asked for" in _events(floor)


def test_pressed_again_it_stops_once(floor: Floor) -> None:
    _stop(floor)

    assert _stop(floor) == RUNNING
    assert floor.enforcer.done == {("stop", "i-1"): 1}


def test_without_the_tag_nothing_is_stopped(floor: Floor) -> None:
    (machine,) = floor.machines
    floor.enforcer.machines["i-1"] = live(machine, **{"gpucost-managed": "no"})

    outcome = _stop(floor)

    assert isinstance(outcome, Outcome)
    assert outcome.state is ActionState.CANCELLED
    assert "gpucost-managed=true" in outcome.reason
    assert floor.enforcer.done == {}


def test_what_is_busy_by_now_is_not_stopped(floor: Floor) -> None:
    stored, _ = _told(floor)
    floor.machines = []

    assert stop_now(floor.hand(), stored, by="p-mia") == CHANGED
    assert floor.enforcer.done == {}


def test_while_paused_or_without_a_role_nothing_is_stopped(floor: Floor) -> None:
    hand = replace(floor.hand(), enforcer=None)
    assert stop_now(hand, _told(floor)[0], by="p-mia") == NO_ROLE

    pause(floor.store, by="p-ada", reason="", now=NOW)
    assert _stop(floor) == PAUSED
    assert floor.actions() == []


def test_what_cannot_be_looked_at_is_not_stopped_nor_left_waiting(floor: Floor) -> None:
    floor.enforcer.dark.add("i-1")

    assert isinstance(_stop(floor), str)
    assert floor.states() == ["cancelled"]
