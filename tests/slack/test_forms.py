"""The form that asks for a run, against the Slack double over Socket Mode."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.slack.grammar import Question
from bot.slack.handlers import Asker, Handlers
from bot.views.my_day import MENTIONS, MyDay, home_view
from bot.views.request_form import TYPED, problems_told, read_form
from tests.builders_bot import NOW
from tests.slack.support import Recorded
from tests.slack.test_end_to_end import running

if TYPE_CHECKING:
    from slack_sdk import WebClient

    from deploy.sandbox.slack import SlackSandbox

FILLED = {
    "request_instance": {TYPED: "p5.48xlarge"},
    "request_count": {TYPED: "4"},
    "request_hours": {TYPED: "24h"},
    "request_job": {TYPED: "job-123"},
    "request_reason": {TYPED: "final run"},
}


def priced(_: Asker, question: Question) -> str:
    assert question.run is not None
    return f"*{question.run.count} machines* cost a lot"


def _handlers(recorded: Recorded) -> Handlers:
    return replace(recorded.handlers(), priced=priced)


def _opened(slack: SlackSandbox) -> Any:
    slack.command("U0MIA", "gpu-costs", "request")
    slack.wait_for(lambda: slack.open_views("U0MIA"))
    return slack.open_views("U0MIA")[-1]


def test_request_alone_opens_the_form_and_files_it_once(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded()
    with running(slack, client, _handlers(recorded)):
        view = _opened(slack)
        sent = slack.submit_view("U0MIA", view, FILLED)
        slack.wait_for(lambda: recorded.effects)

    (ask,) = recorded.asks
    run = ask.question.run
    assert run is not None
    assert (run.instance_type, run.count, run.job) == ("p5.48xlarge", 4, "job-123")
    assert sent.view_errors == {}
    (effect,) = recorded.effects.values()
    assert effect.channel == "U0MIA"


def test_what_is_wrong_is_said_beside_its_field(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded()
    wrong = FILLED | {"request_count": {TYPED: "many"}}
    with running(slack, client, _handlers(recorded)):
        view = _opened(slack)
        sent = slack.submit_view("U0MIA", view, wrong)
        slack.wait_for(lambda: sent.view_errors)

    assert set(sent.view_errors) == {"request_count"}
    assert recorded.asks == []


def test_the_estimate_follows_what_is_typed(
    slack: SlackSandbox, client: WebClient
) -> None:
    recorded = Recorded()

    def live(asker: Asker, question: Question) -> str:
        recorded.failures.append((priced(asker, question), ValueError()))
        return "so much"

    with running(slack, client, replace(recorded.handlers(), priced=live)):
        view = _opened(slack)
        view.body = view.body | {
            "state": {
                "values": {
                    block: {TYPED: {"type": "plain_text_input", "value": one[TYPED]}}
                    for block, one in FILLED.items()
                }
            }
        }
        slack.click("U0MIA", view, TYPED, "24h")
        slack.wait_for(lambda: "so much" in str(view.body["blocks"]))

    assert recorded.failures[0][0] == "*4 machines* cost a lot"


def test_an_empty_form_reads_as_nothing() -> None:
    assert read_form({}) == {}
    assert problems_told(()) == {}


def test_home_is_published_when_it_is_opened_and_again_when_a_setting_changes(
    slack: SlackSandbox, client: WebClient
) -> None:
    chosen: list[tuple[str, str]] = []
    handlers = replace(
        Recorded().handlers(),
        home=lambda _: home_view(MyDay(now=NOW), "/gpucost"),
        setting=lambda _, name, value: chosen.append((name, value)),
    )
    with running(slack, client, handlers):
        slack.open_home("U0MIA")
        slack.wait_for(lambda: slack.home("U0MIA"))
        view = slack.home("U0MIA")
        assert view is not None
        slack.click("U0MIA", view, MENTIONS)
        slack.wait_for(lambda: len(slack.calls("views.publish")) > 1)

    assert chosen == [(MENTIONS, "off")]
