"""Response URLs: five answers within thirty minutes to what a person did."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import uuid4

from deploy.sandbox.slack.arguments import Args
from deploy.sandbox.slack.chat import Content, content_of, new_message, replace_content
from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.messages import Message
from deploy.sandbox.slack.model import Channel, Json
from deploy.sandbox.slack.state import State
from deploy.sandbox.slack.web_api import Answer

USES_MAX = 5
LIFE = timedelta(minutes=30)
_BAD_REQUEST, _NOT_FOUND = 400, 404


@dataclass(slots=True, kw_only=True)
class ResponseUrl:
    """The right to answer one command or click.

    Attributes:
        original: the message that was clicked, which may be replaced.
        messages: what was answered through it, oldest first.
    """

    id: str
    user: str
    channel: str
    issued_at: datetime
    original: Message | None = None
    uses: int = 0
    messages: list[Message] = field(default_factory=list)


class ResponseUrls:
    """All response URLs that were handed out."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._urls: dict[str, ResponseUrl] = {}

    def issue(
        self, user: str, channel: Channel, *, original: Message | None = None
    ) -> tuple[str, ResponseUrl]:
        """Return a new address and the right it stands for."""
        right = ResponseUrl(
            id=uuid4().hex,
            user=user,
            channel=channel.id,
            issued_at=self._state.clock(),
            original=original,
        )
        with self._state.lock:
            self._urls[right.id] = right
        return f"{self._state.base_url}/hooks/{right.id}", right

    def post(self, right_id: str, values: Json) -> Answer:
        """Answer through a response URL."""
        with self._state.lock:
            right = self._urls.get(right_id)
            problem = self._refusal(right)
            if right is None or problem is not None:
                body: Json = {"ok": False, "error": problem}
                return Answer(body=body, status=_NOT_FOUND)
            try:
                self.respond(right, values, via="response_url")
            except SlackApiProblem as error:
                return Answer(body=error.body(), status=_BAD_REQUEST)
            right.uses += 1
            return Answer(body={"ok": True})

    def _refusal(self, right: ResponseUrl | None) -> str | None:
        if right is None:
            return "no_such_url"
        if self._state.clock() - right.issued_at > LIFE:
            return "expired_url"
        return "used_url" if right.uses >= USES_MAX else None

    def respond(self, right: ResponseUrl, values: Json, *, via: str) -> None:
        """Carry out one answer: delete, replace, or a new message."""
        args = Args(values)
        with self._state.lock:
            if args.flag("delete_original"):
                self._delete(right)
                return
            content = content_of(self._state, args)
            if content.is_empty:
                raise SlackApiProblem("no_text")
            original = right.original
            if args.flag("replace_original") and original is not None:
                whole = replace(
                    content,
                    text=content.text or "",
                    blocks=content.blocks or [],
                    attachments=content.attachments or [],
                )
                replace_content(self._state, original, whole)
                right.messages.append(original)
                return
            self._add(right, args, content, via)

    def _delete(self, right: ResponseUrl) -> None:
        if right.original is None:
            raise SlackApiProblem("message_not_found")
        right.original.deleted = True
        self._state.touch()

    def _add(self, right: ResponseUrl, args: Args, content: Content, via: str) -> None:
        to_all = args.text("response_type") == "in_channel"
        channel = self._state.directory.known_channel(right.channel)
        message = new_message(
            self._state,
            channel,
            content,
            via=via,
            ephemeral_to=None if to_all else right.user,
            thread_ts=args.text("thread_ts") or None,
        )
        right.messages.append(message)
        self._state.add_message(message)
