from __future__ import annotations

import pytest

from bot.ports import Message
from bot.views.blocks import columns, context, fields, header, section
from bot.views.limits import BLOCKS_MAX, SECTION_CHARS_MAX, cut, fit, split_text
from bot.views.native import Cell, bar_chart, bars, has_native, table, without_native
from deploy.sandbox.slack.blocks import block_problems
from tests.builders_bot import usd


# C104
def test_long_alert_is_split_at_lines_and_nothing_is_lost() -> None:
    lines = [
        f"• instance i-{index:017x} idle for {index} minutes" for index in range(160)
    ]
    message = Message(text="idle", blocks=(section("\n".join(lines)),))

    pages = fit(message)

    texts = [block["text"]["text"] for page in pages for block in page.blocks]
    assert all(len(text) <= SECTION_CHARS_MAX for text in texts)
    assert "\n".join(texts).split("\n") == lines


# C105
def test_more_than_fifty_blocks_go_on_in_further_messages() -> None:
    blocks = tuple(section(f"team {index}") for index in range(120))

    pages = fit(Message(text="digest", blocks=blocks))

    assert [len(page.blocks) for page in pages] == [49, 49, 22]
    assert [page.text for page in pages] == [f"digest ({n} of 3)" for n in (1, 2, 3)]


def test_what_does_not_fit_at_all_is_counted() -> None:
    blocks = tuple(section(f"team {index}") for index in range(120))

    (page,) = fit(Message(text="digest", blocks=blocks), messages_max=1)

    assert len(page.blocks) == BLOCKS_MAX
    assert (
        page.blocks[-1]["elements"][0]["text"] == "… and 71 more lines not shown here"
    )


def test_long_code_blocks_stay_code_blocks() -> None:
    rows = [(f"job-{index}", f"${index}.00") for index in range(400)]

    pages = fit(Message(text="top", blocks=(section(columns(rows)),)))

    texts = [block["text"]["text"] for page in pages for block in page.blocks]
    assert len(texts) > 1
    assert all(text.startswith("```\n") and text.endswith("\n```") for text in texts)


@pytest.mark.parametrize("count", [9, 10, 11, 25])
def test_fields_are_spread_over_sections(count: int) -> None:
    message = Message(text="x", blocks=(fields([("a", "b")] * count),))

    blocks = [block for page in fit(message) for block in page.blocks]

    assert block_problems(blocks) == []
    assert sum(len(block["fields"]) for block in blocks) == count


def test_oversized_parts_are_cut() -> None:
    blocks = (
        header("h" * 500),
        fields([("a", "b" * 5000)]),
        context(*["c" * 4000] * 12),
        section("d" * 9000),
    )

    for page in fit(Message(text="t" * 9000, blocks=blocks)):
        assert block_problems(list(page.blocks)) == []
        assert len(page.text) <= 3000


def test_message_without_blocks_or_text_still_says_something() -> None:
    assert fit(Message(text="")) == (Message(text="gpucost"),)


@pytest.mark.parametrize("most", range(2, 40))
def test_cutting_never_breaks_an_entity_or_a_mention(most: int) -> None:
    text = "a &amp; b &lt;c&gt; <@U0MIA> d &amp; e"

    shown = cut(text, most)

    assert len(shown) <= most
    assert shown.count("<") == shown.count(">")
    assert shown.count("&") == shown.count(";")


def test_splitting_a_text_without_any_space_ends() -> None:
    parts = list(split_text("&amp;" * 5000))

    assert "".join(parts) == "&amp;" * 5000
    assert max(map(len, parts)) <= SECTION_CHARS_MAX


def test_third_chart_goes_to_the_next_message() -> None:
    chart = bar_chart("c", [("a", usd("1"))], series="cost", unit="USD")

    pages = fit(Message(text="x", blocks=(chart,) * 3))

    assert [len(page.blocks) for page in pages] == [2, 1]


def test_chart_keeps_the_newest_twenty_days_with_different_labels() -> None:
    points = [("a label that is far too long to show", usd("1"))] * 30

    chart = bar_chart("c", points, series="cost", unit="USD")

    assert block_problems([chart]) == []
    assert len(chart["chart"]["axis_config"]["categories"]) == 20


def test_table_beyond_its_limit_is_counted() -> None:
    rows: list[list[Cell]] = [[f"job-{index}", usd("1")] for index in range(150)]

    blocks = [
        block
        for page in fit(
            Message(text="t", blocks=(table("Jobs", ["job", "cost"], rows),))
        )
        for block in page.blocks
    ]

    assert block_problems(blocks) == []
    assert "… and 50 more lines" in blocks[-1]["elements"][0]["text"]


def test_tables_and_charts_become_text_where_slack_has_none() -> None:
    native = (
        table("Jobs", ["job", "cost"], [["job-1", usd("12.5")]]),
        bar_chart("Days", [("Mon", usd("10"))], series="cost", unit="USD"),
        section("stays"),
    )

    blocks = without_native(native)

    assert not has_native(blocks)
    assert "job-1  $12.50" in blocks[0]["text"]["text"]
    assert "Mon" in blocks[1]["text"]["text"]
    assert blocks[2] == section("stays")


# C018
def test_flat_and_empty_series_are_drawn() -> None:
    assert bars([("Mon", usd("0")), ("Tue", usd("0"))]).count("$0") == 2
    assert bars([("Mon", usd("5")), ("Tue", usd("5"))]).count("█" * 16) == 2
    assert "-$5" in bars([("Mon", usd("-5"))])
