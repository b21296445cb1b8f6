"""Acting on checkpoints: tagged first, deleted after the hold, spared by any change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.use_cases.control import pause
from bot.views.acting import action_warning
from policies.core.actions import Live
from policies.core.holding import CHECKPOINT
from policies.core.object_actions import UNDONE
from tests.builders_acting import Floor
from tests.builders_policies import (
    CHECKPOINTS,
    NOW,
    make_facts,
    make_listing,
    policy,
    saved_steps,
)

if TYPE_CHECKING:
    from billing.ports import StoredObject
    from bot.unit_of_work import SqlStore
    from policies.core.facts import Facts

RULE = f"""
    name: old-checkpoints
    kind: checkpoint-retention
    mode: enforce
    location: "{CHECKPOINTS}"
    keep: {{last: 1}}
    hold: 7d
    limits: {{max_actions: 5, max_share: 100%}}
"""
WEEK = 7 * 24 * 60
FIRST = "s3://models/job-1/checkpoints/step-1/"
SECOND = "s3://models/job-1/checkpoints/step-2/"


@dataclass
class Bucket(Floor):
    """A bucket with checkpoints, and a policy over it."""

    objects: list[StoredObject] = field(default_factory=lambda: saved_steps(1, 2, 3))

    def __post_init__(self) -> None:
        self.machines = []
        self.policy = policy(RULE)
        super().__post_init__()
        self.see()

    @property
    def facts(self) -> Facts:
        return make_facts(checkpoints=[make_listing(self.objects)])

    def see(self) -> None:
        """Let the enforcer see what is stored, as the policy does."""
        from policies.core.evaluate import evaluate

        for finding in evaluate([self.policy], self.facts, NOW).findings:
            for one in finding.targets:
                known = Live(
                    state="present", is_protected=False, skew=timedelta(),
                    version=one.version, started_at=one.started_at,
                )  # fmt: skip
                self.enforcer.machines.setdefault(one.resource_id, known)

    def change(self, name: str, **changed: object) -> None:
        known = self.enforcer.machines[name]
        self.enforcer.machines[name] = replace(known, **changed)  # type: ignore[arg-type] # some keys

    def deliver(self) -> None:
        """Let Slack post everything; a channel gets one message at a time."""
        for _ in range(4):
            super().deliver()
            self.now += timedelta(seconds=2)

    def round(self, minutes: float = 0) -> list[str]:
        """Evaluate, deliver, wait, act; return what became of each action."""
        self.evaluate()
        self.deliver()
        self.wait(minutes)
        return [f"{one.action.verb} {one.state.value}" for one in self.act()]

    def done(self) -> set[tuple[str, str]]:
        return set(self.enforcer.done)


@pytest.fixture
def bucket(store: SqlStore) -> Bucket:
    return Bucket(store)


def test_a_checkpoint_is_tagged_then_deleted_when_its_hold_is_over(
    bucket: Bucket,
) -> None:
    assert bucket.round() == ["quarantine done"]
    assert bucket.round(WEEK - 1) == []
    bucket.wait(1)
    assert [one.action.verb for one in bucket.act()] == ["delete"]

    assert bucket.done() == {
        (verb, name) for verb in ("quarantine", "delete") for name in (FIRST, SECOND)
    }
    assert all(one.kind == CHECKPOINT for a in bucket.actions() for one in a.targets)


def test_nothing_is_deleted_that_was_not_tagged_first(bucket: Bucket) -> None:
    bucket.evaluate()

    assert [one.verb for one in bucket.actions()] == ["quarantine"]


def test_removing_the_tag_stops_the_deletion_for_good(bucket: Bucket) -> None:
    bucket.round()
    bucket.evaluate()
    bucket.deliver()
    bucket.change(FIRST, state="present")
    bucket.wait(WEEK)
    (outcome,) = bucket.act()

    assert outcome.reason == f"{FIRST}: {UNDONE}"

    bucket.wait(61)
    assert bucket.round(WEEK) == ["delete done"]  # the other one alone
    assert ("delete", FIRST) not in bucket.done()
    assert ("delete", SECOND) in bucket.done()
    bucket.wait(61)
    assert bucket.round(WEEK) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"version": "other"},
        {"tags": (("gpucost-keep", "true"),)},
        {"tags": (("gpucost-lease-until", "2999-01-01T00:00:00Z"),)},
        {"is_protected": True},
        {"is_protected": None},
        {"skew": timedelta(minutes=2)},
        {"skew": None},
        {"state": ""},
    ],
)
def test_what_s3_shows_at_the_moment_of_deleting_decides(
    bucket: Bucket, changed: dict[str, object]
) -> None:
    bucket.round()
    bucket.evaluate()
    bucket.deliver()
    bucket.change(FIRST, **changed)
    bucket.wait(WEEK)

    assert [one.state.value for one in bucket.act()] == ["cancelled"]
    assert all(verb == "quarantine" for verb, _ in bucket.done())


def test_what_is_kept_again_by_then_is_not_deleted(bucket: Bucket) -> None:
    bucket.round()
    bucket.evaluate()
    bucket.deliver()
    bucket.objects = [*saved_steps(1, 2)]  # step 3 was lost: step 2 is the newest now
    bucket.wait(WEEK)

    (outcome,) = bucket.act()

    assert outcome.reason == f"{SECOND}: it is kept now, or was changed"
    assert all(verb == "quarantine" for verb, _ in bucket.done())


def test_a_newer_checkpoint_does_not_call_off_the_older_ones(bucket: Bucket) -> None:
    bucket.round()
    bucket.evaluate()
    bucket.deliver()
    bucket.objects = saved_steps(1, 2, 3, 4)
    bucket.wait(WEEK)

    assert [f"{one.action.verb} {one.state.value}" for one in bucket.act()] == [
        "delete done"
    ]
    bucket.see()
    assert bucket.round() == ["quarantine done"]
    assert ("quarantine", "s3://models/job-1/checkpoints/step-3/") in bucket.done()


def test_a_pause_calls_a_deletion_off(bucket: Bucket) -> None:
    bucket.round()
    bucket.evaluate()
    bucket.deliver()
    pause(bucket.store, by="p-eve", reason="", now=bucket.now)
    bucket.wait(WEEK)

    assert bucket.act() == ()
    assert all(verb == "quarantine" for verb, _ in bucket.done())


def test_the_warning_says_what_is_touched_and_how_to_keep_it(bucket: Bucket) -> None:
    from policies.core.evaluate import evaluate

    bucket.round()
    bucket.evaluate()
    (finding,) = evaluate([bucket.policy], bucket.facts, NOW).findings
    tag, delete = bucket.actions()

    first = str(action_warning(finding, tag, people={}, now=bucket.now).blocks)
    second = str(action_warning(finding, delete, people={}, now=bucket.now).blocks)

    assert "tag (and not move) 2 checkpoints" in first
    assert "delete 2 checkpoints 7 d" in second
    assert "Remove the tag `gpucost-quarantine`" in second
    assert "a month: less where commitments" in second
    assert FIRST in second
