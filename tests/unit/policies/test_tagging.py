"""The kind `tagging`: required keys, allowed values, time to set them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from policies.core.evaluate import evaluate
from policies.core.facts import InstanceFacts
from policies.core.finding import Evaluation
from tests.builders_policies import NOW, make_facts, make_instance, policy


def judged(machine: InstanceFacts, *lines: str) -> Evaluation:
    text = "\n".join(("name: tags", "kind: tagging", *lines))
    return evaluate([policy(text)], make_facts(machine), NOW)


def said(result: Evaluation) -> list[str]:
    return [text for one in result.findings for text in one.explanation[:-1]]


@pytest.mark.parametrize("missing", ["job", "team", "owner"])
def test_each_role_is_required_by_default(missing: str) -> None:
    machine = make_instance(**{missing: ""})  # type: ignore[arg-type] # one key

    assert said(judged(machine)) == [f"Tag {missing}: missing on 1 instance (i-1)."]


def test_what_says_everything_is_no_finding() -> None:
    assert judged(make_instance()).findings == ()


def test_another_key_is_compared_without_regard_to_case() -> None:
    machine = make_instance(tags={"Cost-Center": "4711"})

    assert judged(machine, "require: [cost-center]").findings == ()


def test_an_empty_value_is_no_value() -> None:
    machine = make_instance(tags={"cost-center": "  "})

    assert len(judged(machine, "require: [cost-center]").findings) == 1


def test_a_value_that_is_not_allowed_names_the_nearest() -> None:
    machine = make_instance(environment="prd")

    (sentence,) = said(judged(machine, "allowed: {environment: [prod, dev]}"))

    assert sentence == (
        "Tag environment: 'prd' is not allowed (perhaps 'prod') on 1 instance (i-1)."
    )


def test_an_allowed_key_that_is_not_required_may_be_absent() -> None:
    machine = make_instance(environment="")

    assert judged(machine, "allowed: {environment: [prod, dev]}").findings == ()


def test_there_is_time_to_tag_after_a_start() -> None:
    young = make_instance(owner="", running_for=timedelta(minutes=14))
    old = make_instance(owner="", running_for=timedelta(minutes=15))

    assert judged(young).findings == ()
    assert len(judged(old).findings) == 1
