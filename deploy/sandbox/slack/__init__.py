"""A Slack that runs on a laptop: real SDKs in, recorded messages out.

Imports nothing of the product, and nothing in the product imports it.
"""

from __future__ import annotations

from deploy.sandbox.slack.faults import Fault
from deploy.sandbox.slack.interactions import Interaction
from deploy.sandbox.slack.limits import PostLimit
from deploy.sandbox.slack.messages import Message, View
from deploy.sandbox.slack.model import (
    AppInstall,
    Channel,
    Person,
    UserGroup,
    Workspace,
    example_workspace,
    load_workspace,
    parse_workspace,
)
from deploy.sandbox.slack.sandbox import SlackSandbox

__all__ = [
    "AppInstall",
    "Channel",
    "Fault",
    "Interaction",
    "Message",
    "Person",
    "PostLimit",
    "SlackSandbox",
    "UserGroup",
    "View",
    "Workspace",
    "example_workspace",
    "load_workspace",
    "parse_workspace",
]
