"""What happens after the ack: read the question, ask the application, carry answers.

Nothing here decides. A person of another organisation gets no figures; a broken use
case becomes one sentence with a reference, never silence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import tzinfo

from slack_sdk import WebClient

from bot.ports import Message, OutboxMessage, SlackFailedError
from bot.slack.alert_clicks import read_alert_click
from bot.slack.answering import Reply, payload_of
from bot.slack.asked_again import NOT_MINE, AskedAgain
from bot.slack.client import call
from bot.slack.forms import Forms
from bot.slack.grammar import CHANGING, BadQuestion, Question, read_question
from bot.slack.handlers import Ask, Asker, Handlers, Home, Refused
from bot.slack.origin import Body, click_asker, command_asker, event_asker, is_home
from bot.slack.pressed import read_click
from bot.slack.words import without_mention
from bot.views.asked import (
    MORE,
    REFRESH,
    calendar_text,
    has_buttons,
    with_calendar,
    without_buttons,
)
from bot.views.errors import (
    already_received,
    bad_usage,
    failed,
    not_available,
    note,
    stranger,
)
from bot.views.help import form_hint, help_message, menu
from bot.views.limits import fit
from bot.views.refusal import click_refused

#: Answers by mention or direct message; longer ones say how much is left out.
_MENTION_MESSAGES_MAX = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """The work of every listener.

    Attributes:
        command: The slash command, such as ``/gpucost``.
    """

    handlers: Handlers
    home: Home
    client: WebClient
    command: str

    def on_command(self, body: Body) -> None:
        """Answer a slash command to the person who typed it."""
        asker = command_asker(body)
        reply = self._reply(body, asker)
        text = str(body.get("text") or "")
        key = str(body.get("trigger_id") or "")
        if is_home(asker, self.home) and text.strip().lower() == "request" and key:
            self._carry(reply, lambda: self._open_form(key))
            return
        self._carry(reply, lambda: self._answer(asker, "command", text, key))

    def _open_form(self, trigger_id: str) -> tuple[Message, ...]:
        self.forms.open(trigger_id)
        return ()

    @property
    def forms(self) -> Forms:
        """Return the work behind the form."""
        return Forms(handlers=self.handlers, home=self.home, client=self.client)

    def on_typed(self, body: Body) -> None:
        """Show what the run of a form would cost."""
        self._quietly(lambda: self.forms.typed(body))

    def on_form(self, body: Body) -> None:
        """File what a form asks for."""
        self._quietly(lambda: self.forms.submit(body))

    def _quietly(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - nobody waits for an answer
            self.handlers.failed("slack_form_failed", error)

    def on_mention(self, body: Body) -> None:
        """Answer a mention: seen by the asker alone, once however often delivered."""
        asker = event_asker(body)
        event = body.get("event") or {}
        if event.get("bot_id") or not asker.user_id:
            return
        self._answer_event(body, asker, kind="ephemeral")

    def on_message(self, body: Body) -> None:
        """Answer a direct message; every other message is none of our business."""
        event = body.get("event") or {}
        asker = event_asker(body)
        is_direct = event.get("channel_type") == "im" and not event.get("subtype")
        if not is_direct or event.get("bot_id") or not asker.user_id:
            return
        self._answer_event(body, asker, kind="post")

    def on_click(self, body: Body, action: Body) -> None:
        """Hand a press on an approval card to the application."""
        asker = click_asker(body)
        reply = self._reply(body, asker)
        self._carry(reply, lambda: self._click(body, action, asker))

    def on_home(self, body: Body) -> None:
        """Publish somebody's home tab when they open it."""
        event = body.get("event") or {}
        if event.get("tab", "home") == "home":
            self._publish(event_asker(body))

    def on_setting(self, body: Body, action: Body) -> None:
        """Keep a choice on the home tab, and draw it again."""
        asker = click_asker(body)
        if not is_home(asker, self.home):
            self._refuse(asker, "other_organisation")
            return
        try:
            chosen = (action.get("selected_option") or action).get("value")
            name = str(action.get("action_id") or "")
            self.handlers.setting(asker, name, str(chosen or ""))
        except Exception as error:  # noqa: BLE001 - the tab shows what holds
            self.handlers.failed("slack_setting_failed", error)
        self._publish(asker)

    def _publish(self, asker: Asker) -> None:
        if self.handlers.home is None or not is_home(asker, self.home):
            return
        try:
            view = self.handlers.home(asker)
            call(self.client.views_publish, user_id=asker.user_id, view=view)
        except Exception as error:  # noqa: BLE001 - an old tab stays
            self.handlers.failed("slack_home_failed", error)

    def on_alert_click(self, body: Body, action: Body) -> None:
        """Hand a press under an alert to the application."""
        asker = click_asker(body)
        reply = self._reply(body, asker)
        self._carry(reply, lambda: self._alert_click(action, asker))

    def _alert_click(self, action: Body, asker: Asker) -> tuple[Message, ...]:
        if not is_home(asker, self.home):
            self._refuse(asker, "other_organisation")
            return (stranger(),)
        click = read_alert_click(action, asker, self.handlers.now())
        if click is None:
            self._refuse(asker, "forged_value")
            return (note(NOT_MINE),)
        return self.handlers.alert(click)

    def on_answer_click(self, body: Body, action: Body) -> None:
        """Ask again what an answer's button says: Share, Refresh, and so on."""
        asker = click_asker(body)
        replaces = action.get("action_id") in {REFRESH, MORE}
        reply = replace(self._reply(body, asker), replaces_pressed=replaces)
        again = AskedAgain(
            handlers=self.handlers,
            home=self.home,
            client=self.client,
            command=self.command,
        )
        self._carry(reply, lambda: again.press(body, action, asker))

    def _reply(self, body: Body, asker: Asker) -> Reply:
        return Reply(
            client=self.client,
            channel_id=asker.channel_id,
            user_id=asker.user_id,
            response_url=str(body.get("response_url") or ""),
        )

    def _carry(self, reply: Reply, make: Callable[[], tuple[Message, ...]]) -> None:
        """Make an answer and bring it; whatever breaks is said and logged."""
        try:
            messages = self._safely(make)
            reply.send(messages)
        except SlackFailedError as error:
            self.handlers.failed("slack_answer_failed", error)

    def _safely(self, make: Callable[[], tuple[Message, ...]]) -> tuple[Message, ...]:
        try:
            return make()
        except Exception as error:  # noqa: BLE001 - a person waits for an answer
            return (failed(self.handlers.failed("slack_work_failed", error)),)

    def _answer_event(self, body: Body, asker: Asker, *, kind: str) -> None:
        """Answer an event through the outbox: its key makes repeats one answer."""
        event = body.get("event") or {}
        key = f"event:{body.get('event_id') or event.get('ts') or ''}"
        text = without_mention(str(event.get("text") or ""), self.home.bot_user_id)
        what = "mention" if kind == "ephemeral" else "message"
        messages = self._safely(lambda: self._answer(asker, what, text, key))
        if kind == "post":
            messages = tuple(map(without_buttons, messages))
        most = _MENTION_MESSAGES_MAX
        pages = [page for one in messages for page in fit(one, messages_max=most)]
        for index, page in enumerate(pages[:most]):
            effect = OutboxMessage(
                key=f"{key}:{index}",
                kind=kind,
                channel=asker.channel_id,
                payload=payload_of(page),
                user=asker.user_id if kind == "ephemeral" else "",
            )
            if not self.handlers.enqueue(effect):
                return

    def _answer(
        self, asker: Asker, what: str, text: str, key: str
    ) -> tuple[Message, ...]:
        now = self.handlers.now()
        if not is_home(asker, self.home):
            refused = Refused(
                asker=asker, what=what, reason="other_organisation", now=now
            )
            self.handlers.refused(refused)
            return (stranger(),)
        zone = self.handlers.zone(asker.user_id)
        question = read_question(text, now, zone)
        if isinstance(question, BadQuestion):
            usage = bad_usage(
                question.problems, command=self.command, suggestions=question.near
            )
            return (usage,)
        messages = self._ask(Ask(asker=asker, question=question, now=now, key=key))
        return _with_days(messages, question, zone)

    def _ask(self, ask: Ask) -> tuple[Message, ...]:
        verb = ask.question.verb
        answer = self.handlers.answers.get(verb)
        own = {"menu": menu, "help": help_message, "form": form_hint}.get(verb)
        if answer is None and own is not None:
            return (own(self.command),)
        if answer is None:
            return (not_available(verb),)
        # A signed request is accepted again for five minutes: never do it twice.
        changes = verb in CHANGING and bool(ask.key)
        if changes and self.handlers.seen("slack_command", ask.key):
            return (already_received(),)
        return answer(ask)

    def _click(self, body: Body, action: Body, asker: Asker) -> tuple[Message, ...]:
        now = self.handlers.now()
        if not is_home(asker, self.home):
            self._refuse(asker, "other_organisation")
            return (stranger(),)
        click = read_click(body, action, asker, now)
        if click is None:
            self._refuse(asker, "forged_value")
            return (click_refused("?", "this button is not one of mine"),)
        outcome = self.handlers.click(click)
        return (outcome.note,) if outcome.note else ()

    def _refuse(self, asker: Asker, reason: str) -> None:
        now = self.handlers.now()
        self.handlers.refused(
            Refused(asker=asker, what="click", reason=reason, now=now)
        )


def _with_days(
    messages: tuple[Message, ...], question: Question, zone: tzinfo
) -> tuple[Message, ...]:
    """Say which billing days a window of the asker's calendar is; a refusal says none."""
    window = question.window
    if not question.said or window is None or not any(map(has_buttons, messages)):
        return messages
    told = calendar_text(question.said, str(zone), window.since, window.until)
    return (with_calendar(messages[0], told), *messages[1:])
