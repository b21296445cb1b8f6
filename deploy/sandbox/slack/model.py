"""The workspace: people, channels, groups and the app that is installed in it.

Values only. Knows nothing of HTTP, of deliveries or of messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

Json = dict[str, Any]

DEFAULT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "usergroups:read",
    "users:read",
    "users:read.email",
)
DEFAULT_EVENTS = ("app_home_opened", "app_mention", "message.im")


@dataclass(slots=True, kw_only=True)
class Person:
    """One account of the workspace, or a stranger from a connected one."""

    id: str
    name: str
    real_name: str = ""
    email: str | None = None
    tz: str = "Etc/UTC"
    tz_offset: int = 0
    is_bot: bool = False
    is_admin: bool = False
    deleted: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    team_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Channel:
    """One conversation; `members` are user ids, the bot's own included."""

    id: str
    name: str
    members: list[str] = field(default_factory=list)
    is_private: bool = False
    is_archived: bool = False
    is_ext_shared: bool = False
    is_im: bool = False
    topic: str = ""


@dataclass(slots=True, kw_only=True)
class UserGroup:
    """A group of people with a handle, such as `gpu-approvers`."""

    id: str
    handle: str
    name: str = ""
    users: list[str] = field(default_factory=list)
    disabled: bool = False


@dataclass(slots=True, kw_only=True)
class AppInstall:
    """The installed app: its ids, secrets, scopes and subscribed events."""

    id: str = "A0SANDBOX"
    name: str = "gpucost"
    bot_id: str = "B0SANDBOX"
    bot_user_id: str = "U0GPUCOST"
    bot_token: str = "xoxb-sandbox-bot-token"  # noqa: S105 - a planted token
    app_token: str = "xapp-1-sandbox-app-token"  # noqa: S105 - a planted token
    signing_secret: str = "sandbox-signing-secret"  # noqa: S105 - a planted secret
    verification_token: str = "sandbox-verification"  # noqa: S105 - a planted token
    command: str = "/gpucost"
    scopes: tuple[str, ...] = DEFAULT_SCOPES
    events: tuple[str, ...] = DEFAULT_EVENTS


@dataclass(slots=True, kw_only=True)
class Workspace:
    """Everything that exists before the first message is written."""

    team_id: str = "T0SANDBOX"
    name: str = "Sandbox"
    domain: str = "sandbox"
    people: list[Person] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    groups: list[UserGroup] = field(default_factory=list)
    app: AppInstall = field(default_factory=AppInstall)

    def bot(self) -> Person:
        """Return the account of the installed app."""
        app = self.app
        for person in self.people:
            if person.id == app.bot_user_id:
                return person
        bot = Person(id=app.bot_user_id, name=app.name, real_name=app.name, is_bot=True)
        self.people.append(bot)
        return bot

    def to_json(self) -> Json:
        """Return the document that `parse_workspace` reads."""
        return asdict(self)


Row = TypeVar("Row", Person, Channel, UserGroup, AppInstall)


def _row(kind: type[Row], document: Mapping[str, Any], where: str) -> Row:
    known = {item.name for item in fields(kind)}
    unknown = sorted(set(document) - known)
    if unknown:
        message = f"{where}: unknown keys {unknown!r}, expected some of {sorted(known)}"
        raise ValueError(message)
    values: Json = {
        key: tuple(value) if key in {"scopes", "events"} else value
        for key, value in document.items()
    }
    return kind(**values)


def _rows(kind: type[Row], document: Mapping[str, Any], key: str) -> list[Row]:
    return [
        _row(kind, item, f"{key}[{index}]")
        for index, item in enumerate(document.get(key, ()))
    ]


def parse_workspace(document: Mapping[str, Any]) -> Workspace:
    """Build a workspace from its JSON document.

    Raises:
        ValueError: a key is not known.
    """
    known = {item.name for item in fields(Workspace)}
    unknown = sorted(set(document) - known)
    if unknown:
        message = f"unknown keys {unknown!r}, expected some of {sorted(known)}"
        raise ValueError(message)
    names = {
        key: document[key] for key in ("team_id", "name", "domain") if key in document
    }
    return Workspace(
        people=_rows(Person, document, "people"),
        channels=_rows(Channel, document, "channels"),
        groups=_rows(UserGroup, document, "groups"),
        app=_row(AppInstall, document.get("app", {}), "app"),
        **names,
    )


def load_workspace(path: Path) -> Workspace:
    """Read a workspace from a JSON file."""
    return parse_workspace(json.loads(path.read_text(encoding="utf-8")))


def example_workspace() -> Workspace:
    """Return a small company: engineers, approvers, a guest and a stranger."""
    groups = [
        UserGroup(id="S0APPROVE", handle="gpu-approvers", users=["U0ADA", "U0OMAR"]),
        UserGroup(id="S0FINANCE", handle="finance", users=["U0FIN"]),
    ]
    return Workspace(
        people=_example_people(), channels=_example_channels(), groups=groups
    )


def _example_people() -> list[Person]:
    berlin: Json = {"tz": "Europe/Berlin", "tz_offset": 3600}
    return [
        _staff("U0MIA", "mia", "Mia Engineer"),
        _staff("U0OMAR", "omar", "Omar Lead"),
        _staff("U0ADA", "ada", "Ada Approver", **berlin),
        _staff("U0FIN", "finn", "Finn Ops"),
        _staff("U0ROOT", "root", "Rae Admin", is_admin=True),
        _staff("U0GUEST", "guest", "Gus Guest", is_restricted=True),
        Person(
            id="U0EXT", name="stranger", real_name="Stella Stranger", team_id="T0OTHER"
        ),
        Person(id="U0GONE", name="gone", real_name="Gil Gone", deleted=True),
    ]


def _staff(person_id: str, name: str, real_name: str, **more: object) -> Person:
    fields: Json = {"email": f"{name}@example.com", **more}
    return Person(id=person_id, name=name, real_name=real_name, **fields)


def _example_channels() -> list[Channel]:
    staff = ["U0MIA", "U0OMAR", "U0ADA", "U0FIN", "U0ROOT"]
    all_in = [*staff, AppInstall().bot_user_id]
    shared = [*all_in, "U0EXT"]
    return [
        Channel(id="C0COSTS", name="gpu-costs", members=list(all_in)),
        Channel(id="C0APPROVE", name="gpu-approvals", members=list(all_in)),
        Channel(id="C0RANDOM", name="random", members=staff),
        Channel(id="C0OLD", name="old-costs", members=list(all_in), is_archived=True),
        Channel(id="G0SECRET", name="finance", members=["U0FIN"], is_private=True),
        Channel(id="C0SHARED", name="with-partner", members=shared, is_ext_shared=True),
    ]
