"""People and groups held in memory, as the ``Directory`` port promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policies.core.approvals import Person

if TYPE_CHECKING:
    from collections.abc import Sequence


def make_person(name: str, **values: bool) -> Person:
    """Make somebody: `ada` is `p-ada`, `U0ADA` and `ada@example.com`."""
    return Person(
        person_id=f"p-{name}",
        slack_id=f"U0{name.upper()}",
        email=f"{name}@example.com",
        name=name,
        **values,
    )


@dataclass(slots=True)
class InMemoryDirectory:
    """Whoever tests let exist."""

    people: list[Person] = field(default_factory=list)
    groups: dict[str, list[str]] = field(default_factory=dict)

    def person(self, slack_id: str) -> Person | None:
        return next((one for one in self.people if one.slack_id == slack_id), None)

    def person_by_email(self, email: str) -> Person | None:
        wanted = email.lower()
        return next((one for one in self.people if one.email == wanted), None)

    def resolve(self, names: Sequence[str]) -> tuple[frozenset[str], Sequence[str]]:
        found: set[str] = set()
        unknown = []
        for name in names:
            members = self._members(name)
            found.update(members)
            if not members:
                unknown.append(name)
        return frozenset(found), unknown

    def _members(self, name: str) -> list[str]:
        if name in self.groups:
            return self.groups[name]
        known = {one.slack_id: one.slack_id for one in self.people}
        known |= {f"@{one.name}": one.slack_id for one in self.people}
        known |= {one.email: one.email for one in self.people}
        return [known[name]] if name in known else []
