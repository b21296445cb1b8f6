"""The methods about people: users, user groups, bots and the app itself."""

from __future__ import annotations

from deploy.sandbox.slack.arguments import Args, paginate
from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.method import Method
from deploy.sandbox.slack.model import Json, Person, UserGroup
from deploy.sandbox.slack.state import State

_PAGE = 200


def person_body(state: State, person: Person) -> Json:
    """Return a person as the Web API shows them to this app."""
    team_id = person.team_id or state.workspace.team_id
    profile: Json = {
        "real_name": person.real_name,
        "real_name_normalized": person.real_name,
        "display_name": person.name,
        "display_name_normalized": person.name,
        "team": team_id,
    }
    if person.email and "users:read.email" in state.app.scopes:
        profile["email"] = person.email
    if person.is_bot:
        profile |= {"bot_id": state.app.bot_id, "api_app_id": state.app.id}
    body: Json = {
        "id": person.id,
        "team_id": team_id,
        "name": person.name,
        "real_name": person.real_name,
        "deleted": person.deleted,
        "profile": profile,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": 0,
    }
    if team_id != state.workspace.team_id:
        body["is_stranger"] = True
    if not person.deleted:
        body |= {
            "tz": person.tz,
            "tz_label": person.tz,
            "tz_offset": person.tz_offset,
            "is_admin": person.is_admin,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": person.is_restricted or person.is_ultra_restricted,
            "is_ultra_restricted": person.is_ultra_restricted,
        }
    return body


def _auth_test(state: State, _args: Args) -> Json:
    return {
        "url": f"https://{state.workspace.domain}.slack.com/",
        "team": state.workspace.name,
        "user": state.directory.bot.name,
        "team_id": state.workspace.team_id,
        "user_id": state.app.bot_user_id,
        "bot_id": state.app.bot_id,
        "is_enterprise_install": False,
    }


def _bots_info(state: State, args: Args) -> Json:
    if args.has("bot") and args.text("bot") != state.app.bot_id:
        raise SlackApiProblem("bot_not_found")
    bot = {
        "id": state.app.bot_id,
        "deleted": False,
        "name": state.app.name,
        "updated": 0,
        "app_id": state.app.id,
        "user_id": state.app.bot_user_id,
    }
    return {"bot": bot}


def _users_info(state: State, args: Args) -> Json:
    person = state.directory.person(args.required("user"))
    if person is None or person.id != args.text("user"):
        raise SlackApiProblem("user_not_found")
    return {"user": person_body(state, person)}


def _users_list(state: State, args: Args) -> Json:
    own = {None, state.workspace.team_id}
    rows = [
        (person.id, person_body(state, person))
        for person in sorted(state.workspace.people, key=lambda item: item.id)
        if person.team_id in own
    ]
    page, metadata = paginate(args, rows, default=_PAGE, backwards=False)
    now = int(state.clock().timestamp())
    return {"members": page, "cache_ts": now, "response_metadata": metadata}


def _lookup_by_email(state: State, args: Args) -> Json:
    email = args.required("email").lower()
    for person in state.workspace.people:
        if not person.deleted and (person.email or "").lower() == email:
            return {"user": person_body(state, person)}
    raise SlackApiProblem("users_not_found")


def _group_body(state: State, group: UserGroup, *, with_users: bool) -> Json:
    body: Json = {
        "id": group.id,
        "team_id": state.workspace.team_id,
        "is_usergroup": True,
        "name": group.name or group.handle,
        "handle": group.handle,
        "description": "",
        "date_delete": 1 if group.disabled else 0,
        "user_count": len(group.users),
    }
    if with_users:
        body["users"] = list(group.users)
    return body


def _groups_list(state: State, args: Args) -> Json:
    with_users = args.flag("include_users")
    groups = [
        _group_body(state, group, with_users=with_users)
        for group in state.workspace.groups
        if not group.disabled or args.flag("include_disabled")
    ]
    return {"usergroups": groups}


def _group_users(state: State, args: Args) -> Json:
    group = state.directory.group(args.required("usergroup"))
    if group is None:
        raise SlackApiProblem("no_such_subteam")
    return {"users": list(group.users)}


_GROUPS = ("usergroups:read",)

METHODS = {
    "auth.test": Method(handler=_auth_test),
    "bots.info": Method(handler=_bots_info, scopes=("users:read",)),
    "usergroups.list": Method(handler=_groups_list, scopes=_GROUPS),
    "usergroups.users.list": Method(handler=_group_users, scopes=_GROUPS),
    "users.info": Method(handler=_users_info, scopes=("users:read",)),
    "users.list": Method(handler=_users_list, scopes=("users:read",)),
    "users.lookupByEmail": Method(
        handler=_lookup_by_email, scopes=("users:read.email",)
    ),
}
