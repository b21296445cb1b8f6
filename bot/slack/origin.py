"""Who did something, as Slack's payload says, and whether they belong to us.

Slack signs payloads, so their ids are Slack's word; what a button carries is not.
Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.slack.handlers import Asker, Home

Body = Mapping[str, Any]


def command_asker(body: Body) -> Asker:
    """Read who typed a slash command."""
    return Asker(
        user_id=_text(body, "user_id"),
        team_id=_text(body, "team_id"),
        enterprise_id=_text(body, "enterprise_id"),
        channel_id=_text(body, "channel_id"),
    )


def event_asker(body: Body) -> Asker:
    """Read who caused an event; in a shared channel the person's own team counts."""
    event = _mapping(body, "event")
    team = (
        _text(event, "user_team") or _text(event, "source_team") or _text(event, "team")
    )
    return Asker(
        user_id=_text(event, "user"),
        team_id=team or _text(body, "team_id"),
        enterprise_id=_text(event, "enterprise"),
        channel_id=_text(event, "channel"),
    )


def click_asker(body: Body) -> Asker:
    """Read who pressed a button: the user's own team, not the channel's."""
    user, team = _mapping(body, "user"), _mapping(body, "team")
    enterprise = _mapping(body, "enterprise")
    same = _text(user, "team_id") in {"", _text(team, "id")}
    of_team = _text(team, "enterprise_id") or _text(enterprise, "id")
    channel = _mapping(body, "channel")
    return Asker(
        user_id=_text(user, "id"),
        team_id=_text(user, "team_id") or _text(team, "id"),
        enterprise_id=_text(user, "enterprise_id") or (of_team if same else ""),
        channel_id=_text(channel, "id")
        or _text(_mapping(body, "container"), "channel_id"),
    )


def is_home(asker: Asker, home: Home) -> bool:
    """Tell whether somebody belongs to the installed workspace or organisation.

    Nobody without an id does: an id that Slack did not send is no permission.
    """
    if not asker.user_id:
        return False
    if asker.team_id and asker.team_id == home.team_id:
        return True
    same_org = asker.enterprise_id and asker.enterprise_id == home.enterprise_id
    # On Enterprise Grid a person's "team" may be the organisation itself.
    org_wide = home.enterprise_id and asker.team_id == home.enterprise_id
    return bool(same_org or org_wide)


def _mapping(body: Body, key: str) -> Body:
    value = body.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(body: Body, key: str) -> str:
    value = body.get(key)
    return value if isinstance(value, str) else ""
