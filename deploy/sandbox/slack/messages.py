"""Messages and views as the workspace keeps them.

Values only; who may write or change them is decided elsewhere.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from deploy.sandbox.slack.mentions import Mention
from deploy.sandbox.slack.model import Json


@dataclass(slots=True, kw_only=True)
class Message:
    """One message, seen by a channel or by one person only.

    Attributes:
        ephemeral_to: the only person who sees it, or None.
        mentions: what its text and blocks trigger, as posted last.
        versions: earlier contents, oldest first; one for each change.
        via: api, response_url, ack or person.
    """

    channel: str
    ts: str
    user: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    files: list[Json] = field(default_factory=list)
    metadata: Json | None = None
    thread_ts: str | None = None
    broadcast: bool = False
    bot_id: str | None = None
    app_id: str | None = None
    edited_ts: str | None = None
    deleted: bool = False
    ephemeral_to: str | None = None
    mentions: tuple[Mention, ...] = ()
    versions: list[Json] = field(default_factory=list)
    via: str = "api"

    @property
    def rings(self) -> tuple[Mention, ...]:
        """The mentions that would have notified somebody."""
        return tuple(item for item in self.mentions if item.rings)

    @property
    def is_reply(self) -> bool:
        """Tell whether it stands in a thread below another message."""
        return self.thread_ts is not None and self.thread_ts != self.ts

    def remember(self) -> None:
        """Keep the present content before it is changed."""
        old = {"text": self.text, "blocks": self.blocks, "metadata": self.metadata}
        self.versions.append(copy.deepcopy(old))

    def as_slack(self, *, with_metadata: bool = False) -> Json:
        """Return the message as the Web API shows it."""
        body: Json = {
            "type": "message",
            "user": self.user,
            "ts": self.ts,
            "text": self.text,
        }
        if self.bot_id:
            body |= {"bot_id": self.bot_id, "app_id": self.app_id}
        for key in ("blocks", "attachments", "files", "thread_ts"):
            value = getattr(self, key)
            if value:
                body[key] = copy.deepcopy(value)
        if self.broadcast:
            body["subtype"] = "thread_broadcast"
        if self.edited_ts:
            body["edited"] = {"user": self.user, "ts": self.edited_ts}
        if with_metadata and self.metadata is not None:
            body["metadata"] = copy.deepcopy(self.metadata)
        return body

    def to_json(self) -> Json:
        """Return everything known of it, for the control interface."""
        return self.as_slack(with_metadata=True) | {
            "channel": self.channel,
            "deleted": self.deleted,
            "ephemeral_to": self.ephemeral_to,
            "via": self.via,
            "versions": copy.deepcopy(self.versions),
            "mentions": [
                {"kind": item.kind, "target": item.target, "where": item.where}
                | {"rings": item.rings}
                for item in self.mentions
            ],
        }


@dataclass(slots=True, kw_only=True)
class View:
    """One modal or home tab.

    Attributes:
        state: open, closed or published.
        errors: what the app last answered to a submission, by block id.
    """

    id: str
    user: str
    body: Json
    hash: str
    root_id: str
    previous_id: str | None = None
    state: str = "open"
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def blocks(self) -> list[Json]:
        """The blocks of the view."""
        return list(self.body.get("blocks") or ())

    def as_slack(self, ids: Json) -> Json:
        """Return the view as the Web API shows it; `ids` are the app's and team's."""
        given = copy.deepcopy(self.body)
        return {
            "private_metadata": "",
            "callback_id": "",
            "external_id": "",
            "clear_on_close": False,
            "notify_on_close": False,
            "title": None,
            "submit": None,
            "close": None,
            "state": {"values": {}},
            **{key: value for key, value in given.items() if value is not None},
            "id": self.id,
            "hash": self.hash,
            "previous_view_id": self.previous_id,
            "root_view_id": self.root_id,
            **ids,
        }
