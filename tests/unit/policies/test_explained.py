"""What every policy makes of one subject."""

from __future__ import annotations

from datetime import timedelta

from policies.core.explained import Explained, UnknownSubjectError, explained
from policies.core.facts import Facts
from tests.builders_policies import (
    NOW,
    idle_instance,
    make_facts,
    make_instance,
    make_job,
    policy,
)

POLICIES = [
    policy("name: idle\nkind: idle"),
    policy("name: other-team\nkind: idle\nwhere: job.team == 'vision'"),
    policy("name: spend\nkind: job-spend\nover: $5,000"),
    policy("name: ttl\nkind: ttl\ndefault: 7d"),
]


def said(answer: Explained | None) -> dict[str, str]:
    assert answer is not None
    return {one.policy: one.outcome for one in answer.rulings}


def ask(facts: Facts, subject: str = "job-123") -> Explained | None:
    return explained(POLICIES, facts, subject, NOW)


def test_every_policy_says_what_it_makes_of_a_job() -> None:
    facts = make_facts(idle_instance(), jobs=[make_job(spent=None)])

    assert said(ask(facts)) == {
        "idle": "finding",
        "other-team": "not about it",
        "spend": "unknown",
        "ttl": "fine",
    }


def test_other_subjects_do_not_count() -> None:
    facts = make_facts(
        idle_instance("i-1"),
        make_instance("i-2", job="job-9", running_for=timedelta(days=30)),
        jobs=[make_job(), make_job("job-9", spent="99999")],
    )

    assert said(ask(facts))["spend"] == "fine"
    assert said(ask(facts, "job-9"))["spend"] == "finding"


def test_known_values_are_shown_and_unknown_ones_left_out() -> None:
    answer = ask(make_facts(jobs=[make_job(spent=None)]))

    assert answer is not None
    assert answer.values["job.team"] == "nlp"
    assert "job.spent" not in answer.values


def test_a_name_nobody_knows_has_no_explanation_and_near_names() -> None:
    facts = make_facts(jobs=[make_job()])

    assert ask(facts, "job-12") is None
    assert UnknownSubjectError("job-12", facts).suggestions == ("job-123",)
