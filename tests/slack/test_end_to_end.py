"""The real app over Socket Mode and HTTP against the Slack double."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from slack_sdk import WebClient

from bot.ports import Message, OutboxMessage
from bot.slack.answering import payload_of
from bot.slack.app import build_app
from bot.slack.canonical import canonical_text
from bot.slack.client import connect
from bot.slack.handlers import Ask, ClickOutcome, Handlers
from bot.slack.notifier import SlackNotifier
from bot.slack.socket_mode import run_socket_mode
from bot.slack.work import WorkPool
from bot.views.approval import approval_card, decided_card
from bot.views.approval_buttons import APPROVE
from bot.views.asked import REFRESH, SHARE, with_buttons
from bot.views.cost import cost_answer
from bot.views.errors import note
from bot.views.refusal import already_decided
from deploy.sandbox.slack import SlackSandbox
from policies.core.approvals import RequestState
from tests.builders_bot import NOW, PEOPLE, make_job_answer, make_request, make_vote
from tests.slack.support import Recorded

STOP_S_MAX = 10


def answer_about_a_job(ask: Ask) -> tuple[Message, ...]:
    return (cost_answer(make_job_answer(job=ask.question.target)),)


@contextmanager
def running(
    slack: SlackSandbox, client: WebClient, handlers: Handlers
) -> Iterator[threading.Event]:
    pool, stop = WorkPool(), threading.Event()
    app = build_app(client=client, home=connect(client), handlers=handlers, work=pool)
    thread = threading.Thread(
        target=run_socket_mode,
        args=(app, slack.workspace.app.app_token, stop),
        kwargs={"first_wait_s": 0.05, "ping_interval_s": 0.5},
        daemon=True,
    )
    thread.start()
    slack.wait_for(lambda: slack.connections)
    try:
        yield stop
    finally:
        stop.set()
        thread.join(STOP_S_MAX)
        pool.close()
        assert not thread.is_alive()


def test_command_is_answered_over_socket_mode(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded(answer=answer_about_a_job)

    with running(slack, client, recorded.handlers()):
        interaction = slack.command("U0MIA", "gpu-costs", "job-123")
        message = interaction.wait_response()

    assert interaction.is_acked
    assert message.ephemeral_to == "U0MIA"
    assert message.text.startswith("job-123: $14,089.02")
    assert recorded.failures == []


# C102
def test_slow_answer_is_acknowledged_in_time_and_comes_later(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded, release = Recorded(), threading.Event()

    def slow(ask: Ask) -> tuple[Message, ...]:
        release.wait(5)
        return answer_about_a_job(ask)

    recorded.answer = slow
    with running(slack, client, recorded.handlers()):
        interaction = slack.command("U0MIA", "gpu-costs", "job-123").wait_acked()
        assert interaction.responses == []
        release.set()
        interaction.wait_response()

    assert interaction.person_saw is None


# C089: the application decides once; the double click is told who decided
def test_card_is_approved_once_and_rewritten(
    slack: SlackSandbox, client: WebClient
) -> None:
    notifier, recorded = SlackNotifier(client), Recorded()
    card = payload_of(approval_card(make_request(), people=PEOPLE, now=NOW))
    effect = OutboxMessage(key="card", kind="post", channel="C0APPROVE", payload=card)
    posted = notifier.deliver(effect)
    approved = make_request(
        state=RequestState.APPROVED, decided_at=NOW, votes=(make_vote(),)
    )
    handlers = recorded.handlers()

    def click(click: Any) -> ClickOutcome:
        recorded.clicks.append(click)
        if len(recorded.clicks) > 1:
            return ClickOutcome(note=already_decided(approved, people=PEOPLE))
        update = payload_of(decided_card(approved, people=PEOPLE))
        notifier.deliver(
            OutboxMessage(
                key="card:2",
                kind="update",
                channel="C0APPROVE",
                payload=update,
                ref="card",
            ),
            target_ts=posted.ts,
        )
        return ClickOutcome()

    with running(slack, client, _with_click(handlers, click)):
        (message,) = slack.messages("gpu-approvals")
        first = slack.click("U0ADA", message, APPROVE)
        second = slack.click("U0OMAR", message, APPROVE)
        slack.wait_for(lambda: message.text.startswith("Approved"))
        slack.wait_for(lambda: first.responses or second.responses)

    (told,) = first.responses + second.responses
    assert "Approved by <@U0ADA>" in told.text
    assert [click.request_id for click in recorded.clicks] == ["apr-7k2m9q"] * 2


def _with_click(handlers: Handlers, click: Any) -> Handlers:
    return Handlers(
        now=handlers.now,
        click=click,
        enqueue=handlers.enqueue,
        refused=handlers.refused,
        failed=handlers.failed,
        answers=handlers.answers,
        seen=handlers.seen,
    )


def shareable(ask: Ask) -> tuple[Message, ...]:
    """Answer about a job whose name would ring everybody, with buttons."""
    asked = canonical_text(ask.question, ask.now)
    answer = make_job_answer(job=f"{ask.question.target}<!channel>")
    return (with_buttons(cost_answer(answer), asked),)


# C108
def test_answer_is_shared_in_its_channel_once_and_rings_nobody_else(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded(answer=shareable)

    with running(slack, client, recorded.handlers()):
        seen = slack.command("U0MIA", "gpu-costs", "job-123 7d").wait_response()
        first = slack.click("U0MIA", seen, SHARE)
        second = slack.click("U0MIA", seen, SHARE)
        slack.wait_for(lambda: first.responses or second.responses)

    (told,) = first.responses + second.responses
    (effect,) = recorded.effects.values()
    SlackNotifier(client).deliver(effect)
    (post,) = slack.messages("gpu-costs")
    assert "shared before" in told.text
    assert told.ephemeral_to == "U0MIA"
    assert post.ephemeral_to is None
    assert post.text.startswith("<@U0MIA> shared: job-123")
    assert {one.target for one in post.rings} == {"U0MIA"}
    assert "/gpucost job-123 2026-11-23..2026-11-29" in str(post.blocks[0])
    assert not any(block["type"] == "actions" for block in post.blocks)


def test_refresh_takes_the_place_of_the_answer(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded(answer=shareable)

    with running(slack, client, recorded.handlers()):
        seen = slack.command("U0MIA", "gpu-costs", "job-123").wait_response()
        slack.click("U0MIA", seen, REFRESH).wait_response()

    assert len(recorded.asks) == 2
    (message,) = slack.ephemerals("U0MIA")
    assert len(message.versions) == 1
    assert message.blocks[-1]["type"] == "actions"


def test_refresh_whose_url_is_dead_is_a_new_private_answer(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded(answer=shareable)

    with running(slack, client, recorded.handlers()):
        seen = slack.command("U0MIA", "gpu-costs", "job-123").wait_response()
        slack.fault("fail", "response_url", status=404, times=2)
        slack.click("U0MIA", seen, REFRESH)
        slack.wait_for(lambda: len(slack.ephemerals("U0MIA")) > 1)

    assert len(slack.calls("chat.postEphemeral")) == 1
    assert slack.messages("gpu-costs") == []


def test_refresh_that_is_refused_leaves_the_answer_that_was_there(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded(answer=shareable)

    with running(slack, client, recorded.handlers()):
        seen = slack.command("U0MIA", "gpu-costs", "job-123").wait_response()
        recorded.answer = lambda _: (note("no such job"),)
        slack.click("U0MIA", seen, REFRESH).wait_response()

    assert [one.text for one in slack.ephemerals("U0MIA")] == [seen.text, "no such job"]


# C098
@pytest.mark.parametrize(
    ("channel", "why"),
    [("with-partner", "another organisation"), ("random", "I am not in this")],
)
def test_nothing_is_shared_with_partners_or_where_we_are_not(
    channel: str, why: str, slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded(answer=shareable)

    with running(slack, client, recorded.handlers()):
        seen = slack.command("U0MIA", channel, "job-123").wait_response()
        told = slack.click("U0MIA", seen, SHARE).wait_response()

    assert recorded.effects == {}
    assert why in told.text


# C098
def test_stranger_in_a_shared_channel_is_refused(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded()
    card = payload_of(approval_card(make_request(), people=PEOPLE, now=NOW))
    effect = OutboxMessage(key="card", kind="post", channel="C0SHARED", payload=card)
    SlackNotifier(client).deliver(effect)

    with running(slack, client, recorded.handlers()):
        (message,) = slack.messages("with-partner")
        told = slack.click("U0EXT", message, APPROVE).wait_response()

    assert recorded.clicks == []
    assert "$" not in told.text
    assert recorded.refusals[0].asker.team_id == "T0OTHER"


# C100
def test_mention_delivered_twice_is_answered_once(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded()
    slack.fault("duplicate", "events_api")

    with running(slack, client, recorded.handlers()):
        slack.mention("U0MIA", "gpu-costs", "job-123")
        slack.wait_for(lambda: len(recorded.asks) >= 2)

    assert len(recorded.effects) == 1


def test_app_connects_again_after_slack_hangs_up(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded()

    with running(slack, client, recorded.handlers()):
        before = slack.connections[0]
        slack.disconnect()
        slack.wait_for(lambda: any(one is not before for one in slack.connections), 8)
        slack.command("U0MIA", "gpu-costs", "job-123").wait_response(8)


def test_app_waits_for_slack_to_come_back(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded, home = Recorded(), connect(client)
    slack.outage(on=True)
    stop = threading.Event()
    app = build_app(
        client=client, home=home, handlers=recorded.handlers(), work=WorkPool(workers=1)
    )
    arguments = (app, slack.workspace.app.app_token, stop)
    thread = threading.Thread(
        target=run_socket_mode,
        args=arguments,
        kwargs={"first_wait_s": 0.05, "ping_interval_s": 0.5},
        daemon=True,
    )

    thread.start()
    slack.outage(on=False)
    slack.wait_for(lambda: slack.connections, 8)

    stop.set()
    thread.join(STOP_S_MAX)
    assert not thread.is_alive()


@pytest.mark.parametrize("burst", [200])
def test_burst_of_commands_is_acknowledged_in_time(
    burst: int, client: WebClient, slack: SlackSandbox
) -> None:
    recorded = Recorded(answer=answer_about_a_job)

    with running(slack, client, recorded.handlers()):
        sent = [
            slack.command("U0MIA", "gpu-costs", f"job-{index}")
            for index in range(burst)
        ]
        for interaction in sent:
            interaction.wait_response(30)

    assert all(one.person_saw is None for one in sent)
    assert recorded.failures == []
