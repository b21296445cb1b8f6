"""People and groups as Slack knows them, kept for a minute and fresh on demand.

A group's handle wins over a user's name. What Slack does not know is named, never
guessed; when Slack cannot be asked the failure is raised, so that nobody is taken
for ineligible, or eligible, by an outage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, tzinfo
from threading import Lock
from time import monotonic
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from slack_sdk import WebClient

from bot.ports import SlackFailedError
from bot.slack.client import call
from bot.slack.handlers import Home
from policies.core.approvals import Person

KEEP_S = 60.0
PAGES_MAX = 50
PAGE_SIZE = 200
_USER = re.compile(r"[UW][A-Z0-9]{2,30}")
_GROUP = re.compile(r"S[A-Z0-9]{2,30}")
_EMAIL = re.compile(r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+")
_MENTION = re.compile(r"<(?:@([UW][A-Z0-9]+)|!subteam\^(S[A-Z0-9]+))(?:\|[^>]*)?>")
_UNKNOWN = frozenset({"user_not_found", "users_not_found", "user_not_visible"})
_SLACKBOT = "USLACKBOT"

#: (slack id, e-mail, name) -> our pseudonym for somebody.
Pseudonym = Callable[[str, str, str], str]


class SlackDirectory:
    """The ``Directory`` port over Slack's Web API."""

    def __init__(
        self,
        client: WebClient,
        *,
        home: Home,
        pseudonym: Pseudonym,
        clock_s: Callable[[], float] = monotonic,
        keep_s: float = KEEP_S,
    ) -> None:
        self._client = client
        self._home = home
        self._pseudonym = pseudonym
        self._clock_s = clock_s
        self._keep_s = keep_s
        self._kept: dict[tuple[str, str], tuple[float, Any]] = {}
        self._lock = Lock()

    def fresh(self) -> SlackDirectory:
        """Return a directory that asks Slack anew: for decisions, at click time."""
        return SlackDirectory(
            self._client,
            home=self._home,
            pseudonym=self._pseudonym,
            clock_s=self._clock_s,
            keep_s=self._keep_s,
        )

    def person(self, slack_id: str) -> Person | None:
        """Return somebody by Slack id; None when Slack does not know them."""
        if not _USER.fullmatch(slack_id):
            return None
        user = self._keep("user", slack_id, lambda: self._user(user=slack_id))
        return self._person(user) if user else None

    def zone(self, slack_id: str) -> tzinfo:
        """Return the time zone somebody set in Slack; UTC when it is not known."""
        if not _USER.fullmatch(slack_id):
            return UTC
        try:
            user = self._keep("user", slack_id, lambda: self._user(user=slack_id))
            return ZoneInfo(str(user["tz"])) if user and user.get("tz") else UTC
        except (SlackFailedError, ZoneInfoNotFoundError, ValueError):
            return UTC

    def person_by_email(self, email: str) -> Person | None:
        """Return somebody by e-mail."""
        address = email.strip().lower()
        if not _EMAIL.fullmatch(address):
            return None
        user = self._keep("email", address, lambda: self._by_email(address))
        return self._person(user) if user else None

    def resolve(self, names: Sequence[str]) -> tuple[frozenset[str], Sequence[str]]:
        """Expand ``@user``, ``@group``, ids and e-mails to Slack user ids.

        The second part names what is nobody, each in the words that were given. An
        empty group expands to nobody; it has not failed.
        """
        ids: set[str] = set()
        failed: list[str] = []
        for name in names:
            members = self._members(name.strip())
            if members is None:
                failed.append(name)
            else:
                ids |= members
        return frozenset(ids), tuple(failed)

    def slack_id_of(self, name: str) -> str:
        """Return the id that mentions a person or group; "" when there is none."""
        text = name.strip()
        if found := _MENTION.fullmatch(text):
            return found[1] or found[2]
        if _USER.fullmatch(text) or _GROUP.fullmatch(text):
            return text
        if _EMAIL.fullmatch(text):
            person = self.person_by_email(text)
            return person.slack_id if person else ""
        handle = text.removeprefix("@").lower()
        return self._group_ids().get(handle) or self._user_ids().get(handle, "")

    def _members(self, name: str) -> frozenset[str] | None:
        slack_id = self.slack_id_of(name)
        if not slack_id:
            return None
        if _USER.fullmatch(slack_id):
            return frozenset({slack_id}) if self.person(slack_id) else None
        members: frozenset[str] | None = self._keep(
            "members", slack_id, lambda: self._group_members(slack_id)
        )
        return members

    def _person(self, user: Mapping[str, Any]) -> Person:
        profile = user.get("profile") or {}
        slack_id = str(user["id"])
        email = str(profile.get("email") or "").lower()
        name = str(
            profile.get("real_name") or user.get("real_name") or user.get("name") or ""
        )
        return Person(
            person_id=self._pseudonym(slack_id, email, name),
            slack_id=slack_id,
            email=email,
            name=name,
            is_bot=bool(user.get("is_bot")) or slack_id == _SLACKBOT,
            is_deactivated=bool(user.get("deleted")),
            is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
            home_org=self._is_home(user),
        )

    def _is_home(self, user: Mapping[str, Any]) -> bool:
        if user.get("is_stranger"):
            return False
        if str(user.get("team_id") or "") == self._home.team_id:
            return True
        enterprise = user.get("enterprise_user") or {}
        org = str(enterprise.get("enterprise_id") or "")
        return bool(org) and org == self._home.enterprise_id

    def _user(self, **arguments: str) -> Mapping[str, Any] | None:
        return _known(lambda: call(self._client.users_info, **arguments))

    def _by_email(self, email: str) -> Mapping[str, Any] | None:
        return _known(lambda: call(self._client.users_lookupByEmail, email=email))

    def _group_members(self, group_id: str) -> frozenset[str] | None:
        try:
            said = call(
                self._client.usergroups_users_list,
                usergroup=group_id,
                include_disabled=False,
            )
        except SlackFailedError as error:
            if error.code in {"no_such_subteam", "subteam_not_found"}:
                return None
            raise
        return frozenset(str(one) for one in said.get("users") or ())

    def _group_ids(self) -> Mapping[str, str]:
        ids: Mapping[str, str] = self._keep("groups", "", self._fetch_group_ids)
        return ids

    def _fetch_group_ids(self) -> Mapping[str, str]:
        said = call(self._client.usergroups_list, include_disabled=False)
        return {
            str(one.get("handle") or "").lower(): str(one["id"])
            for one in said.get("usergroups") or ()
            if not one.get("date_delete")
        }

    def _user_ids(self) -> Mapping[str, str]:
        ids: Mapping[str, str] = self._keep("names", "", self._fetch_user_ids)
        return ids

    def _fetch_user_ids(self) -> Mapping[str, str]:
        """Read every user name; a deactivated account's name is nobody's."""
        names: dict[str, str] = {}
        cursor = ""
        for _ in range(PAGES_MAX):
            said = call(self._client.users_list, limit=PAGE_SIZE, cursor=cursor or None)
            for one in said.get("members") or ():
                if not one.get("deleted"):
                    names[str(one.get("name") or "").lower()] = str(one["id"])
            cursor = (said.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return names
        raise SlackFailedError("too_many_users")

    def _keep(self, kind: str, key: str, fetch: Callable[[], Any]) -> Any:
        now_s = self._clock_s()
        with self._lock:
            kept = self._kept.get((kind, key))
        if kept is not None and now_s - kept[0] < self._keep_s:
            return kept[1]
        value = fetch()
        with self._lock:
            self._kept[kind, key] = (now_s, value)
        return value


def _known(ask: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return a user; None when Slack says that there is none."""
    try:
        user = ask().get("user")
    except SlackFailedError as error:
        if error.code in _UNKNOWN:
            return None
        raise
    return user if isinstance(user, dict) else None
