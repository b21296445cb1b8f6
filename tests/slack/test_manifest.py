"""The app's manifest: valid for Slack, and asking for exactly what the code uses."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import jsonschema
from ruamel.yaml import YAML

from bot.slack.app import BOT_EVENTS, BOT_SCOPES, COMMAND
from tests.project import ROOT

DATA = Path(__file__).parent / "data"

#: Bot scopes of each method (https://docs.slack.dev/reference/methods), for the kinds
#: of conversation that are used: channels, private channels, direct messages.
SCOPES_OF_METHOD: dict[str, set[str]] = {
    "auth_test": set(),
    "chat_postEphemeral": {"chat:write"},
    "chat_postMessage": {"chat:write"},
    "chat_update": {"chat:write"},
    "conversations_history": {"channels:history", "groups:history", "im:history"},
    "conversations_info": {"channels:read", "groups:read"},
    "conversations_list": {"channels:read", "groups:read"},
    "conversations_open": {"im:write"},
    "conversations_replies": {"channels:history", "groups:history", "im:history"},
    "usergroups_list": {"usergroups:read"},
    "usergroups_users_list": {"usergroups:read"},
    "users_info": {"users:read", "users:read.email"},
    "users_list": {"users:read"},
    "users_lookupByEmail": {"users:read.email"},
    "views_open": set(),
    "views_publish": set(),
    "views_update": set(),
}
SCOPES_OF_EVENT: dict[str, set[str]] = {
    "app_home_opened": set(),
    "app_mention": {"app_mentions:read"},
    "message.im": {"im:history"},
}
FAMILIES = (
    "auth",
    "chat",
    "conversations",
    "files",
    "reactions",
    "usergroups",
    "users",
    "views",
)


def _manifest() -> Any:
    text = (ROOT / "deploy" / "slack" / "manifest.yaml").read_text(encoding="utf-8")
    return YAML(typ="safe").load(text)


def _methods_called() -> set[str]:
    """Find `client.chat_update`, `self._client.chat_update` and the like."""
    called: set[str] = set()
    for path in (ROOT / "bot" / "slack").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr.startswith(FAMILIES):
                owner = ast.unparse(node.value).rpartition(".")[2].lstrip("_")
                if owner == "client":
                    called.add(node.attr)
    return called


def test_manifest_is_valid_for_slack() -> None:
    schema = json.loads(
        (DATA / "manifest.schema.1.0.0.json").read_text(encoding="utf-8")
    )

    jsonschema.Draft7Validator(schema).validate(_manifest())


def test_every_method_called_is_known_here() -> None:
    assert _methods_called() == set(SCOPES_OF_METHOD)


def test_scopes_are_those_of_the_methods_called_and_events_heard() -> None:
    asked = set(_manifest()["oauth_config"]["scopes"]["bot"])

    needed = {"commands"}.union(*SCOPES_OF_METHOD.values(), *SCOPES_OF_EVENT.values())
    assert asked == needed == set(BOT_SCOPES)


def test_events_and_command_are_those_of_the_code() -> None:
    manifest = _manifest()

    events = manifest["settings"]["event_subscriptions"]["bot_events"]
    commands = [one["command"] for one in manifest["features"]["slash_commands"]]
    assert set(events) == set(BOT_EVENTS) == set(SCOPES_OF_EVENT)
    assert commands == [COMMAND]
