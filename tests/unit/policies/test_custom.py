"""The kind `custom`: a condition of one's own."""

from __future__ import annotations

from policies.core.evaluate import evaluate
from policies.core.facts import Facts
from policies.core.finding import Evaluation, Severity
from policies.load import load_text
from tests.builders_policies import NOW, make_facts, make_instance, make_job, policy

SAY = "say: Look at it."


def judged(facts: Facts, *lines: str) -> Evaluation:
    return evaluate(
        [policy("\n".join(("name: own", "kind: custom", *lines)))], facts, NOW
    )


def test_a_job_for_which_the_condition_holds_is_found_with_its_values() -> None:
    result = judged(
        make_facts(jobs=[make_job(spent="6000"), make_job("job-9", spent="4000")]),
        'when: job.spent > usd("5000")', SAY, "severity: critical",
    )  # fmt: skip

    (finding,) = result.findings
    assert finding.job == "job-123"
    assert finding.severity is Severity.CRITICAL
    assert [(one.name, one.value) for one in finding.evidence] == [
        ("job.spent", "$6,000.00")
    ]


def test_an_unknown_value_is_unknown_not_false() -> None:
    result = judged(
        make_facts(jobs=[make_job(spent=None)]), 'when: job.spent > usd("5")', SAY
    )

    assert result.findings == ()
    assert [one.missing for one in result.unknown] == ["job.spent"]


def test_each_instance_is_a_finding_of_its_own() -> None:
    facts = make_facts(make_instance("i-1"), make_instance("i-2"))

    result = judged(
        facts, "subject: instance", 'when: instance.region == "us-east-1"', SAY
    )

    assert [one.subject.id for one in result.findings] == ["i-1", "i-2"]


def test_stale_facts_are_unknown_for_instances() -> None:
    facts = make_facts(make_instance(), stale=[("012345678901", "us-east-1")])

    result = judged(facts, "subject: instance", "when: instance.gpus > 0", SAY)

    assert (len(result.findings), len(result.unknown)) == (0, 1)


def test_a_job_has_no_fields_of_an_instance() -> None:
    _, errors = load_text(
        "policies:\n  - name: a\n    kind: custom\n    when: instance.gpus > 1\n"
        "    say: x\n"
    )

    (error,) = errors
    assert str(error) == (
        "policies.yaml:4:11: policy 'a': when: 'instance.gpus' needs subject: instance; "
        "a job has job.* only"
    )
