"""The conversations methods: channels, their members and their history."""

from __future__ import annotations

from deploy.sandbox.slack.arguments import Args, paginate
from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.messages import Message
from deploy.sandbox.slack.method import READ_CONVERSATIONS, READ_HISTORY, Method
from deploy.sandbox.slack.model import Channel, Json
from deploy.sandbox.slack.state import State

_PAGE = 100


def channel_body(state: State, channel: Channel) -> Json:
    """Return a channel as the Web API shows it."""
    if channel.is_im:
        person = next(item for item in channel.members if item != state.app.bot_user_id)
        return {
            "id": channel.id,
            "is_im": True,
            "is_archived": channel.is_archived,
            "user": person,
            "is_user_deleted": False,
        }
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": not channel.is_private,
        "is_group": channel.is_private,
        "is_im": False,
        "is_mpim": False,
        "is_private": channel.is_private,
        "is_archived": channel.is_archived,
        "is_general": False,
        "is_shared": channel.is_ext_shared,
        "is_ext_shared": channel.is_ext_shared,
        "is_org_shared": False,
        "is_member": state.directory.is_member(channel),
        "context_team_id": state.workspace.team_id,
        "shared_team_ids": _teams(state, channel),
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


def _teams(state: State, channel: Channel) -> list[str]:
    teams = {state.workspace.team_id}
    for member in channel.members:
        person = state.directory.person(member)
        if person is not None and person.team_id:
            teams.add(person.team_id)
    return sorted(teams)


def _info(state: State, args: Args) -> Json:
    channel = state.directory.visible(args.required("channel"))
    body = channel_body(state, channel)
    if args.flag("include_num_members"):
        body["num_members"] = len(channel.members)
    return {"channel": body}


def _kind(channel: Channel) -> str:
    if channel.is_im:
        return "im"
    return "private_channel" if channel.is_private else "public_channel"


def _list(state: State, args: Args) -> Json:
    kinds = {kind.strip() for kind in args.text("types").split(",") if kind.strip()}
    unknown = kinds - {"public_channel", "private_channel", "im", "mpim"}
    if unknown:
        raise SlackApiProblem("invalid_types")
    wanted = kinds or {"public_channel"}
    rows = [
        (channel.id, channel_body(state, channel))
        for channel in sorted(state.workspace.channels, key=lambda item: item.id)
        if _kind(channel) in wanted
        and not (args.flag("exclude_archived") and channel.is_archived)
        and (not channel.is_private or state.directory.is_member(channel))
    ]
    page, metadata = paginate(args, rows, default=_PAGE, backwards=False)
    return {"channels": page, "response_metadata": metadata}


def _members(state: State, args: Args) -> Json:
    channel = state.directory.visible(args.required("channel"))
    rows = [(member, member) for member in sorted(channel.members)]
    page, metadata = paginate(args, rows, default=_PAGE, backwards=False)
    return {"members": page, "response_metadata": metadata}


def _open(state: State, args: Args) -> Json:
    if args.has("channel"):
        channel = state.directory.visible(args.text("channel"))
    else:
        users = [item for item in args.required("users").split(",") if item]
        if len(users) != 1:
            raise SlackApiProblem("not_enough_users" if not users else "too_many_users")
        person = state.directory.person(users[0])
        if person is None:
            raise SlackApiProblem("user_not_found")
        if person.deleted:
            raise SlackApiProblem("user_disabled")
        channel = state.directory.direct_message(person)
    body = (
        channel_body(state, channel) if args.flag("return_im") else {"id": channel.id}
    )
    return {"channel": body}


def _in_window(message: Message, args: Args) -> bool:
    oldest, latest = args.text("oldest"), args.text("latest")
    inclusive = args.flag("inclusive")
    ts = float(message.ts)
    if oldest and (ts < float(oldest) or (ts == float(oldest) and not inclusive)):
        return False
    too_late = bool(latest) and ts > float(latest)
    at_edge = bool(latest) and ts == float(latest) and not inclusive
    return not too_late and not at_edge


def _with_replies(state: State, message: Message, args: Args) -> Json:
    body = message.as_slack(with_metadata=args.flag("include_all_metadata"))
    channel = state.directory.visible(message.channel)
    replies = [
        item
        for item in state.in_channel(channel)
        if item.is_reply and item.thread_ts == message.ts
    ]
    if replies:
        body |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users": sorted({item.user for item in replies}),
            "latest_reply": replies[-1].ts,
        }
    return body


def _history(state: State, args: Args) -> Json:
    channel = state.directory.readable(args.required("channel"))
    rows = [
        (message.ts, message)
        for message in reversed(state.in_channel(channel))
        if (not message.is_reply or message.broadcast) and _in_window(message, args)
    ]
    page, metadata = paginate(args, rows, default=_PAGE, backwards=True)
    return {
        "messages": [_with_replies(state, message, args) for message in page],
        "has_more": bool(metadata["next_cursor"]),
        "response_metadata": metadata,
    }


def _replies(state: State, args: Args) -> Json:
    channel = state.directory.readable(args.required("channel"))
    asked = state.find_message(channel.id, args.required("ts"))
    if asked is None:
        raise SlackApiProblem("thread_not_found")
    root = asked.thread_ts or asked.ts
    rows = [
        (message.ts, message)
        for message in state.in_channel(channel)
        if message.ts == root
        or (message.thread_ts == root and _in_window(message, args))
    ]
    page, metadata = paginate(args, rows, default=_PAGE, backwards=False)
    return {
        "messages": [_with_replies(state, message, args) for message in page],
        "has_more": bool(metadata["next_cursor"]),
        "response_metadata": metadata,
    }


METHODS = {
    "conversations.history": Method(handler=_history, scopes=READ_HISTORY),
    "conversations.info": Method(handler=_info, scopes=READ_CONVERSATIONS),
    "conversations.list": Method(handler=_list, scopes=READ_CONVERSATIONS),
    "conversations.members": Method(handler=_members, scopes=READ_CONVERSATIONS),
    "conversations.open": Method(handler=_open, scopes=("im:write", "mpim:write")),
    "conversations.replies": Method(handler=_replies, scopes=READ_HISTORY),
}
