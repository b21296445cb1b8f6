"""What Slack refuses, and who hears of it: the application beside both doubles."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from bot.ports import Message
from bot.use_cases.digest import DigestScope, queue_digest
from bot.use_cases.estimate import plan_of
from bot.wiring.slack_side import SlackSide
from deploy.sandbox.slack import PostLimit, SlackSandbox
from tests.builders_policies import policies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cases.place import Place

WEEK = DigestScope(since=date(2026, 4, 6))
APPROVALS = """
- name: approve-large-runs
  kind: approval
  over: $10,000
  approvers: {}
"""
RUN = plan_of(
    instance_type="p5.48xlarge", count=32, hours="72", purchase="on-demand",
    region="us-east-1", job="llm-7", is_time_limit=False,
)  # fmt: skip


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlackSandbox]:
    with SlackSandbox(post_limit=PostLimit(per_s=None)) as sandbox:
        app = sandbox.workspace.app
        monkeypatch.setenv("SLACK_API_URL", sandbox.api_url)
        monkeypatch.setenv("SLACK_BOT_TOKEN", app.bot_token)
        monkeypatch.setenv("SLACK_SIGNING_SECRET", app.signing_secret)
        yield sandbox


@contextmanager
def sending(place: Place) -> Iterator[None]:
    """Run what of `gpucost serve` makes stored effects."""
    side = SlackSide(place.application, "test", Event())
    side.start()
    try:
        yield
    finally:
        side.close()


def settled(place: Place) -> bool:
    with place.store.read() as unit:
        depth = unit.outbox.depth()
    return not depth.get("pending") and not depth.get("sending")


def texts(messages: list[Any]) -> list[str]:
    return [one.text for one in messages]


# C113
def test_an_archived_channel_costs_the_others_nothing_and_admins_hear_once(
    place: Place, slack: SlackSandbox
) -> None:
    place.config["slack"] = {"mode": "http", "alerts": "C0COSTS", "admins": ["@root"]}
    digest = [Message(text="Week 15", blocks=())]

    with sending(place):
        for channel in ("C0COSTS", "C0OLD", "C0APPROVE"):
            queue_digest(
                place.store, channel=channel, scope=WEEK, messages=digest, now=place.now
            )
        direct = slack.wait_for(lambda: direct_to(slack, "U0ROOT"))
        slack.wait_for(lambda: settled(place))

    assert texts(slack.messages("C0COSTS")) == ["Week 15"]
    assert texts(slack.messages("C0APPROVE")) == ["Week 15"]
    (told,) = direct
    assert "<#C0OLD>" in str(told.blocks)
    assert "is_archived" in str(told.blocks)
    with place.store.read() as unit:
        row = unit.outbox.find(f"digest:C0OLD:{WEEK.label}:")
    assert row is not None
    assert row.state == "failed"


def direct_to(slack: SlackSandbox, person: str) -> list[Any]:
    """Return what stands in somebody's conversation with us."""
    return [
        one
        for channel in slack.workspace.channels
        if channel.is_im and person in channel.members
        for one in slack.messages(channel.id)
    ]


# C092
@pytest.mark.parametrize(
    ("approvers", "warned"),
    [(["@mia"], True), (["@gone"], True), (["@mia", "@ada"], False)],
    ids=["requester", "left", "somebody-else"],
)
def test_a_request_nobody_may_decide_is_said_at_once(
    place: Place, slack: SlackSandbox, approvers: list[str], *, warned: bool
) -> None:
    place.config["slack"] = {"approvals": "C0APPROVE", "admins": ["@root"]}
    desk = replace(
        place.application.desk, policies=lambda: policies(APPROVALS.format(approvers))
    )
    mia = desk.directory.person("U0MIA")
    assert mia is not None

    filed = desk.file(RUN, requester=mia, caller=mia.person_id, reason="pretraining")

    with place.store.read() as unit:
        told = unit.outbox.find(f"approval:{filed.request_id}:1:nobody")
    assert (told is not None) is warned
    said = str(told.message.payload) if told else ""
    assert ("<@U0MIA>" in said and "<@U0ROOT>" in said) is warned
