"""Scheduled work across outages, hung reads and broken files."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING

import pytest

from billing.core.charges import Source
from bot.settings.sections import DigestSection
from bot.use_cases.due import Every
from bot.use_cases.runner import Task, run_due
from bot.wiring.desks import InvalidPoliciesError
from bot.wiring.tasks import ChildFailedError, Children, PolicySet, Work, tasks

if TYPE_CHECKING:
    from pathlib import Path

    from policies.core.catalogue import Policy
    from tests.cases.place import Place

GOOD = "policies:\n  - {name: idle, kind: idle}\n"
#: The key of 2026-W15, the week before the missed Monday.
DIGEST = "digest:#gpu-costs:2026-W15:"


def run(place: Place, task: Task, owner: str = "one") -> datetime | None:
    """Beat once, as the scheduler of one replica does."""
    return run_due(task, place.store, now=place.now, system_now=place.now, owner=owner)


def work(place: Place) -> Work:
    return Work(place.application, lambda: None, PolicySet(lambda: ()))


def digest_task(place: Place) -> Task:
    place.config["digests"] = [{"channel": "#gpu-costs", "at": "mon 09:00"}]
    (found,) = [
        one
        for one in tasks(place.application, work(place), Children("", Event()))
        if one.name.startswith("digest:")
    ]
    return found


# C118, C119
def test_a_digest_missed_while_down_is_queued_once_for_its_own_week(
    place: Place,
) -> None:
    task = digest_task(place)
    place.at(datetime(2026, 4, 6, 9, tzinfo=UTC))
    run(place, task)
    place.at(datetime(2026, 4, 13, 11, tzinfo=UTC))  # down from 08:55 to 11:00

    ran = [run(place, task, owner) for owner in ("one", "two", "one")]

    assert ran == [datetime(2026, 4, 13, 9, tzinfo=UTC), None, None]
    with place.store.read() as unit:
        found = unit.outbox.find(DIGEST)
        depth = unit.outbox.depth()
    assert found is not None
    assert "2026-W15" in str(found.message.payload)
    again = work(place)
    again.send_digest(DigestSection(channel="#gpu-costs"), ran[0] or place.now)
    with place.store.read() as unit:
        assert unit.outbox.depth() == depth


def test_hours_missed_while_down_are_one_run(place: Place) -> None:  # C118
    slots: list[datetime] = []
    task = Task(name="hourly", schedule=Every(timedelta(hours=1)), run=slots.append)
    run(place, task)
    place.at(place.now + timedelta(hours=2, minutes=20))

    run(place, task)
    run(place, task)

    assert slots == [
        datetime(2026, 4, 14, 6, tzinfo=UTC),
        datetime(2026, 4, 14, 8, tzinfo=UTC),
    ]


def test_a_failed_run_leaves_the_next_slot_alone(place: Place) -> None:  # C123
    slots: list[datetime] = []

    def read(slot: datetime) -> None:
        slots.append(slot)
        if len(slots) == 1:
            raise TimeoutError

    task = Task(name="hourly", schedule=Every(timedelta(hours=1)), run=read)
    with pytest.raises(TimeoutError):
        run(place, task)
    place.at(place.now + timedelta(hours=1))

    assert run(place, task) == place.now
    assert len(slots) == 2


# C123
def test_a_read_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.wiring.tasks.CHILD_TIMEOUT", timedelta(seconds=0.3))
    never_ends = shutil.which("yes")
    monkeypatch.setattr("bot.wiring.tasks.sys.executable", never_ends)

    with pytest.raises(ChildFailedError, match="cost-explorer"):
        Children("", Event()).ingest("cost-explorer")


def test_data_that_grew_old_is_said_in_alerts_and_digest(place: Place) -> None:  # C123
    place.config["slack"] = {"alerts": "#gpu-costs"}
    place.ingest("cost-explorer")
    read_at = place.now
    place.at(place.now + timedelta(days=7))

    work(place).watch(place.now)
    digest = place.application.digest(channel="", week="", team="", dry_run=True)

    account = "123456789012"
    key = f"stale:{Source.COST_EXPLORER.value}:{account}:{place.now:%Y-%m-%d}"
    with place.store.read() as unit:
        told = unit.outbox.find(key)
    assert told is not None
    assert f"{read_at.day} Apr" in str(told.message.payload)
    assert "not read for 7 d" in digest.text


# C131
@pytest.mark.parametrize(
    "broken",
    ["policies:\n  - {name: p, kind: idle, filter: {team: nlp}}\n", "policies: [", ""],
    ids=["misspelt", "no-yaml", "empty"],
)
def test_a_broken_policy_file_leaves_the_old_set_in_force(
    place: Place, tmp_path: Path, broken: str
) -> None:
    file = tmp_path / "policies.yaml"
    file.write_text(GOOD, encoding="utf-8")

    def load() -> tuple[Policy, ...]:
        return place.application.load_policies([file])

    policies = PolicySet(load)
    before = policies.current()
    file.write_text(broken, encoding="utf-8")

    after = policies.current()

    assert [one.name for one in before] == ["idle"]
    assert after == before
    assert policies.problem
    with pytest.raises(InvalidPoliciesError):
        load()
    file.write_text(GOOD.replace("idle,", "idle-2,"), encoding="utf-8")
    assert [one.name for one in policies.current()] == ["idle-2"]
    assert policies.problem == ""
