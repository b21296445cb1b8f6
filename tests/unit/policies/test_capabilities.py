"""What fits which capacity, and how much one evaluation may act on."""

from __future__ import annotations

from fractions import Fraction

import pytest

from policies.core.capabilities import (
    INSTEAD,
    LIFECYCLES,
    MANAGERS,
    POSSIBLE,
    VERBS,
    allowance,
    manager_of,
    refusal_of,
    share_of,
)
from policies.core.document import Limits


def limits(actions: int = 10, share: Fraction = Fraction(1)) -> Limits:
    return Limits(max_actions=actions, max_share=share)


@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize("lifecycle", LIFECYCLES)
@pytest.mark.parametrize("verb", VERBS)
def test_every_refusal_has_a_reason(verb: str, lifecycle: str, manager: str) -> None:
    reason = refusal_of(verb, manager, lifecycle)

    assert reason is None or len(reason) > 20
    assert (reason is None) <= (verb in POSSIBLE[manager])


def test_every_manager_is_in_the_table() -> None:
    assert set(MANAGERS) == set(POSSIBLE) == set(INSTEAD)


def test_what_nobody_knows_is_refused() -> None:
    assert refusal_of("stop", "nomad", "on-demand") is not None
    assert refusal_of("stop", "ec2", "dedicated") is not None
    assert refusal_of("warn", "nomad", "dedicated") is None


@pytest.mark.parametrize(
    ("tags", "manager"),
    [
        ({}, "ec2"),
        ({"aws:autoscaling:groupName": "a"}, "asg"),
        (
            {"aws:autoscaling:groupName": "a", "eks:nodegroup-name": "b"},
            "eks-node-group",
        ),
        ({"karpenter.sh/nodepool": "gpu"}, "karpenter"),
    ],
)
def test_tags_tell_the_manager(tags: dict[str, str], manager: str) -> None:
    assert manager_of(tags) == manager


# C159
@pytest.mark.parametrize(
    "some", [limits(0), limits(1000, Fraction(0))], ids=["actions", "share"]
)
def test_zero_allows_nothing(some: Limits) -> None:
    allowed = allowance(900, 1000, some)

    assert allowed.allowed == 0
    assert allowed.reason == "900 findings, 0 allowed by limits"


@pytest.mark.parametrize(
    ("in_scope", "share", "number"),
    [(1000, Fraction(1, 5), 200), (9, Fraction(1, 5), 1), (3, Fraction(1, 20), 1)],
)
def test_a_share_is_rounded_down_to_at_least_one(
    in_scope: int, share: Fraction, number: int
) -> None:
    assert share_of(in_scope, share) == number


def test_nothing_in_scope_allows_nothing() -> None:
    assert share_of(0, Fraction(1)) == 0
