"""What a click or a filled-in form says, by the type of the element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deploy.sandbox.slack.model import Json


def elements_of(blocks: Iterable[Json]) -> Iterator[tuple[Json, Json]]:
    """Yield every interactive element with the block it stands in."""
    for block in blocks:
        candidates = [*(block.get("elements") or ())]
        candidates += [block.get("accessory"), block.get("element")]
        for element in candidates:
            if isinstance(element, dict) and "action_id" in element:
                yield block, element


def find_element(
    blocks: Iterable[Json], action_id: str, value: str | None
) -> tuple[Json, Json]:
    """Find an element by action id, preferring the one that carries `value`.

    Raises:
        ValueError: no element has this action id.
    """
    pairs = list(elements_of(blocks))
    fitting = [pair for pair in pairs if pair[1]["action_id"] == action_id]
    if not fitting:
        known = sorted({pair[1]["action_id"] for pair in pairs})
        message = f"nothing has the action id {action_id!r}, expected one of {known}"
        raise ValueError(message)
    exact = [pair for pair in fitting if pair[1].get("value") == value]
    return (exact or fitting)[0]


def element_value(element: Json, value: object) -> Json:
    """Return the part of a payload that says what was chosen or typed."""
    kind = str(element["type"])
    if kind == "button":
        return {"value": element.get("value", "") if value is None else value}
    key = _VALUE_KEYS.get(kind)
    if key is not None:
        return {key: value}
    if kind in {"checkboxes", "multi_static_select"}:
        wanted = value if isinstance(value, list) else [value]
        return {"selected_options": [_option(element, item) for item in wanted]}
    return {"selected_option": None if value is None else _option(element, value)}


_VALUE_KEYS = {
    "channels_select": "selected_channel",
    "conversations_select": "selected_conversation",
    "datepicker": "selected_date",
    "datetimepicker": "selected_date_time",
    "email_text_input": "value",
    "multi_channels_select": "selected_channels",
    "multi_conversations_select": "selected_conversations",
    "multi_users_select": "selected_users",
    "number_input": "value",
    "plain_text_input": "value",
    "timepicker": "selected_time",
    "url_text_input": "value",
    "users_select": "selected_user",
}


def _option(element: Json, value: object) -> Json:
    options = list(element.get("options") or ())
    for group in element.get("option_groups") or ():
        options += group["options"]
    for option in options:
        if option["value"] == value:
            chosen: Json = option
            return chosen
    text = {"type": "plain_text", "text": str(value), "emoji": True}
    return {"text": text, "value": value}


def action_of(block: Json, element: Json, *, value: object, action_ts: str) -> Json:
    """Return the entry of `actions` for one click."""
    action: Json = {
        "action_id": element["action_id"],
        "block_id": block.get("block_id", ""),
        "type": element["type"],
        "action_ts": action_ts,
    }
    if "text" in element:
        action["text"] = element["text"]
    return action | element_value(element, value)


def form_state(blocks: Iterable[Json], values: dict[str, Json]) -> Json:
    """Return `state.values` of a form: what was filled in, else what it began with.

    `values` maps block ids to action ids to what the person entered.
    """
    result: dict[str, Json] = {}
    for block, element in elements_of(blocks):
        if element["type"] in {"button", "image", "overflow"}:
            continue
        block_id, action_id = block["block_id"], element["action_id"]
        entered = values.get(block_id, {})
        is_entered = action_id in entered
        chosen = entered[action_id] if is_entered else None
        said = element_value(element, chosen) if is_entered else _initial(element)
        result.setdefault(block_id, {})[action_id] = {"type": element["type"], **said}
    return result


def _initial(element: Json) -> Json:
    for key, value in element.items():
        if key.startswith("initial_"):
            name = key.removeprefix("initial_")
            return {"value" if name == "value" else f"selected_{name}": value}
    is_list = element["type"] in {"checkboxes", "multi_static_select"}
    return {"selected_options": []} if is_list else element_value(element, None)
