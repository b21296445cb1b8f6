"""Slack's limits, and ``fit``: whatever a view made, something valid arrives.

Long texts are split at lines over several blocks, too many blocks go on in further
messages, and what is left out beyond that is counted. Knows no product words.
https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.views.answers import Json, Message

BLOCKS_MAX = 50
SECTION_CHARS_MAX = 3000
FIELD_CHARS_MAX = 2000
FIELDS_MAX = 10
CONTEXT_ELEMENTS_MAX = 10
ACTIONS_ELEMENTS_MAX = 25
HEADER_CHARS_MAX = 150
BUTTON_CHARS_MAX = 75
VALUE_CHARS_MAX = 2000
CONFIRM_TITLE_CHARS_MAX = 100
CONFIRM_TEXT_CHARS_MAX = 300
CONFIRM_BUTTON_CHARS_MAX = 30
TEXT_CHARS_MAX = 3000
TABLE_ROWS_MAX = 100
TABLE_CHARS_MAX = 10_000
CHART_POINTS_MAX = 20
CHART_TITLE_CHARS_MAX = 50
CHART_LABEL_CHARS_MAX = 20
CHARTS_MAX = 2
#: Ours: Slack refuses a message whose blocks are too long together, without a figure.
MESSAGE_CHARS_MAX = 12_000
#: Ours: how many messages one answer may become.
MESSAGES_MAX = 6

CUT = "…"


def fit(message: Message, *, messages_max: int = MESSAGES_MAX) -> tuple[Message, ...]:
    """Return one or more messages that Slack accepts, in reading order.

    Beyond `messages_max` the rest is dropped and the last message says how much.
    Buttons at the end are never dropped: they are the end of the last message.
    """
    blocks = [small for block in message.blocks for small in _split_block(block)]
    has_buttons = bool(blocks) and blocks[-1]["type"] == "actions"
    buttons = [blocks.pop()] if has_buttons else []
    pages = list(_pages(blocks, buttons)) or [[]]
    kept = pages[:messages_max]
    left = sum(_weight(block) for page in pages[messages_max:] for block in page)
    if left:
        kept[-1] = [*kept[-1], _more(left)]
    kept[-1] = [*kept[-1], *buttons]
    texts = _texts(message.text, len(kept))
    return tuple(
        Message(text=text, blocks=tuple(page))
        for text, page in zip(texts, kept, strict=True)
    )


def fit_one(message: Message) -> Message:
    """Return one message that Slack accepts: for posts that are rewritten later."""
    return fit(message, messages_max=1)[0]


def _texts(text: str, count: int) -> list[str]:
    short = cut(text, TEXT_CHARS_MAX) or "gpucost"
    if count <= 1:
        return [short]
    return [f"{cut(short, 280)} ({index} of {count})" for index in range(1, count + 1)]


def _more(left: int) -> Json:
    noun = "line" if left == 1 else "lines"
    text = f"… and {left:,} more {noun} not shown here"
    return {
        "type": "context",
        "elements": [{"type": "mrkdwn", "text": text, "verbatim": True}],
    }


def _weight(block: Json) -> int:
    """Return how many lines of content a block shows."""
    lines = sum(text.count("\n") + 1 for text in _strings(block))
    return lines if block["type"] not in {"divider", "actions"} else 0


def _pages(blocks: Sequence[Json], last: Sequence[Json]) -> Iterator[list[Json]]:
    """Fill messages up to both limits; room is kept for "and N more" and for `last`."""
    page: list[Json] = []
    taken = sum(len(text) for block in last for text in _strings(block))
    chars, charts = taken, 0
    for block in blocks:
        size = sum(map(len, _strings(block)))
        is_chart = block["type"] == "data_visualization"
        is_full = (
            len(page) >= BLOCKS_MAX - 1 - len(last)
            or chars + size > MESSAGE_CHARS_MAX
            or (is_chart and charts >= CHARTS_MAX)
        )
        if page and is_full:
            yield page
            page, chars, charts = [], taken, 0
        page.append(block)
        chars += size
        charts += is_chart
    if page:
        yield page


def _strings(value: object) -> Iterator[str]:
    """Yield every text of a block that is shown."""
    if isinstance(value, dict):
        for key, child in value.items():
            if key in {"text", "caption", "title", "label"} and isinstance(child, str):
                yield child
            elif not isinstance(child, str):
                yield from _strings(child)
    elif isinstance(value, list):
        for child in value:
            yield from _strings(child)


def _split_block(block: Json) -> Iterator[Json]:
    kind = block["type"]
    if kind == "section":
        yield from _split_section(block)
    elif kind == "context":
        yield from _split_list(block, "elements", CONTEXT_ELEMENTS_MAX)
    elif kind == "actions":
        yield from _split_list(block, "elements", ACTIONS_ELEMENTS_MAX)
    elif kind == "header":
        yield {**block, "text": _cut_text(block["text"], HEADER_CHARS_MAX)}
    elif kind == "data_table":
        yield from _split_table(block)
    else:
        yield block


def _split_section(block: Json) -> Iterator[Json]:
    if "fields" in block:
        short = [_cut_text(field, FIELD_CHARS_MAX) for field in block["fields"]]
        if short:
            yield from _split_list({**block, "fields": short}, "fields", FIELDS_MAX)
        return
    text = block["text"]
    for index, part in enumerate(split_text(text["text"])):
        extra = {} if index == 0 else {"accessory": None, "block_id": None}
        piece = {**block, **extra, "text": {**text, "text": part}}
        yield {key: value for key, value in piece.items() if value is not None}


def _split_list(block: Json, key: str, most: int) -> Iterator[Json]:
    items = block[key]
    if key == "elements" and block["type"] == "context":
        items = [_cut_text(item, FIELD_CHARS_MAX) for item in items]
    for start in range(0, len(items), most):
        piece = {**block, key: items[start : start + most]}
        if start:
            piece.pop("block_id", None)
        yield piece


def _split_table(block: Json) -> Iterator[Json]:
    head, *body = block["rows"]
    rows: list[list[Json]] = []
    chars = _row_chars(head)
    for row in body[:TABLE_ROWS_MAX]:
        chars += _row_chars(row)
        if chars > TABLE_CHARS_MAX:
            break
        rows.append(row)
    if rows:
        yield {**block, "rows": [head, *rows]}
    if len(body) > len(rows):
        yield _more(len(body) - len(rows))


def _row_chars(row: Sequence[Json]) -> int:
    return sum(len(str(cell.get("text", ""))) for cell in row)


def _cut_text(text: Json, most: int) -> Json:
    return {**text, "text": cut(text["text"], most)} if "text" in text else text


def cut(text: str, most: int) -> str:
    """Cut escaped text with a mark, never inside an entity or a control sequence.

    >>> cut("a &amp; b", 6), cut("see <@U0MIA> now", 9), cut("short", 9)
    ('a …', 'see …', 'short')
    """
    if len(text) <= most:
        return text
    return text[: _safe_end(text, most - 1)] + CUT


def split_text(text: str, most: int = SECTION_CHARS_MAX) -> Iterator[str]:
    """Split escaped text into pieces of at most `most`, at lines where possible."""
    is_code = text.startswith("```")
    if len(text) <= most:
        yield text
        return
    body = text.strip("`").strip("\n") if is_code else text
    room = most - len("```\n\n```") if is_code else most
    while body:
        end = _line_end(body, room)
        piece, body = body[:end], body[end:].lstrip("\n")
        yield f"```\n{piece}\n```" if is_code else piece


def _line_end(text: str, room: int) -> int:
    if len(text) <= room:
        return len(text)
    newline = text.rfind("\n", 1, room)
    if newline > 0:
        return newline
    space = text.rfind(" ", room // 2, room)
    return _safe_end(text, space if space > 0 else room)


def _safe_end(text: str, end: int) -> int:
    """Move an end before the entity or control sequence that it would cut."""
    entity = text.rfind("&", max(0, end - 4), end)
    if entity >= 0 and ";" not in text[entity:end] and ";" in text[end : entity + 5]:
        end = entity
    opened = text.rfind("<", 0, end)
    if opened > 0 and ">" not in text[opened:end]:
        end = opened
    return max(1, end)
