"""The form that asks for a run: opened, priced while it is filled in, sent off once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from slack_sdk import WebClient

from bot.ports import OutboxMessage, SlackFailedError
from bot.slack.answering import payload_of
from bot.slack.client import call
from bot.slack.handlers import Ask, Asker, Handlers, Home
from bot.slack.origin import Body, click_asker, is_home
from bot.slack.questions import BadQuestion, Moment, Question
from bot.slack.run_words import run_reader
from bot.slack.words import Words
from bot.views.errors import failed
from bot.views.request_form import WAITING, problems_told, read_form, request_form

#: Slack refuses an update of a form that was typed on meanwhile: the next one counts.
_PASSED = frozenset({"hash_conflict", "not_found"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """The work behind the form."""

    handlers: Handlers
    home: Home
    client: WebClient

    def open(self, trigger_id: str) -> None:
        """Open the form; its trigger holds for three seconds."""
        call(self.client.views_open, trigger_id=trigger_id, view=request_form())

    def typed(self, body: Body) -> None:
        """Show what the run would cost by what is filled in so far."""
        asker, view = click_asker(body), body.get("view") or {}
        if not is_home(asker, self.home):
            return
        question = self._read("estimate", read_form(view))
        told = WAITING
        if isinstance(question, Question) and self.handlers.priced is not None:
            told = self.handlers.priced(asker, question)
        try:
            call(
                self.client.views_update, view_id=str(view.get("id") or ""),
                hash=str(view.get("hash") or ""), view=request_form(told),
            )  # fmt: skip
        except SlackFailedError as error:
            if error.code not in _PASSED:
                self.handlers.failed("slack_form_failed", error)

    def problems(self, body: Body) -> dict[str, str]:
        """Return what is wrong with a form, by field; nothing when it may be sent."""
        question = self._read("request", read_form(body.get("view") or {}))
        if isinstance(question, BadQuestion):
            return problems_told(question.problems)
        return {}

    def submit(self, body: Body) -> None:
        """File the request once, and say in a direct message what came of it."""
        asker, view = click_asker(body), body.get("view") or {}
        question = self._read("request", read_form(view))
        key = f"form:{view.get('id') or ''}"
        if not is_home(asker, self.home) or not isinstance(question, Question):
            return
        if self.handlers.seen("slack_form", key):
            return
        self._file(asker, question, key)

    def _file(self, asker: Asker, question: Question, key: str) -> None:
        answer = self.handlers.answers["request"]
        ask = Ask(asker=asker, question=question, now=self.handlers.now(), key=key)
        try:
            messages = answer(ask)
        except Exception as error:  # noqa: BLE001 - a person waits for an answer
            messages = (failed(self.handlers.failed("slack_form_failed", error)),)
        for index, message in enumerate(messages):
            effect = OutboxMessage(
                key=f"{key}:{index}", kind="post", channel=asker.user_id,
                payload=payload_of(message),
            )  # fmt: skip
            self.handlers.enqueue(effect)

    def _read(self, verb: str, options: Mapping[str, str]) -> Question | BadQuestion:
        read: Callable[..., Question | BadQuestion] = run_reader(verb)
        now = self.handlers.now()
        zone = now.tzinfo
        assert zone is not None  # times are aware
        return read((), Words(options=dict(options)), Moment(now=now, zone=zone))
