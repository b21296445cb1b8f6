"""A spot warning: who, what, when, and what there is left to do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.views.events import Interruption, interruption_warning
from tests.builders import ACCOUNT, REGION, ZONE, at

SAID = at("2026-11-30T10:03:20Z")
WARNED = Interruption(
    instance="i-0abc",
    instance_type="p5.48xlarge",
    account=ACCOUNT,
    region=REGION,
    zone=ZONE,
    action="terminate",
    at=SAID,
    until=SAID + timedelta(minutes=2),
    job="job-123",
    team="nlp",
    owner="mia@example.com",
    started_at=SAID - timedelta(hours=5),
    others=31,
)


def told(warned: Interruption, *, after_s: float = 1.0) -> str:
    now = SAID + timedelta(seconds=after_s)
    message = interruption_warning(warned, people={}, now=now)
    return f"{message.text}\n{message.blocks}"


def test_a_warning_says_all_there_is_to_know() -> None:
    text = told(WARNED)

    for wanted in (
        "mia@example.com: AWS terminates `i-0abc` at *10:05:20 UTC*, in 2 minutes.",
        "Save a checkpoint now.",
        "p5.48xlarge",
        f"{ZONE}, {ACCOUNT}",
        "`job-123`",
        "`nlp`",
        "31 other instances of the job",
        "EC2 said so at 10:03:20 UTC.",
    ):
        assert wanted in text


@pytest.mark.parametrize(
    ("after_s", "left", "is_advised"),
    [(75, "in 45 seconds", True), (119, "in 1 second", True), (125, "passed", False)],
)
def test_what_is_left_is_told_and_no_advice_comes_too_late(
    after_s: float, left: str, *, is_advised: bool
) -> None:
    text = told(WARNED, after_s=after_s)

    assert left in text
    assert ("Save a checkpoint" in text) is is_advised


def test_hibernation_has_begun() -> None:
    text = told(replace(WARNED, action="hibernate", until=SAID))

    assert "AWS hibernates `i-0abc`" in text


def test_an_instance_in_its_first_hour_is_not_charged() -> None:
    young = replace(WARNED, started_at=SAID - timedelta(minutes=20))

    assert "AWS does not charge for it" in told(young)
    assert "AWS does not charge for it" not in told(WARNED)


def test_what_is_unknown_is_left_out() -> None:
    unknown = replace(
        WARNED, job="", team="", owner="", instance_type="", zone="", started_at=None,
        others=None,
    )  # fmt: skip

    text = told(unknown)

    assert "none: no job tag" in text
    assert f"{REGION}, {ACCOUNT}" in text
    assert "Left running" not in text


def test_the_words_of_strangers_ring_nobody() -> None:
    hostile = replace(
        WARNED, job="<!channel>", team="<@U0MIA>", owner="<!here>", action="<!here>"
    )

    message = interruption_warning(hostile, people={}, now=SAID)
    text = f"{message.text}\n{message.blocks[1:]}"  # A heading is plain text.

    for mention in ("<!channel>", "<!here>", "<@U0MIA>"):
        assert mention not in text
