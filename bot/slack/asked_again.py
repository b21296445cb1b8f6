"""What an answer's buttons do: ask again, for the presser alone or for a channel.

The value of a button is a command somebody could have typed; it is read again and
gives nobody a right. Only an answer is ever posted: a refusal stays private.
"""

from __future__ import annotations

from dataclasses import dataclass

from slack_sdk import WebClient

from bot.ports import Message, OutboxMessage, SlackFailedError
from bot.slack.answering import payload_of
from bot.slack.canonical import SHAREABLE, canonical_text
from bot.slack.client import call
from bot.slack.grammar import CONFIRM, UNDO, Question, read_question
from bot.slack.handlers import Ask, Asker, Handlers, Home, Refused
from bot.slack.origin import Body, is_home
from bot.slack.words import unescape
from bot.views.asked import (
    LEAKS,
    MORE,
    REFRESH,
    SHARE,
    WHY,
    has_buttons,
    not_shared,
    shared,
)
from bot.views.errors import not_available, note, stranger
from bot.views.limits import VALUE_CHARS_MAX
from bot.views.untagged import CONFIRM as GIVE
from bot.views.untagged import UNDO as TAKE_BACK

NOT_MINE = "This button is not one of mine: nothing was done."
DIRECT = "answers are shared in channels, not in direct messages"
FOREIGN = "people of another organisation are in this channel, or invited to it"
ARCHIVED = "this channel is archived"
NOT_MEMBER = "I am not in this conversation. Invite me, ask again and press Share"
AGAIN = "this answer was shared before. Ask again to share newer figures"
#: What each button may ask: to give cost to a job is no question.
_VERBS = {
    **dict.fromkeys((SHARE, REFRESH, WHY, MORE, LEAKS), SHAREABLE),
    GIVE: frozenset({CONFIRM}),
    TAKE_BACK: frozenset({UNDO}),
}
#: What Slack says of conversations that the bot cannot see.
_UNSEEN = frozenset({"channel_not_found", "missing_scope", "not_in_channel"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain:
    """Answers presses of Share, Refresh, How computed and More.

    Attributes:
        command: The slash command, such as ``/gpucost``.
    """

    handlers: Handlers
    home: Home
    client: WebClient
    command: str

    def press(self, body: Body, action: Body, asker: Asker) -> tuple[Message, ...]:
        """Return what the presser alone is shown; a shared answer is stored."""
        if not is_home(asker, self.home):
            self._refuse(asker, "other_organisation")
            return (stranger(),)
        ask = self._ask(body, action, asker)
        if ask is None:
            self._refuse(asker, "forged_value")
            return (note(NOT_MINE),)
        answer = self.handlers.answers.get(ask.question.verb)
        if answer is None:
            return (not_available(ask.question.verb),)
        if action.get("action_id") != SHARE:
            return answer(ask)
        why = why_not_here(self.client, self.home, asker.channel_id)
        return (not_shared(why),) if why else self._share(ask, answer(ask))

    def _share(self, ask: Ask, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Post an answer once; the outbox knows its key also after a restart."""
        if len(messages) != 1 or not has_buttons(messages[0]):
            return messages
        text = unescape(canonical_text(ask.question, ask.now))
        post = shared(
            messages[0], by=ask.asker.user_id, question=f"{self.command} {text}"
        )
        effect = OutboxMessage(
            key=ask.key,
            kind="post",
            channel=ask.asker.channel_id,
            payload=payload_of(post),
        )
        return () if self.handlers.enqueue(effect) else (not_shared(AGAIN),)

    def _ask(self, body: Body, action: Body, asker: Asker) -> Ask | None:
        """Read what a button asks; None when no button of ours says so."""
        text = str(action.get("value") or "")
        now = self.handlers.now()
        verbs = _VERBS.get(str(action.get("action_id") or ""))
        if verbs is None:
            return None
        question = read_question(text, now) if len(text) <= VALUE_CHARS_MAX else None
        if not isinstance(question, Question) or question.verb not in verbs:
            return None
        container = body.get("container") or {}
        # The answer that was pressed: pressing it twice shares it once.
        pressed = container.get("message_ts") or body.get("trigger_id") or ""
        key = f"share:{asker.channel_id}:{asker.user_id}:{pressed}"
        return Ask(asker=asker, question=question, now=now, key=key)

    def _refuse(self, asker: Asker, reason: str) -> None:
        now = self.handlers.now()
        self.handlers.refused(
            Refused(asker=asker, what="click", reason=reason, now=now)
        )


def why_not_here(client: WebClient, home: Home, channel_id: str) -> str:
    """Return why figures may not be posted in a conversation; "" when they may.

    Raises:
        SlackFailedError: Slack cannot be asked now, so nothing may be posted.
    """
    if channel_id[:1] not in {"C", "G"}:
        return DIRECT
    try:
        info = call(client.conversations_info, channel=channel_id).get("channel") or {}
    except SlackFailedError as error:
        if error.code in _UNSEEN:
            return NOT_MEMBER
        raise
    if info.get("is_im") or info.get("is_mpim"):
        return DIRECT
    if _is_foreign(info, home):
        return FOREIGN
    if info.get("is_archived"):
        return ARCHIVED
    return "" if info.get("is_member") else NOT_MEMBER


def _is_foreign(info: Body, home: Home) -> bool:
    """Tell whether others than our organisation are in a channel; in doubt they are."""
    if info.get("is_ext_shared") is not False or info.get("is_pending_ext_shared"):
        return True
    # Several workspaces share it: ours alone only inside one organisation.
    ours = info.get("is_org_shared") and home.enterprise_id
    return bool(info.get("is_shared") or info.get("is_org_shared")) and not ours
