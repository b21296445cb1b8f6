"""The limits of Block Kit elements: buttons, menus, inputs, options, images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deploy.sandbox.slack.block_check import (
    ALT_TEXT_CHARS_MAX,
    URL_CHARS_MAX,
    Findings,
)

BUTTON_TEXT_CHARS_MAX = 75
VALUE_CHARS_MAX = 2000
OPTION_TEXT_CHARS_MAX = 75
OPTION_VALUE_CHARS_MAX = 150
OVERFLOW_OPTIONS_MAX = 5
SELECT_OPTIONS_MAX = 100
CHOICES_MAX = 10
PLACEHOLDER_CHARS_MAX = 150
CONFIRM_TITLE_MAX, CONFIRM_TEXT_MAX, CONFIRM_BUTTON_MAX = 100, 300, 30

Json = dict[str, Any]
ElementCheck = Callable[[Findings, Json, str], None]

BUTTON_STYLES = frozenset({"primary", "danger"})


def check_element(
    found: Findings, element: object, pointer: str, allowed: frozenset[str]
) -> None:
    """Check one element and that its type may stand at this place."""
    holder = found.mapping(element, pointer)
    if holder is None:
        return
    kind = str(holder.get("type"))
    if kind not in allowed:
        found.add(f"unsupported type: {kind}", f"{pointer}/type")
        return
    found.action_id(holder, pointer)
    _confirm(found, holder, pointer)
    ELEMENTS[kind](found, holder, pointer)


def _confirm(found: Findings, element: Json, pointer: str) -> None:
    if element.get("confirm") is None:
        return
    where = f"{pointer}/confirm"
    dialog = found.mapping(element["confirm"], where)
    if dialog is None:
        return
    found.plain(dialog.get("title"), f"{where}/title", most=CONFIRM_TITLE_MAX)
    found.text(dialog.get("text"), f"{where}/text", most=CONFIRM_TEXT_MAX)
    for key in ("confirm", "deny"):
        found.plain(dialog.get(key), f"{where}/{key}", most=CONFIRM_BUTTON_MAX)


def _button(found: Findings, element: Json, pointer: str) -> None:
    found.plain(element.get("text"), f"{pointer}/text", most=BUTTON_TEXT_CHARS_MAX)
    found.maybe_chars(element, "value", pointer, most=VALUE_CHARS_MAX)
    found.maybe_chars(element, "url", pointer, most=URL_CHARS_MAX)
    found.maybe_chars(
        element, "accessibility_label", pointer, most=BUTTON_TEXT_CHARS_MAX
    )
    style = element.get("style")
    if style is not None and style not in BUTTON_STYLES:
        found.add("must be one of primary, danger", f"{pointer}/style")


def _placeholder(found: Findings, element: Json, pointer: str) -> None:
    if element.get("placeholder") is not None:
        where = f"{pointer}/placeholder"
        found.plain(element["placeholder"], where, most=PLACEHOLDER_CHARS_MAX)


def check_option(found: Findings, option: object, pointer: str) -> None:
    """Check one option of a menu or of a group of choices."""
    holder = found.mapping(option, pointer)
    if holder is None:
        return
    found.text(holder.get("text"), f"{pointer}/text", most=OPTION_TEXT_CHARS_MAX)
    found.chars(holder.get("value"), f"{pointer}/value", most=OPTION_VALUE_CHARS_MAX)
    if holder.get("description") is not None:
        where = f"{pointer}/description"
        found.text(holder["description"], where, most=OPTION_TEXT_CHARS_MAX)


def _options(found: Findings, element: Json, pointer: str, *, most: int) -> None:
    where = f"{pointer}/options"
    for index, option in enumerate(
        found.items(element.get("options"), where, most=most)
    ):
        check_option(found, option, f"{where}/{index}")


def _overflow(found: Findings, element: Json, pointer: str) -> None:
    _options(found, element, pointer, most=OVERFLOW_OPTIONS_MAX)


def _choices(found: Findings, element: Json, pointer: str) -> None:
    _options(found, element, pointer, most=CHOICES_MAX)


def _static_select(found: Findings, element: Json, pointer: str) -> None:
    _placeholder(found, element, pointer)
    if "option_groups" not in element:
        _options(found, element, pointer, most=SELECT_OPTIONS_MAX)
        return
    where = f"{pointer}/option_groups"
    groups = found.items(element["option_groups"], where, most=SELECT_OPTIONS_MAX)
    for index, group in enumerate(groups):
        holder = found.mapping(group, f"{where}/{index}")
        if holder is not None:
            label = f"{where}/{index}/label"
            found.plain(holder.get("label"), label, most=OPTION_TEXT_CHARS_MAX)
            _options(found, holder, f"{where}/{index}", most=SELECT_OPTIONS_MAX)


def _image(found: Findings, element: Json, pointer: str) -> None:
    if not element.get("image_url") and not element.get("slack_file"):
        found.add("missing required field: image_url", pointer)
    found.maybe_chars(element, "image_url", pointer, most=URL_CHARS_MAX)
    alt_text = element.get("alt_text")
    found.chars(alt_text, f"{pointer}/alt_text", most=ALT_TEXT_CHARS_MAX)


ELEMENTS: dict[str, ElementCheck] = {
    "button": _button,
    "checkboxes": _choices,
    "image": _image,
    "multi_static_select": _static_select,
    "overflow": _overflow,
    "radio_buttons": _choices,
    "static_select": _static_select,
    **dict.fromkeys(
        (
            "channels_select",
            "conversations_select",
            "datepicker",
            "datetimepicker",
            "email_text_input",
            "external_select",
            "multi_channels_select",
            "multi_conversations_select",
            "multi_external_select",
            "multi_users_select",
            "number_input",
            "plain_text_input",
            "rich_text_input",
            "timepicker",
            "url_text_input",
            "users_select",
        ),
        _placeholder,
    ),
}

_INPUTS_ONLY = frozenset(
    {
        "email_text_input",
        "number_input",
        "plain_text_input",
        "rich_text_input",
        "url_text_input",
    }
)
_MULTI = frozenset(kind for kind in ELEMENTS if kind.startswith("multi_"))
IN_ACTIONS = frozenset(ELEMENTS) - _INPUTS_ONLY - _MULTI - {"image"}
IN_SECTION = frozenset(ELEMENTS) - _INPUTS_ONLY
IN_INPUT = frozenset(ELEMENTS) - {"button", "image", "overflow"}
