"""The bodies that Slack sends: commands, clicks, submissions, events.

Shapes only. The state gives ids and names; nothing here sends anything.
"""

from __future__ import annotations

from deploy.sandbox.slack.messages import Message, View
from deploy.sandbox.slack.model import Channel, Json, Person
from deploy.sandbox.slack.state import State


def _user(state: State, person: Person) -> Json:
    return {
        "id": person.id,
        "username": person.name,
        "name": person.name,
        "team_id": person.team_id or state.workspace.team_id,
    }


def _team(state: State) -> Json:
    return {"id": state.workspace.team_id, "domain": state.workspace.domain}


def _common(state: State, person: Person, kind: str) -> Json:
    return {
        "type": kind,
        "user": _user(state, person),
        "api_app_id": state.app.id,
        "token": state.app.verification_token,
        "team": _team(state),
        "enterprise": None,
        "is_enterprise_install": False,
    }


def channel_label(channel: Channel) -> str:
    """Return the channel's name as payloads give it."""
    if channel.is_im:
        return "directmessage"
    return "privategroup" if channel.is_private else channel.name


def command_payload(
    state: State, person: Person, channel: Channel, *, text: str, response_url: str
) -> Json:
    """Return the form fields of a slash command."""
    command, _, rest = text.strip().partition(" ")
    if not command.startswith("/"):
        command, rest = state.app.command, text.strip()
    return {
        "token": state.app.verification_token,
        "team_id": person.team_id or state.workspace.team_id,
        "team_domain": state.workspace.domain,
        "channel_id": channel.id,
        "channel_name": channel_label(channel),
        "user_id": person.id,
        "user_name": person.name,
        "command": command,
        "text": rest.strip(),
        "api_app_id": state.app.id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": state.issue_trigger(person.id),
    }


def message_click_payload(
    state: State,
    person: Person,
    message: Message,
    *,
    action: Json,
    response_url: str,
) -> Json:
    """Return the body of a click on an element of a message."""
    channel = state.directory.known_channel(message.channel)
    is_ephemeral = message.ephemeral_to is not None
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": is_ephemeral,
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    payload = _common(state, person, "block_actions") | {
        "container": container,
        "trigger_id": state.issue_trigger(person.id),
        "channel": {"id": channel.id, "name": channel_label(channel)},
        "response_url": response_url,
        "state": {"values": {}},
        "actions": [action],
    }
    if not is_ephemeral:
        payload["message"] = message.as_slack(with_metadata=True)
    return payload


def view_click_payload(
    state: State, person: Person, view: View, *, action: Json
) -> Json:
    """Return the body of a click on an element of a modal or home tab."""
    return _common(state, person, "block_actions") | {
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": state.issue_trigger(person.id),
        "view": view.as_slack(state.view_ids()),
        "actions": [action],
    }


def view_payload(state: State, person: Person, view: View, kind: str) -> Json:
    """Return the body of a `view_submission` or `view_closed`."""
    payload = _common(state, person, kind) | {"view": view.as_slack(state.view_ids())}
    if kind == "view_closed":
        return payload | {"is_cleared": False}
    trigger_id = state.issue_trigger(person.id)
    return payload | {"trigger_id": trigger_id, "response_urls": []}


def event_payload(state: State, event: Json, channel: Channel | None = None) -> Json:
    """Return an event in its envelope, with its own event id."""
    app = state.app
    return {
        "token": app.verification_token,
        "team_id": state.workspace.team_id,
        "context_team_id": state.workspace.team_id,
        "context_enterprise_id": None,
        "api_app_id": app.id,
        "event": event,
        "type": "event_callback",
        "event_id": state.next_id("Ev"),
        "event_time": int(state.clock().timestamp()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": state.workspace.team_id,
                "user_id": app.bot_user_id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": channel is not None and channel.is_ext_shared,
        "event_context": state.next_id("EC"),
    }


def message_event(
    state: State, person: Person, message: Message, kind: str = "message"
) -> Json:
    """Return an `app_mention` or `message` event about a person's message."""
    channel = state.directory.known_channel(message.channel)
    event: Json = {
        "client_msg_id": state.next_id("cm"),
        "type": kind,
        "text": message.text,
        "user": person.id,
        "ts": message.ts,
        "team": person.team_id or state.workspace.team_id,
        "channel": channel.id,
        "event_ts": message.ts,
    }
    if person.team_id and person.team_id != state.workspace.team_id:
        event["user_team"] = person.team_id
    if message.thread_ts:
        event["thread_ts"] = message.thread_ts
    if kind == "message":
        private = "group" if channel.is_private else "channel"
        event["channel_type"] = "im" if channel.is_im else private
    return event
