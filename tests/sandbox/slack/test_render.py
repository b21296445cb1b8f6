from __future__ import annotations

from typing import Any

from deploy.sandbox.slack import Message, example_workspace
from deploy.sandbox.slack.directory import Directory
from deploy.sandbox.slack.render import render_channel, render_message
from deploy.sandbox.slack.render_html import render_page

Json = dict[str, Any]
TS = "1795000000.000001"


def make_message(*blocks: Json, text: str = "", **more: Any) -> Message:
    fields: Json = {"channel": "C0COSTS", "ts": TS, "user": "U0GPUCOST"}
    return Message(
        **(
            fields
            | {"bot_id": "B0SANDBOX", "text": text, "blocks": list(blocks)}
            | more
        )
    )


def directory() -> Directory:
    return Directory(example_workspace())


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def button(label: str) -> Json:
    return {"type": "button", "text": {"type": "plain_text", "text": label}}


CARD = (
    {"type": "header", "text": {"type": "plain_text", "text": "Approval needed"}},
    {"type": "section", "text": mrkdwn("*job-123* by <@U0MIA> &amp; co in <#C0COSTS>")},
    {"type": "section", "fields": [mrkdwn("*Low*\n$1"), mrkdwn("*High*\n$2")]},
    {"type": "divider"},
    {"type": "actions", "elements": [button("Approve"), button("Deny")]},
    {"type": "context", "elements": [mrkdwn("<https://x.example|why>")]},
)
TABLE: Json = {
    "type": "data_table",
    "caption": "Top jobs",
    "rows": [
        [{"type": "raw_text", "text": "Job"}, {"type": "raw_text", "text": "USD"}],
        [
            {"type": "raw_text", "text": "a"},
            {"type": "raw_number", "value": 9.5, "text": "9.50"},
        ],
        [
            {"type": "raw_text", "text": "long-name"},
            {"type": "raw_number", "value": 1200, "text": "1,200.00"},
        ],
    ],
}
CHART: Json = {
    "type": "data_visualization",
    "title": "Per day",
    "chart": {
        "type": "bar",
        "series": [
            {
                "name": "usd",
                "data": [{"label": "Mon", "value": 10}, {"label": "Tue", "value": 5}],
            }
        ],
        "axis_config": {"categories": ["Mon", "Tue"]},
    },
}


def test_a_card_reads_as_it_looks() -> None:
    lines = render_message(make_message(*CARD), directory()).splitlines()

    assert lines[0].startswith("gpucost APP")
    assert lines[1:] == [
        "  Approval needed",
        "  job-123 by @mia & co in #gpu-costs",
        "  Low                                        High",
        "  $1                                         $2",
        "  " + "─" * 86,
        "  [ Approve ]  [ Deny ]",
        "  why <https://x.example>",
    ]


def test_a_table_is_aligned_and_numbers_stand_right() -> None:
    lines = render_message(make_message(TABLE), directory()).splitlines()

    assert lines[1:] == [
        "  Top jobs",
        "  Job             USD",
        "  ─────────  ────────",
        "  a              9.50",
        "  long-name  1,200.00",
    ]


def test_a_chart_has_bars_in_proportion() -> None:
    lines = render_message(make_message(CHART), directory()).splitlines()

    assert lines[1:] == [
        "  Per day",
        f"  Mon  10  {'█' * 30}",
        f"  Tue   5  {'█' * 15}",
    ]


def test_long_text_is_wrapped_and_wide_tables_shrink() -> None:
    wide = [[{"type": "raw_text", "text": "x" * 90}] * 3] * 2
    blocks = (
        {"type": "section", "text": mrkdwn("word " * 60)},
        {"type": "data_table", "caption": "c", "rows": wide},
    )

    lines = render_message(make_message(*blocks), directory()).splitlines()

    assert max(len(line) for line in lines) <= 88
    assert "…" in lines[-1]


def test_paragraphs_and_quotes_keep_their_lines() -> None:
    text = "one\n\n&gt; two *&gt; 5*"

    lines = render_message(make_message(text=text), directory()).splitlines()

    assert lines[1:] == ["  one", "", "  ▌ two > 5"]


def test_colours_are_there_only_when_asked_for() -> None:
    message = make_message(text="*bold*")

    plain = render_message(message, directory())
    coloured = render_message(message, directory(), has_colour=True)

    assert "\x1b" not in plain
    assert "\x1b[1mbold\x1b[0m" in coloured


def test_replies_stand_below_their_message() -> None:
    parent = make_message(text="digest")
    reply = make_message(text="details", ts="1795000001.000001", thread_ts=TS)

    text = render_channel([parent, reply], directory())

    assert "  │   details" in text.splitlines()


def test_a_page_holds_everything_and_runs_nothing() -> None:
    message = make_message(*CARD, TABLE, CHART)

    page = render_page([message], directory(), title="gpu-costs")

    for part in ("Approval needed", "@mia", "Approve", "1,200.00", "width:50.0%"):
        assert part in page
    assert "<script" not in page


def test_a_page_escapes_what_it_shows() -> None:
    text = "&lt;script&gt;alert(1)&lt;/script&gt; <javascript:alert(1)|click>"

    page = render_page([make_message(text=text)], directory(), title="x")

    assert "<script" not in page
    assert 'href="javascript' not in page
