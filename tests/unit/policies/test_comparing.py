"""What a change of policies changes, written and found."""

from __future__ import annotations

from policies.core.comparing import finding_changes, key_changes
from policies.core.evaluate import evaluate
from tests.builders_policies import NOW, idle_instance, make_facts, policy

IDLE = "name: idle\nkind: idle\nfor: 30m"
TTL = "name: ttl\nkind: ttl"


def test_a_changed_key_is_named_with_both_values() -> None:
    changes = key_changes([policy(IDLE)], [policy(IDLE.replace("30m", "1h"))])

    assert [(one.policy, one.key, one.before, one.after) for one in changes] == [
        ("idle", "for", "30m", "1h")
    ]


def test_policies_that_came_and_went_are_named() -> None:
    changes = key_changes([policy(IDLE)], [policy(TTL)])

    assert [(one.policy, one.before, one.after) for one in changes] == [
        ("idle", "idle", ""),
        ("ttl", "", "ttl"),
    ]


def test_layout_and_defaults_written_out_change_nothing() -> None:
    assert key_changes([policy(IDLE)], [policy(IDLE + "\nmode: observe")]) == []


def test_what_is_found_differently_on_the_same_facts_is_named() -> None:
    facts = make_facts(idle_instance())
    old = evaluate([policy(IDLE)], facts, NOW)
    new = evaluate([policy(IDLE + "\nwhere: job.team == 'none'")], facts, NOW)

    (change,) = finding_changes(old, new)

    assert (change.policy, change.subject) == ("idle", "job-123")
    assert change.before is not None
    assert change.after is None


def test_the_same_findings_are_no_change() -> None:
    facts = make_facts(idle_instance())
    found = evaluate([policy(IDLE)], facts, NOW)

    assert finding_changes(found, found) == []
