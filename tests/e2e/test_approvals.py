"""A large run asks for approval in Slack and gets its decision once."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from bot.views.approval_buttons import ANSWER, APPROVE, ASK, DENY, WORDS
from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.slack import SlackSandbox
from tests.e2e.conftest import Opens
from tests.e2e.support import Place, Served
from tests.e2e.world import APPROVALS, NEVER, NOW, company, later

PLACE = "gpu-approvals"
#: What a loaded machine may take.
LONG_S = 30.0


@pytest.fixture(scope="module")
def place(opens: Opens, aws: AwsSandbox, slack: SlackSandbox) -> Iterator[Place]:
    aws.reset(company(costs=[], instances=[], metrics=[]))
    with opens(slack, policies=APPROVALS, schedule=NEVER) as opened:
        opened.skip_first_reads()
        yield opened


@pytest.fixture(scope="module")
def served(place: Place, slack: SlackSandbox) -> Iterator[Served]:
    running = place.serve().ready()
    slack.wait_for(lambda: slack.connections, LONG_S)
    yield running
    running.stop()


def ask(slack: SlackSandbox, job: str, *, who: str = "mia") -> Any:
    text = f"request 32x p5.48xlarge 72h --job {job} --reason pretraining"
    return slack.command(who, "gpu-costs", text).wait_answer(LONG_S)


def cards(slack: SlackSandbox, job: str) -> list[Any]:
    return [one for one in slack.messages(PLACE) if job in str(one.blocks)]


def card(slack: SlackSandbox, job: str) -> Any:
    """Ask for a run and return its card."""
    ask(slack, job)
    (found,) = slack.wait_for(lambda: cards(slack, job), LONG_S)
    return found


REASON = {WORDS: "wait for spot"}


def request_id(message: Any) -> str:
    (block,) = [one for one in message.blocks if one["type"] == "actions"]
    return str(block["elements"][0]["value"]).partition(":")[0]


def has_buttons(message: Any) -> bool:
    return any(one["type"] == "actions" for one in message.blocks)


def decided(slack: SlackSandbox, message: Any, word: str) -> str:
    """Wait until a card was rewritten; return what it says."""
    slack.wait_for(lambda: message.text.startswith(word), LONG_S)
    return str(message.blocks)


def test_same_request_twice_posts_one_card(served: Served, slack: SlackSandbox) -> None:
    first, again = ask(slack, "twice-1"), ask(slack, "twice-1")
    slack.wait_for(lambda: cards(slack, "twice-1"), LONG_S)
    served.settled()

    assert "waits for a decision" in first.text
    assert again.text == first.text
    (only,) = cards(slack, "twice-1")
    assert has_buttons(only)
    assert "<@U0MIA>" in str(only.blocks)


def test_small_run_needs_nobody(served: Served, slack: SlackSandbox) -> None:
    text = "request 1x g5.xlarge 2h --job small-1 --reason smoke-test"
    told = slack.command("mia", "gpu-costs", text).wait_answer(LONG_S)
    served.settled()

    assert "No approval is needed" in told.text
    assert cards(slack, "small-1") == []


@pytest.mark.parametrize(
    ("who", "why"),
    [
        pytest.param("mia", "you asked for this", id="requester"),
        pytest.param("finn", "not among the approvers", id="outsider"),
        pytest.param("guest", "guests cannot approve", id="guest"),
        pytest.param("stranger", "", id="stranger"),
    ],
)
def test_click_without_the_right_is_refused(
    served: Served, slack: SlackSandbox, who: str, why: str
) -> None:
    message = card(slack, f"right-{who}")

    told = slack.click(who, message, APPROVE).wait_answer(LONG_S)

    assert told.ephemeral_to is not None
    assert why in told.text
    assert "$" not in told.text
    served.settled()
    assert has_buttons(message)
    assert message.text.startswith("Approval needed")


def test_approvers_click_decides_and_rewrites_the_card(
    served: Served, slack: SlackSandbox, place: Place
) -> None:
    message = card(slack, "large-9")
    wanted = request_id(message)

    slack.click("ada", message, APPROVE).wait_acked(LONG_S)

    assert "*Approved* by <@U0ADA>" in decided(slack, message, "Approved")
    assert not has_buttons(message)
    shown = place.json("approval", "show", wanted)
    assert (shown["state"], shown["votes"][0]["by"]) == ("approved", "ada@example.com")


def test_late_click_is_told_who_decided(served: Served, slack: SlackSandbox) -> None:
    message = card(slack, "late-9")
    button = deepcopy(message)  # as somebody sees it who was not updated yet
    slack.click("omar", message, DENY, written=REASON).wait_acked(LONG_S)
    decided(slack, message, "Denied")

    told = slack.click("ada", button, APPROVE).wait_answer(LONG_S)

    assert "Denied by <@U0OMAR>" in told.text
    assert message.text.startswith("Denied")


# C089
def test_two_approvers_at_once_decide_once(served: Served, slack: SlackSandbox) -> None:
    message = card(slack, "race-9")
    old = deepcopy(message)  # as somebody sees it who was not updated yet

    clicks = [
        slack.click("ada", old, APPROVE),
        slack.click("omar", old, DENY, written=REASON),
        slack.click("ada", old, APPROVE),
        slack.click("omar", old, DENY, written=REASON),
    ]
    slack.wait_for(lambda: not has_buttons(message), LONG_S)
    slack.wait_for(lambda: sum(len(one.responses) for one in clicks) == 3, LONG_S)
    served.settled()

    texts = {one.responses[0].text for one in clicks if one.responses}
    word = message.text.partition(":")[0]
    assert word in {"Approved", "Denied"}
    assert all(f"{word} by" in text for text in texts)
    assert len(message.versions) == 1


def test_a_denial_without_a_reason_decides_nothing(
    served: Served, slack: SlackSandbox
) -> None:
    message = card(slack, "reason-9")

    told = slack.click("ada", message, DENY).wait_answer(LONG_S)

    assert "needs a reason" in told.text
    served.settled()
    assert message.text.startswith("Approval needed")


def test_a_question_goes_to_the_requester_and_their_answer_back(
    served: Served, slack: SlackSandbox
) -> None:
    message = card(slack, "asked-9")

    asked = {WORDS: "why not spot?"}
    slack.click("ada", message, ASK, written=asked).wait_acked(LONG_S)
    waits = decided(slack, message, "Waits for an answer")
    answer = {WORDS: "no checkpoints yet"}
    slack.click("mia", message, ANSWER, written=answer).wait_acked(LONG_S)
    decided(slack, message, "Approval needed")

    assert "why not spot?" in waits
    served.settled()
    told = [
        one.text
        for one in slack.messages(message.channel)
        if one.thread_ts == message.ts
    ]
    assert len(told) == 2


def test_forged_button_decides_nothing(served: Served, slack: SlackSandbox) -> None:
    message = card(slack, "forged-9")
    value = f"{request_id(message)}:7"

    told = slack.click("ada", message, APPROVE, value).wait_answer(LONG_S)
    wild = slack.click("ada", message, APPROVE, "apr-1' OR 1=1").wait_answer(LONG_S)

    assert "decide on its new card" in told.text
    assert "not one of mine" in wild.text
    assert message.text.startswith("Approval needed")


def test_wait_tells_the_decision_by_its_exit_code(
    served: Served, slack: SlackSandbox, place: Place
) -> None:
    message = card(slack, "wait-9")
    wanted = request_id(message)
    pending = place.run("approval", "wait", wanted, "--timeout", "0s")
    waiting = place.start("approval", "wait", wanted, "--timeout", "60s")

    slack.click("omar", message, APPROVE).wait_acked(LONG_S)

    assert pending.code == 4
    assert waiting.wait(LONG_S) == 0


def test_denied_request_leaves_with_three(
    served: Served, slack: SlackSandbox, place: Place
) -> None:
    message = card(slack, "no-9")
    wanted = request_id(message)
    slack.click("omar", message, DENY, written=REASON).wait_acked(LONG_S)
    decided(slack, message, "Denied")

    assert place.run("approval", "wait", wanted).code == 3


def test_audit_chain_of_all_this_is_whole(
    served: Served, slack: SlackSandbox, place: Place
) -> None:
    verified = place.json("audit", "verify")

    assert verified["problems"] == []
    assert verified["events"] > 0


def test_clicks_rang_nobody_but_through_cards(
    served: Served, slack: SlackSandbox
) -> None:
    channels = {one.channel for one in slack.rings}

    assert channels <= {"C0APPROVE"}


# Last: it moves the clock of this installation.
def test_undecided_request_expires_and_is_denied_by_default(
    served: Served, slack: SlackSandbox, place: Place
) -> None:
    message = card(slack, "lapse-9")
    old, wanted = deepcopy(message), request_id(message)

    place.set_clock(later(NOW, hours=24, minutes=1))

    decided(slack, message, "Expired")
    assert not has_buttons(message)
    late = slack.click("ada", old, APPROVE).wait_answer(LONG_S)
    assert "Expired" in late.text
    assert place.run("approval", "wait", wanted).code == 3
