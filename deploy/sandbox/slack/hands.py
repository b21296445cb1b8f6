"""A person's hands: commands, clicks, mentions, forms, the home tab.

Each returns an `Interaction`. People, channels and messages may be named by id
or by name. Naming somebody who does not exist raises ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deploy.sandbox.slack.actions import action_of, find_element, form_state
from deploy.sandbox.slack.deliveries import (
    COMMANDS,
    EVENTS,
    INTERACTIVE,
    Delivery,
    Dispatcher,
)
from deploy.sandbox.slack.interactions import AckEffects, Interaction
from deploy.sandbox.slack.messages import Message, View
from deploy.sandbox.slack.model import Channel, Json, Person
from deploy.sandbox.slack.payloads import (
    command_payload,
    event_payload,
    message_click_payload,
    message_event,
    view_click_payload,
    view_payload,
)
from deploy.sandbox.slack.response_urls import ResponseUrl, ResponseUrls
from deploy.sandbox.slack.state import State


class Hands:
    """What people can do in the workspace."""

    def __init__(
        self,
        state: State,
        *,
        dispatcher: Dispatcher,
        response_urls: ResponseUrls,
        effects: AckEffects,
    ) -> None:
        self._state = state
        self._dispatcher = dispatcher
        self._response_urls = response_urls
        self._effects = effects

    def command(self, user: str, channel: str, text: str) -> Interaction:
        """Type a slash command; the leading `/gpucost` may be left out."""
        person, place = self._who(user), self._where(channel)
        url, right = self._response_urls.issue(person.id, place)
        payload = command_payload(
            self._state, person, place, text=text, response_url=url
        )
        return self._send(COMMANDS, payload, person, channel=place.id, right=right)

    def click(
        self,
        user: str,
        message: Message | View,
        action_id: str,
        value: str | list[str] | None = None,
        *,
        forge: bool = False,
        written: Mapping[str, str] | None = None,
    ) -> Interaction:
        """Press a button or choose from a menu, in a message, form or home tab.

        `value` picks one of several elements with the same action id, or the
        option of a menu; a value that no button carries is sent all the same.
        `forge` sends an action id that the message does not have; `written` is what
        stands in the message's text boxes, by their action id.
        """
        person = self._who(user)
        action = self._action(message, action_id, value, forge=forge)
        if isinstance(message, View):
            payload = view_click_payload(self._state, person, message, action=action)
            return self._send(INTERACTIVE, payload, person)
        if message.ephemeral_to not in {None, person.id}:
            refusal = f"{person.name!r} cannot see this message: it is ephemeral"
            raise ValueError(refusal)
        place = self._where(message.channel)
        url, right = self._response_urls.issue(person.id, place, original=message)
        payload = message_click_payload(
            self._state, person, message, action=action, response_url=url
        )
        payload["state"] = {"values": written_in(message.blocks, written or {})}
        return self._send(INTERACTIVE, payload, person, channel=place.id, right=right)

    def _action(
        self,
        message: Message | View,
        action_id: str,
        value: str | list[str] | None,
        *,
        forge: bool,
    ) -> Json:
        action_ts = self._state.next_ts()
        if forge:
            element: Json = {"type": "button", "action_id": action_id}
            return action_of({}, element, value=value, action_ts=action_ts)
        wanted = value if isinstance(value, str) else None
        block, element = find_element(message.blocks, action_id, wanted)
        return action_of(block, element, value=value, action_ts=action_ts)

    def mention(
        self, user: str, channel: str, text: str, *, thread_ts: str | None = None
    ) -> Interaction:
        """Write a message that begins with the bot's name."""
        whole = f"<@{self._state.app.bot_user_id}> {text}"
        return self.say(user, channel, whole, thread_ts=thread_ts)

    def say(
        self, user: str, channel: str, text: str, *, thread_ts: str | None = None
    ) -> Interaction:
        """Write a message; the app hears of it as far as it subscribed."""
        person, place = self._who(user), self._where(channel)
        message = Message(
            channel=place.id,
            ts=self._state.next_ts(),
            user=person.id,
            text=text,
            thread_ts=thread_ts,
            via="person",
        )
        self._state.add_message(message)
        is_mention = f"<@{self._state.app.bot_user_id}>" in text and not place.is_im
        kinds = ["app_mention"] if is_mention else []
        kinds += [f"message.{_conversation_kind(place)}"]
        first: Interaction | None = None
        for kind in kinds:
            if not self._hears(kind, place):
                continue
            name = kind.partition(".")[0]
            event = message_event(self._state, person, message, name)
            payload = event_payload(self._state, event, place)
            sent = self._send(EVENTS, payload, person, channel=place.id)
            first = first or sent
        return first or self._unheard(person, place)

    def dm(self, user: str, text: str) -> Interaction:
        """Write to the bot in a direct message."""
        return self.say(user, self._who(user).id, text)

    def _hears(self, kind: str, place: Channel) -> bool:
        is_there = self._state.directory.is_member(place)
        return is_there and kind in self._state.app.events

    def _unheard(self, person: Person, place: Channel) -> Interaction:
        delivery = Delivery(kind=EVENTS, payload={}, is_done=True)
        return self._interaction(delivery, person, channel=place.id)

    def open_home(self, user: str) -> Interaction:
        """Open the app's home tab."""
        person = self._who(user)
        place = self._state.directory.direct_message(person)
        event: Json = {
            "type": "app_home_opened",
            "user": person.id,
            "channel": place.id,
            "tab": "home",
            "event_ts": self._state.next_ts(),
        }
        view = self._state.homes.get(person.id)
        if view is not None:
            event["view"] = view.as_slack(self._state.view_ids())
        payload = event_payload(self._state, event)
        return self._send(EVENTS, payload, person)

    def submit_view(
        self, user: str, view: View | str, values: dict[str, Json] | None = None
    ) -> Interaction:
        """Send a form off; `values` maps block id to action id to what is entered."""
        person, form = self._who(user), self._form(view)
        state = {"values": form_state(form.blocks, values or {})}
        form.body = form.body | {"state": state}
        payload = view_payload(self._state, person, form, "view_submission")
        return self._send(INTERACTIVE, payload, person, view=form)

    def close_view(self, user: str, view: View | str) -> Interaction:
        """Close a form without sending it; the app hears of it if it asked to."""
        person, form = self._who(user), self._form(view)
        form.state = "closed"
        self._state.touch()
        if not form.body.get("notify_on_close"):
            delivery = Delivery(kind=INTERACTIVE, payload={}, is_done=True)
            return self._interaction(delivery, person)
        payload = view_payload(self._state, person, form, "view_closed")
        return self._send(INTERACTIVE, payload, person)

    def deliver(
        self, kind: str, payload: Json, *, user: str, channel: str | None = None
    ) -> Interaction:
        """Send a body of the caller's own making: replayed, forged or malformed."""
        return self._send(kind, payload, self._who(user), channel=channel)

    def _form(self, view: View | str) -> View:
        form = self._state.views.get(view) if isinstance(view, str) else view
        if form is None or form.state == "closed":
            message = f"no open view has the id {view!r}"
            raise ValueError(message)
        return form

    def _who(self, user: str) -> Person:
        return self._state.directory.known_person(user)

    def _where(self, channel: str) -> Channel:
        return self._state.directory.known_channel(channel)

    def _send(
        self,
        kind: str,
        payload: Json,
        person: Person,
        *,
        channel: str | None = None,
        right: ResponseUrl | None = None,
        view: View | None = None,
    ) -> Interaction:
        delivery = Delivery(kind=kind, payload=payload)
        interaction = self._interaction(
            delivery, person, channel=channel, right=right, view=view
        )
        interaction.trigger_id = payload.get("trigger_id")
        self._dispatcher.submit(delivery)
        return interaction

    def _interaction(
        self,
        delivery: Delivery,
        person: Person,
        *,
        channel: str | None = None,
        right: ResponseUrl | None = None,
        view: View | None = None,
    ) -> Interaction:
        interaction = Interaction(
            state=self._state,
            delivery=delivery,
            user=person.id,
            channel=channel,
            after_ts=self._state.next_ts(),
            right=right,
            view=view,
        )
        self._effects.add(interaction)
        return interaction


def _conversation_kind(channel: Channel) -> str:
    if channel.is_im:
        return "im"
    return "groups" if channel.is_private else "channels"


def written_in(blocks: Sequence[Json], written: Mapping[str, str]) -> Json:
    """Return the state of a message's text boxes as Slack sends it with a click."""
    boxes = [one for one in blocks if one.get("type") == "input"]
    return {
        str(box["block_id"]): {
            str(box["element"]["action_id"]): {
                "type": "plain_text_input",
                "value": written.get(str(box["element"]["action_id"])),
            }
        }
        for box in boxes
    }
