"""The chat methods: posting, changing and deleting messages.

Also the checks of content that response URLs and acknowledgements share.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from deploy.sandbox.slack.arguments import Args
from deploy.sandbox.slack.blocks import block_problems
from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.messages import Message
from deploy.sandbox.slack.method import Method
from deploy.sandbox.slack.model import Channel, Json
from deploy.sandbox.slack.state import State

TEXT_CHARS_MAX = 40_000
ATTACHMENTS_MAX = 100
METADATA_CHARS_MAX = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a message says; None means the caller did not mention it."""

    text: str | None = None
    blocks: list[Json] | None = None
    attachments: list[Json] | None = None
    metadata: Json | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to show."""
        return not (self.text or self.blocks or self.attachments)

    def fields(self) -> Json:
        """Return the parts that were given, as fields of a message."""
        given: Json = {
            "text": self.text,
            "blocks": self.blocks,
            "attachments": self.attachments,
            "metadata": self.metadata,
        }
        return {key: value for key, value in given.items() if value is not None}


def content_of(state: State, args: Args) -> Content:
    """Read and check the content of a message."""
    content = Content(
        text=args.text("text") if args.has("text") else None,
        blocks=args.items("blocks", "invalid_blocks_format"),
        attachments=args.items("attachments", "invalid_attachments"),
        metadata=_metadata(args),
    )
    if len(content.text or "") > TEXT_CHARS_MAX:
        raise SlackApiProblem("msg_too_long")
    if len(content.attachments or ()) > ATTACHMENTS_MAX:
        raise SlackApiProblem("too_many_attachments")
    _check_blocks(state, content)
    return content


def _check_blocks(state: State, content: Content) -> None:
    groups = [content.blocks or []]
    groups += [
        item["blocks"] for item in content.attachments or () if item.get("blocks")
    ]
    problems: list[str] = []
    for blocks in groups:
        problems += block_problems(blocks, with_data_blocks=state.accepts_data_blocks)
    if problems:
        extra: Json = {"errors": [text.removeprefix("[ERROR] ") for text in problems]}
        raise SlackApiProblem("invalid_blocks", messages=tuple(problems), extra=extra)


def _metadata(args: Args) -> Json | None:
    value = args.parsed("metadata", "invalid_metadata_format")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise SlackApiProblem("invalid_metadata_format")
    has_type = isinstance(value.get("event_type"), str) and value["event_type"]
    if not has_type or not isinstance(value.get("event_payload"), dict):
        raise SlackApiProblem("invalid_metadata_schema")
    if len(json.dumps(value)) > METADATA_CHARS_MAX:
        raise SlackApiProblem("metadata_too_large")
    return value


def new_message(
    state: State,
    channel: Channel,
    content: Content,
    *,
    via: str = "api",
    **more: object,
) -> Message:
    """Build a message of the app, not stored yet."""
    fields: Json = {**content.fields(), **more}
    return Message(
        channel=channel.id,
        ts=state.next_ts(),
        user=state.app.bot_user_id,
        bot_id=state.app.bot_id,
        app_id=state.app.id,
        via=via,
        **fields,
    )


def replace_content(state: State, message: Message, content: Content) -> None:
    """Change a message in place; parts that were not given stay as they were."""
    with state.lock:
        message.remember()
        for key, value in content.fields().items():
            setattr(message, key, value)
        message.edited_ts = state.next_ts()
        state.name_blocks(message.blocks)
        state.read_mentions(message)
        state.touch()


def _thread(state: State, channel: Channel, args: Args) -> str | None:
    thread_ts = args.text("thread_ts") or None
    if thread_ts is None:
        return None
    parent = state.find_message(channel.id, thread_ts)
    if parent is None:
        raise SlackApiProblem("thread_not_found")
    return parent.thread_ts or parent.ts


def _post_message(state: State, args: Args) -> Json:
    channel = state.directory.writable(args.required("channel"), by_person=True)
    content = content_of(state, args)
    if content.is_empty:
        raise SlackApiProblem("no_text")
    thread_ts = _thread(state, channel, args)
    wait_s = state.post_limit.retry_after_s(channel.id)
    if wait_s is not None:
        raise SlackApiProblem("ratelimited", retry_after_s=wait_s)
    broadcast = args.flag("reply_broadcast")
    message = new_message(
        state, channel, content, thread_ts=thread_ts, broadcast=broadcast
    )
    full = args.text("parse") == "full" or args.flag("link_names")
    state.add_message(message, parse_full=full)
    shown = message.as_slack(with_metadata=True)
    return {"channel": channel.id, "ts": message.ts, "message": shown}


def _post_ephemeral(state: State, args: Args) -> Json:
    channel = state.directory.writable(args.required("channel"))
    person = state.directory.person(args.required("user"))
    if person is None or person.deleted:
        raise SlackApiProblem("user_not_found")
    if person.id not in channel.members:
        raise SlackApiProblem("user_not_in_channel")
    content = content_of(state, args)
    if content.is_empty:
        raise SlackApiProblem("no_text")
    thread_ts = _thread(state, channel, args)
    message = new_message(
        state, channel, content, ephemeral_to=person.id, thread_ts=thread_ts
    )
    state.add_message(message)
    return {"message_ts": message.ts}


def _own(state: State, args: Args, refusal: str) -> Message:
    channel = state.directory.visible(args.required("channel"))
    message = state.find_message(channel.id, args.required("ts"))
    if message is None:
        raise SlackApiProblem("message_not_found")
    if message.bot_id != state.app.bot_id:
        raise SlackApiProblem(refusal)
    return message


def _update(state: State, args: Args) -> Json:
    message = _own(state, args, "cant_update_message")
    if state.directory.visible(message.channel).is_archived:
        raise SlackApiProblem("is_archived")
    content = content_of(state, args)
    if content.is_empty:
        raise SlackApiProblem("no_text")
    replace_content(state, message, content)
    return {
        "channel": message.channel,
        "ts": message.ts,
        "text": message.text,
        "message": message.as_slack(with_metadata=True),
    }


def _delete(state: State, args: Args) -> Json:
    message = _own(state, args, "cant_delete_message")
    message.deleted = True
    state.touch()
    return {"channel": message.channel, "ts": message.ts}


def _permalink(state: State, args: Args) -> Json:
    channel = state.directory.visible(args.required("channel"))
    ts = args.required("message_ts")
    message = state.find_message(channel.id, ts)
    if message is None:
        raise SlackApiProblem("message_not_found")
    domain = state.workspace.domain
    link = f"https://{domain}.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"
    if message.is_reply:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


_WRITE = ("chat:write",)

METHODS = {
    "chat.delete": Method(handler=_delete, scopes=_WRITE),
    "chat.getPermalink": Method(handler=_permalink),
    "chat.postEphemeral": Method(handler=_post_ephemeral, scopes=_WRITE),
    "chat.postMessage": Method(handler=_post_message, scopes=_WRITE),
    "chat.update": Method(handler=_update, scopes=_WRITE),
}
