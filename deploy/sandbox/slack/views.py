"""The views methods: modals and home tabs."""

from __future__ import annotations

from deploy.sandbox.slack.arguments import Args
from deploy.sandbox.slack.blocks import view_problems
from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.messages import View
from deploy.sandbox.slack.method import Method
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.state import State


def checked_view(state: State, value: object, kind: str | None = None) -> Json:
    """Return a view that Slack would take.

    Raises:
        SlackApiProblem: `invalid_arguments`, with what is wrong.
    """
    if not isinstance(value, dict):
        problem = "[ERROR] missing required field: view"
        raise SlackApiProblem("invalid_arguments", messages=(problem,))
    problems = view_problems(value, with_data_blocks=state.accepts_data_blocks)
    if kind is not None and value.get("type") != kind:
        problems.append(f"[ERROR] must be of type {kind} [json-pointer:/view/type]")
    if problems:
        raise SlackApiProblem("invalid_arguments", messages=tuple(problems))
    state.name_blocks(value["blocks"])
    return value


def new_view(state: State, user: str, body: Json, *, below: View | None = None) -> View:
    """Open a view for one person, on top of another one when there is one."""
    view_id = state.next_id("V")
    view = View(
        id=view_id,
        user=user,
        body=body,
        hash=new_hash(state),
        root_id=below.root_id if below else view_id,
        previous_id=below.id if below else None,
    )
    state.views[view_id] = view
    state.touch()
    return view


def new_hash(state: State) -> str:
    """Return a hash that no other version of a view has."""
    return f"{state.next_ts().split('.')[0]}.{state.next_id('h')}"


def replace_view(state: State, view: View, body: Json) -> None:
    """Change a view in place."""
    view.body = body
    view.hash = new_hash(state)
    view.errors = {}
    state.touch()


def _shown(state: State, view: View) -> Json:
    return {"view": view.as_slack(state.view_ids())}


def _open(state: State, args: Args) -> Json:
    body = checked_view(state, args.parsed("view", "invalid_arguments"), "modal")
    trigger = state.use_trigger(args.required("trigger_id"))
    if isinstance(trigger, str):
        raise SlackApiProblem(trigger)
    view = new_view(state, trigger.user, body)
    trigger.view_id = view.id
    state.touch()
    return _shown(state, view)


def _publish(state: State, args: Args) -> Json:
    person = state.directory.person(args.required("user_id"))
    if person is None:
        raise SlackApiProblem("user_not_found")
    body = checked_view(state, args.parsed("view", "invalid_arguments"), "home")
    view = state.homes.get(person.id)
    if view is None:
        view = new_view(state, person.id, body)
        view.state = "published"
        state.homes[person.id] = view
    else:
        _check_hash(view, args)
        replace_view(state, view, body)
    state.touch()
    return _shown(state, view)


def _update(state: State, args: Args) -> Json:
    view = _find(state, args)
    _check_hash(view, args)
    body = checked_view(state, args.parsed("view", "invalid_arguments"))
    replace_view(state, view, body)
    return _shown(state, view)


def _find(state: State, args: Args) -> View:
    external_id = args.text("external_id")
    for view in state.views.values():
        by_external = external_id and view.body.get("external_id") == external_id
        if (view.id == args.text("view_id") or by_external) and view.state != "closed":
            return view
    raise SlackApiProblem("not_found")


def _check_hash(view: View, args: Args) -> None:
    if args.has("hash") and args.text("hash") != view.hash:
        raise SlackApiProblem("hash_conflict")


METHODS = {
    "views.open": Method(handler=_open),
    "views.publish": Method(handler=_publish),
    "views.update": Method(handler=_update),
}
