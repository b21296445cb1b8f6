"""Who owns a job, and who is an admin, as Slack's directory knows them now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.ports import Directory
from bot.settings import Settings

#: Distinct owner tags that one question looks up.
OWNERS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Owners:
    """Looks people up by the words of owner tags."""

    settings: Settings
    directory: Directory

    def is_admin(self, slack_id: str) -> bool:
        """Tell whether somebody is an admin of gpucost."""
        admins, _ = self.directory.resolve(self.settings.config.slack.admins)
        return slack_id in admins

    def is_owner(self, slack_id: str, owner: str) -> bool:
        """Tell whether an owner tag is somebody, or a group that they are in."""
        return bool(owner) and owner in self.of(slack_id, [owner])

    def of(self, slack_id: str, owners: Iterable[str]) -> frozenset[str]:
        """Return which owner tags are somebody: by e-mail, by name, or by the map."""
        person = self.directory.person(slack_id)
        email = person.email if person else ""
        found: set[str] = set()
        for owner in sorted({one for one in owners if one})[:OWNERS_MAX]:
            said = self._mapped(owner)
            if "@" in said.lstrip("@"):
                is_it = bool(email) and said.lower() == email
            else:
                ids, _ = self.directory.resolve([said])
                is_it = slack_id in ids
            if is_it:
                found.add(owner)
        return frozenset(found)

    def slack_id(self, owner: str) -> str:
        """Return the one person that an owner tag names; "" when there is none."""
        if not owner:
            return ""
        ids, _ = self.directory.resolve([self._mapped(owner)])
        return next(iter(ids)) if len(ids) == 1 else ""

    def names(self, slack_id: str) -> str:
        """Return what somebody's owner tags may say."""
        person = self.directory.person(slack_id)
        mapped = [
            owner
            for owner in self.settings.config.owners.map
            if self.is_owner(slack_id, owner)
        ]
        known = [person.email if person else "", *mapped]
        return ", ".join(one for one in known if one) or "no e-mail address is known"

    def _mapped(self, owner: str) -> str:
        return self.settings.config.owners.map.get(owner, owner).strip()
