"""`where:` is type-checked when loaded, and unknown when a value is unknown."""

from __future__ import annotations

import pytest

from policies.core.conditions import (
    INSTANCE_FIELDS,
    JOB_FIELDS,
    ConditionError,
    compile_condition,
)

FIELDS = (*JOB_FIELDS, *INSTANCE_FIELDS)


def holds(text: str, **values: object) -> bool | None:
    known = {name.replace("__", "."): value for name, value in values.items()}
    return compile_condition(text, FIELDS).holds(known)


def test_a_condition_is_evaluated() -> None:
    assert holds('job.env != "prod"', job__env="dev") is True
    assert holds('job.env != "prod"', job__env="prod") is False


def test_an_unknown_value_is_unknown_and_not_false() -> None:
    assert holds('job.env != "prod"') is None
    assert holds('job.env == "prod"') is None


def test_logic_needs_only_what_decides() -> None:
    text = 'job.env == "prod" || job.id == "a"'

    assert holds(text, job__id="a") is True
    assert holds(text, job__id="b") is None


def test_a_missing_tag_is_unknown() -> None:
    assert holds('instance.tags["keep"] == "yes"', instance__tags={}) is None
    guarded = '"keep" in instance.tags && instance.tags["keep"] == "yes"'
    assert holds(guarded, instance__tags={}) is False


def test_money_is_compared_exactly() -> None:
    text = 'job.spent > usd("$10,000")'

    assert holds(text, job__spent=10_000 * 10**9) is False
    assert holds(text, job__spent=10_000 * 10**9 + 1) is True


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ('job.evn != "prod"', 1, 1, "'job.evn'"),
        ('job.id == "a" && job.evn != "prod"', 1, 18, "'job.evn'"),
        ('job.env = "prod"', 1, 9, "=="),
        ("job.env == 3", 1, 9, "string, int"),
        ("job.env", 1, 1, "true or false"),
        ('job.spent > usd("1,5")', 1, 17, "'1,5'"),
        ("", 1, 1, "CEL"),
        ('job.id == "a" &&\n job.env == 3', 2, 10, "string, int"),
        ("(" * 1500, 1, 1, "CEL"),
        ("has(job.env)", 1, 1, ""),
    ],
)
def test_what_cannot_be_checked_is_refused_with_its_place(
    text: str, line: int, column: int, said: str
) -> None:
    with pytest.raises(ConditionError) as caught:
        compile_condition(text, FIELDS)

    assert (caught.value.line, caught.value.column) == (line, column) or not said
    assert said in str(caught.value)


def test_a_field_of_another_subject_is_refused() -> None:
    with pytest.raises(ConditionError):
        compile_condition('instance.type == "p5"', tuple(JOB_FIELDS))


def test_a_long_condition_is_refused() -> None:
    with pytest.raises(ConditionError):
        compile_condition('job.id == "' + "a" * 3000 + '"', FIELDS)


# H10
def test_a_hostile_pattern_takes_no_time() -> None:
    assert holds('job.id.matches("(a+)+$")', job__id="a" * 50_000 + "b") is False


def test_a_condition_names_what_was_missing() -> None:
    condition = compile_condition('job.env != "job.team" && job.id != ""', FIELDS)

    assert condition.names == ("job.env", "job.id")
    assert condition.missing({"job.id": "a"}) == "job.env"
