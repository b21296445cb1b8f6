"""What a person did, and what came of it.

An interaction is the handle that tests and demos hold on to after a command, a
click, a mention or a submitted form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from deploy.sandbox.slack.deliveries import EVENTS, Delivery
from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.messages import Message, View
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.response_urls import ResponseUrl, ResponseUrls
from deploy.sandbox.slack.state import State
from deploy.sandbox.slack.views import checked_view, new_view, replace_view

WAIT_S = 5.0


@dataclass(slots=True, kw_only=True, eq=False)
class Interaction:
    """One thing a person did.

    Attributes:
        after_ts: messages with a later timestamp came after it.
        right: the response URL that came with it; events have none.
        view: the form that was submitted.
        refused: what was wrong with the content of the acknowledgement.
    """

    state: State
    delivery: Delivery
    user: str
    channel: str | None
    after_ts: str
    trigger_id: str | None = None
    right: ResponseUrl | None = None
    view: View | None = None
    refused: SlackApiProblem | None = None
    view_errors: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of its delivery."""
        return self.delivery.id

    @property
    def is_acked(self) -> bool:
        """Tell whether the app acknowledged it in time."""
        return self.delivery.ack is not None

    @property
    def ack_latency_s(self) -> float | None:
        """Seconds from sending to the acknowledgement; None without one."""
        return self.delivery.ack.latency_s if self.delivery.ack else None

    @property
    def person_saw(self) -> str | None:
        """The error that Slack showed to the person: None when all went well."""
        if not self.delivery.is_done or self.is_acked or self.delivery.kind == EVENTS:
            return None
        outcome = self.delivery.attempts[-1].outcome
        return "operation_timeout" if outcome == "timeout" else "dispatch_failed"

    @property
    def responses(self) -> list[Message]:
        """Messages that came through the acknowledgement or the response URL."""
        return list(self.right.messages) if self.right else []

    @property
    def answers(self) -> list[Message]:
        """Everything the app said since that this person can see there."""
        with self.state.lock:
            return [
                message
                for message in self.state.messages
                if message.bot_id is not None
                and message.ts > self.after_ts
                and message.channel == self.channel
                and message.ephemeral_to in {None, self.user}
                and not message.deleted
            ]

    @property
    def opened_view(self) -> View | None:
        """The form that the app opened in answer, if any."""
        return self.state.view_of_trigger(self.trigger_id or "")

    def wait_done(self, timeout_s: float = WAIT_S) -> Interaction:
        """Wait until it was acknowledged or given up."""
        self.state.wait_for(lambda: self.is_acked or self.delivery.is_done, timeout_s)
        return self

    def wait_acked(self, timeout_s: float = WAIT_S) -> Interaction:
        """Wait for the acknowledgement, and raise TimeoutError without one."""
        self.state.wait_for(lambda: self.is_acked, timeout_s)
        return self

    def wait_response(self, timeout_s: float = WAIT_S, *, count: int = 1) -> Message:
        """Wait for the last of `count` messages through the response URL."""
        self.state.wait_for(lambda: len(self.responses) >= count, timeout_s)
        return self.responses[count - 1]

    def wait_answer(self, timeout_s: float = WAIT_S, *, count: int = 1) -> Message:
        """Wait for the last of `count` messages, however the app sent them."""
        self.state.wait_for(lambda: len(self.answers) >= count, timeout_s)
        return self.answers[count - 1]

    def wait_view(self, timeout_s: float = WAIT_S) -> View:
        """Wait until the app opens a form in answer."""
        self.state.wait_for(lambda: self.opened_view is not None, timeout_s)
        assert self.opened_view is not None
        return self.opened_view

    def to_json(self) -> Json:
        """Return what is known of it, for the control interface."""
        with self.state.lock:
            opened = self.opened_view
            return self.delivery.to_json() | {
                "user": self.user,
                "channel": self.channel,
                "person_saw": self.person_saw,
                "responses": [message.to_json() for message in self.responses],
                "answers": [message.to_json() for message in self.answers],
                "opened_view": opened.id if opened else None,
                "view_errors": dict(self.view_errors),
                "refused": self.refused.body() if self.refused else None,
            }


class AckEffects:
    """Carries out what an acknowledgement says: an answer, or a change of form."""

    def __init__(self, state: State, response_urls: ResponseUrls) -> None:
        self._state = state
        self._response_urls = response_urls
        self._interactions: dict[str, Interaction] = {}

    def add(self, interaction: Interaction) -> None:
        """Remember an interaction whose acknowledgement is awaited."""
        with self._state.lock:
            self._interactions[interaction.id] = interaction

    def find(self, interaction_id: str) -> Interaction | None:
        """Find an interaction by id."""
        return self._interactions.get(interaction_id)

    def apply(self, delivery: Delivery, payload: Json | None) -> None:
        """Carry out one acknowledgement; wrong content is kept as `refused`."""
        interaction = self._interactions.get(delivery.id)
        if interaction is None:
            return
        try:
            if interaction.view is not None:
                self._submitted(interaction, interaction.view, payload or {})
            elif interaction.right is not None and payload:
                self._response_urls.respond(interaction.right, payload, via="ack")
        except SlackApiProblem as problem:
            interaction.refused = problem

    def _submitted(self, interaction: Interaction, view: View, payload: Json) -> None:
        action = payload.get("response_action")
        state = self._state
        if action == "errors":
            known = {block.get("block_id") for block in view.blocks}
            errors = {str(key): str(text) for key, text in payload["errors"].items()}
            if not errors or not set(errors) <= known:
                raise SlackApiProblem("invalid_arguments", extra={"errors": errors})
            interaction.view_errors = view.errors = errors
        elif action == "update":
            replace_view(state, view, checked_view(state, payload.get("view"), "modal"))
        elif action == "push":
            body = checked_view(state, payload.get("view"), "modal")
            new_view(state, view.user, body, below=view)
        else:
            self._close(view, everything=action == "clear")

    def _close(self, view: View, *, everything: bool) -> None:
        for other in self._state.views.values():
            if other is view or (everything and other.root_id == view.root_id):
                other.state = "closed"
        self._state.touch()
