"""Actions: planned once, due after their warning, spared for any doubt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from policies.core.actions import (
    FINAL,
    TRIES_MAX,
    Action,
    ActionState,
    Live,
    due_at,
    plan,
    policy_hash,
    why_cancelled,
    why_changed,
    why_not_yet,
    why_spared,
)
from policies.core.catalogue import Policy
from policies.core.evaluate import evaluate
from policies.core.finding import Evaluation, Finding, Target
from tests.builders_policies import NOW, idle_instance, make_facts, policy

ENFORCED = """
    name: stop-idle
    kind: idle
    mode: enforce
    steps: [warn, {after: 15m, do: stop}]
    limits: {max_actions: 5, max_share: 100%}
"""
STARTED = NOW - timedelta(hours=12)
LIVE = Live(
    state="running",
    tags=(("gpucost-managed", "true"), ("job-id", "job-123")),
    started_at=STARTED,
    is_protected=False,
    skew=timedelta(),
)
TARGET = Target(
    resource_id="i-1", account="012345678901", region="us-east-1",
    manager="ec2", lifecycle="on-demand", started_at=STARTED,
)  # fmt: skip


def found(text: str = ENFORCED) -> tuple[Policy, Evaluation, Finding]:
    one = policy(text)
    evaluation = evaluate([one], make_facts(idle_instance()), NOW)
    return one, evaluation, evaluation.findings[0]


def planned(*known: Action, text: str = ENFORCED) -> list[Action]:
    one, evaluation, finding = found(text)
    return plan(evaluation, [one], {finding.fingerprint: NOW}, known)


def test_an_enforcing_policys_finding_is_planned_with_its_resources() -> None:
    (action,) = planned()

    assert (action.verb, action.after) == ("stop", timedelta(minutes=15))
    assert [one.resource_id for one in action.targets] == ["i-1"]


@pytest.mark.parametrize("mode", ["observe", "notify"])
def test_no_other_mode_plans_anything(mode: str) -> None:
    assert planned(text=ENFORCED.replace("enforce", mode)) == []


@pytest.mark.parametrize("state", sorted(set(ActionState) - FINAL | {ActionState.DONE}))
def test_what_waits_runs_or_was_done_is_not_planned_again(state: ActionState) -> None:
    (action,) = planned()

    assert planned(replace(action, state=state)) == []


def test_what_failed_is_planned_again_after_an_hour_as_another_action() -> None:
    (action,) = planned()
    failed = replace(action, state=ActionState.FAILED)

    recent = replace(failed, ended_at=NOW - timedelta(minutes=59))
    old = replace(failed, ended_at=NOW - timedelta(minutes=60))

    assert planned(recent) == []
    (again,) = planned(old)
    assert again.action_id != action.action_id


def test_tries_come_to_an_end() -> None:
    (action,) = planned()
    long_ago = NOW - timedelta(days=1)
    failed = replace(action, state=ActionState.FAILED, ended_at=long_ago)

    assert planned(*[failed] * TRIES_MAX) == []


def test_the_next_step_follows_the_one_that_was_done() -> None:
    text = ENFORCED.replace(
        "{after: 15m, do: stop}]", "{after: 15m, do: stop}, {after: 1d, do: terminate}]"
    )
    (stop,) = planned(text=text)

    (then,) = planned(replace(stop, state=ActionState.DONE), text=text)

    assert then.verb == "terminate"


def test_without_a_delivered_warning_nothing_is_ever_due() -> None:
    (action,) = planned()

    assert due_at(action, None) is None


def test_the_delay_counts_from_the_delivery() -> None:
    (action,) = planned()
    delivered = NOW + timedelta(hours=1)

    assert due_at(action, delivered) == delivered + timedelta(minutes=15)


def test_the_hash_changes_with_what_a_policy_says_and_with_nothing_else() -> None:
    one, same = policy(ENFORCED), policy(ENFORCED)
    other = policy(ENFORCED.replace("15m", "16m"))

    assert policy_hash(one) == policy_hash(same) != policy_hash(other)


def test_a_waiting_action_is_called_off_when_its_reason_is_gone() -> None:
    one, _, finding = found()
    (action,) = planned()
    softer = policy(ENFORCED.replace("enforce", "notify"))
    other = policy(ENFORCED.replace("15m", "16m"))

    still = {finding.fingerprint}
    assert why_cancelled(action, [one], still) == ""
    assert why_cancelled(action, [one], set()) == "the finding is resolved"
    assert why_cancelled(action, [], still) == "its policy no longer enforces"
    assert why_cancelled(action, [softer], still) == "its policy no longer enforces"
    assert why_cancelled(action, [other], still) == "its policy has changed"


@pytest.mark.parametrize(
    ("people", "paused_by", "can_act", "may"),
    [
        (["p-ada", "p-bob"], "", True, True),
        (["p-ada", "p-ada"], "", True, False),
        (["p-ada"], "", True, False),
        ([], "", True, False),
        (["p-ada", "p-bob"], "p-eve", True, False),
        (["p-ada", "p-bob"], "", False, False),
    ],
)
def test_a_policy_acts_after_two_admins_when_not_paused_and_with_a_role(
    *, people: list[str], paused_by: str, can_act: bool, may: bool
) -> None:
    reason = why_not_yet(policy(ENFORCED), people, paused_by=paused_by, can_act=can_act)

    assert (reason == "") is may


def test_a_fresh_judgement_must_call_for_the_same() -> None:
    _, _, finding = found()
    (action,) = planned()

    assert why_changed(action, finding) == ""
    assert "no longer holds" in why_changed(action, None)
    assert "no longer calls" in why_changed(action, replace(finding, actions=()))
    assert "other resources" in why_changed(action, replace(finding, targets=()))


def doubts() -> Iterator[Live]:
    yield Live(state="", skew=timedelta())
    for state in ("pending", "stopping", "stopped", "shutting-down", "terminated"):
        yield replace(LIVE, state=state)
    yield replace(LIVE, tags=(("job-id", "job-123"),))
    yield replace(LIVE, tags=(("gpucost-managed", "false"),))
    yield replace(LIVE, tags=(*LIVE.tags, ("gpucost-keep", "yes")))
    yield replace(LIVE, tags=(*LIVE.tags, ("Do-Not-Stop", "1")))
    yield replace(LIVE, started_at=None)
    yield replace(LIVE, started_at=NOW)
    yield replace(LIVE, is_protected=None)
    yield replace(LIVE, skew=None)
    yield replace(LIVE, skew=timedelta(seconds=61))
    yield replace(LIVE, skew=timedelta(seconds=-61))


@pytest.mark.parametrize(
    ("live", "verb"), list(product(doubts(), ["stop", "terminate"]))
)
def test_any_doubt_spares_a_machine(live: Live, verb: str) -> None:
    assert why_spared(TARGET, live, verb=verb) != ""


def test_a_machine_without_a_doubt_may_be_touched() -> None:
    assert why_spared(TARGET, LIVE, verb="stop") == ""
    assert why_spared(TARGET, LIVE, verb="terminate") == ""


def test_termination_protection_forbids_ending_not_stopping() -> None:
    protected = replace(LIVE, is_protected=True)

    assert why_spared(TARGET, protected, verb="stop") == ""
    assert "protected" in why_spared(TARGET, protected, verb="terminate")
