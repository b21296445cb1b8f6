"""The Block Kit rules: what Slack answers `invalid_blocks` to.

Checks the documented limits of messages, modals and home tabs. Reads blocks,
changes nothing, knows nothing of who sent them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from deploy.sandbox.slack.block_check import (
    ALT_TEXT_CHARS_MAX,
    URL_CHARS_MAX,
    Findings,
)
from deploy.sandbox.slack.block_data import (
    CHARTS_PER_MESSAGE_MAX,
    check_data_table,
    check_data_visualization,
    check_table,
)
from deploy.sandbox.slack.block_elements import (
    IN_ACTIONS,
    IN_INPUT,
    IN_SECTION,
    check_element,
)

MESSAGE_BLOCKS_MAX = 50
VIEW_BLOCKS_MAX = 100
SECTION_CHARS_MAX = 3000
FIELD_CHARS_MAX = 2000
FIELDS_MAX = 10
HEADER_CHARS_MAX = 150
CONTEXT_ELEMENTS_MAX = 10
ACTIONS_ELEMENTS_MAX = 25
LABEL_CHARS_MAX = 2000
MARKDOWN_CHARS_MAX = 12_000
MODAL_TITLE_MAX = 24
PRIVATE_METADATA_MAX = 3000

DATA_BLOCKS = frozenset({"data_table", "data_visualization"})
MESSAGE_ONLY = frozenset({"file", "markdown", "table"}) | DATA_BLOCKS

Json = dict[str, Any]


def block_problems(
    blocks: object, *, surface: str = "message", with_data_blocks: bool = True
) -> list[str]:
    """List what is wrong with a `blocks` array, in Slack's words.

    `surface` is message, modal or home. Without `with_data_blocks` the workspace
    is one that the newest blocks have not reached.
    """
    found = Findings()
    most = MESSAGE_BLOCKS_MAX if surface == "message" else VIEW_BLOCKS_MAX
    items = found.items(blocks, "/blocks", most=most, least=0)
    for index, block in enumerate(items):
        pointer = f"/blocks/{index}"
        holder = found.mapping(block, pointer)
        if holder is None:
            continue
        kind = str(holder.get("type"))
        if not _is_known(kind, surface, with_data_blocks=with_data_blocks):
            found.add(f"unsupported type: {kind}", f"{pointer}/type")
            continue
        found.block_id(holder, pointer)
        BLOCKS[kind](found, holder, pointer)
    _check_totals(found, items)
    return found.messages


def _is_known(kind: str, surface: str, *, with_data_blocks: bool) -> bool:
    if kind not in BLOCKS or (kind in DATA_BLOCKS and not with_data_blocks):
        return False
    return surface == "message" or kind not in MESSAGE_ONLY


def _check_totals(found: Findings, blocks: Sequence[Any]) -> None:
    held = [block for block in blocks if isinstance(block, dict)]
    markdown = sum(
        len(str(block.get("text"))) for block in held if block.get("type") == "markdown"
    )
    if markdown > MARKDOWN_CHARS_MAX:
        found.add(f"markdown text exceeds {MARKDOWN_CHARS_MAX} characters", "/blocks")
    charts = sum(block.get("type") == "data_visualization" for block in held)
    if charts > CHARTS_PER_MESSAGE_MAX:
        most = CHARTS_PER_MESSAGE_MAX
        found.add(f"no more than {most} data_visualization blocks allowed", "/blocks")


def _section(found: Findings, block: Json, pointer: str) -> None:
    if block.get("text") is None and not block.get("fields"):
        found.add("must provide text or fields", pointer)
    if block.get("text") is not None:
        found.text(block["text"], f"{pointer}/text", most=SECTION_CHARS_MAX)
    if block.get("fields"):
        where = f"{pointer}/fields"
        for index, item in enumerate(
            found.items(block["fields"], where, most=FIELDS_MAX)
        ):
            found.text(item, f"{where}/{index}", most=FIELD_CHARS_MAX)
    if block.get("accessory") is not None:
        check_element(found, block["accessory"], f"{pointer}/accessory", IN_SECTION)


def _header(found: Findings, block: Json, pointer: str) -> None:
    found.plain(block.get("text"), f"{pointer}/text", most=HEADER_CHARS_MAX)


def _context(found: Findings, block: Json, pointer: str) -> None:
    where = f"{pointer}/elements"
    elements = found.items(block.get("elements"), where, most=CONTEXT_ELEMENTS_MAX)
    for index, element in enumerate(elements):
        place = f"{where}/{index}"
        if isinstance(element, dict) and element.get("type") == "image":
            check_element(found, element, place, frozenset({"image"}))
        else:
            found.text(element, place, most=SECTION_CHARS_MAX)


def _actions(found: Findings, block: Json, pointer: str) -> None:
    where = f"{pointer}/elements"
    elements = found.items(block.get("elements"), where, most=ACTIONS_ELEMENTS_MAX)
    for index, element in enumerate(elements):
        check_element(found, element, f"{where}/{index}", IN_ACTIONS)


def _image(found: Findings, block: Json, pointer: str) -> None:
    if not block.get("image_url") and not block.get("slack_file"):
        found.add("missing required field: image_url", pointer)
    found.maybe_chars(block, "image_url", pointer, most=URL_CHARS_MAX)
    found.chars(block.get("alt_text"), f"{pointer}/alt_text", most=ALT_TEXT_CHARS_MAX)
    if block.get("title") is not None:
        found.plain(block["title"], f"{pointer}/title", most=LABEL_CHARS_MAX)


def _input(found: Findings, block: Json, pointer: str) -> None:
    found.plain(block.get("label"), f"{pointer}/label", most=LABEL_CHARS_MAX)
    if block.get("hint") is not None:
        found.plain(block["hint"], f"{pointer}/hint", most=LABEL_CHARS_MAX)
    check_element(found, block.get("element"), f"{pointer}/element", IN_INPUT)


def _markdown(found: Findings, block: Json, pointer: str) -> None:
    found.chars(block.get("text"), f"{pointer}/text", most=MARKDOWN_CHARS_MAX)


def _rich_text(found: Findings, block: Json, pointer: str) -> None:
    found.items(block.get("elements"), f"{pointer}/elements", most=VIEW_BLOCKS_MAX)


def _anything(found: Findings, block: Json, pointer: str) -> None:
    """Accept a block that has no limits of its own."""


BLOCKS: dict[str, Callable[[Findings, Json, str], None]] = {
    "actions": _actions,
    "context": _context,
    "data_table": check_data_table,
    "data_visualization": check_data_visualization,
    "divider": _anything,
    "file": _anything,
    "header": _header,
    "image": _image,
    "input": _input,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "section": _section,
    "table": check_table,
    "video": _anything,
}


def view_problems(view: Json, *, with_data_blocks: bool = True) -> list[str]:
    """List what is wrong with a modal or a home tab."""
    kind = str(view.get("type"))
    if kind not in {"modal", "home"}:
        return [f"[ERROR] unsupported type: {kind} [json-pointer:/view/type]"]
    found = Findings()
    if kind == "modal":
        found.plain(view.get("title"), "/view/title", most=MODAL_TITLE_MAX)
        for key in ("submit", "close"):
            if view.get(key) is not None:
                found.plain(view[key], f"/view/{key}", most=MODAL_TITLE_MAX)
    found.maybe_chars(view, "callback_id", "/view", most=255)
    found.maybe_chars(view, "private_metadata", "/view", most=PRIVATE_METADATA_MAX)
    blocks = view.get("blocks")
    has_input = any(
        isinstance(block, dict) and block.get("type") == "input"
        for block in (blocks if isinstance(blocks, list) else ())
    )
    if has_input and kind == "modal" and view.get("submit") is None:
        found.add("missing required field: submit", "/view/submit")
    inner = block_problems(blocks, surface=kind, with_data_blocks=with_data_blocks)
    return found.messages + inner
