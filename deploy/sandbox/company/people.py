"""The company's Slack: who is there, in which channels, who may approve."""

from __future__ import annotations

from deploy.sandbox.company.jobs import MAIL
from deploy.sandbox.slack import AppInstall, Channel, Person, UserGroup, Workspace

COSTS = "gpu-costs"
APPROVALS = "gpu-approvals"
TEAM_CHANNELS = {
    "nlp": "team-nlp",
    "vision": "team-vision",
    "platform": "team-platform",
}

#: Who each of them is, for the person at the prompt.
ROLES = {
    "maya": "ML engineer, team nlp",
    "omar": "ML engineer, team vision",
    "jonas": "platform lead, may approve",
    "priya": "FinOps, may approve",
    "rae": "admin of gpucost",
    "gus": "contractor, a guest in this Slack",
}
_NAMES = {
    "maya": "Maya Lindqvist",
    "omar": "Omar Haddad",
    "jonas": "Jonas Weber",
    "priya": "Priya Raman",
    "rae": "Rae Okafor",
    "gus": "Gus Moreau",
}


def workspace() -> Workspace:
    """Return the workspace with gpucost installed and invited where it posts."""
    people = [_person(name) for name in _NAMES]
    everybody = [person.id for person in people]
    all_in = [*everybody, AppInstall().bot_user_id]
    names = [COSTS, APPROVALS, *TEAM_CHANNELS.values()]
    return Workspace(
        name="Tensor Works",
        domain="tensor-works",
        people=people,
        channels=[
            Channel(id=_channel_id(name), name=name, members=list(all_in))
            for name in names
        ],
        groups=[
            UserGroup(
                id="S0APPROVERS",
                handle="gpu-approvers",
                name="GPU approvers",
                users=[_user_id("jonas"), _user_id("priya")],
            )
        ],
    )


def _person(name: str) -> Person:
    return Person(
        id=_user_id(name),
        name=name,
        real_name=_NAMES[name],
        email=f"{name}@{MAIL}",
        is_admin=name == "rae",
        is_restricted=name == "gus",
    )


def _user_id(name: str) -> str:
    return f"U0{name.upper()}"


def _channel_id(name: str) -> str:
    return f"C0{name.upper().replace('-', '')}"
