from __future__ import annotations

import pytest

from bot.views.text import channel, escape, link, mention, name, plain

HOSTILE = "<!channel> <@U123> <https://link.example|AWS console> A&B *bold*"


# C108
def test_markup_in_a_name_is_shown_literally() -> None:
    assert name(HOSTILE) == (
        "`&lt;!channel&gt; &lt;@U123&gt; &lt;https://link.example|AWS console&gt;"
        " A&amp;B *bold*`"
    )


# C108
def test_our_own_links_still_work() -> None:
    shown = link("https://example.com/runs?a=1&b=2", "job & <run>")

    assert shown == "<https://example.com/runs?a=1&amp;b=2|job &amp; &lt;run&gt;>"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "https://a.example|b",
        "https://a.example/<!here>",
        "!channel",
        "",
    ],
)
def test_anything_but_a_web_address_is_no_link(url: str) -> None:
    assert link(url, "label") == "label"


def test_ampersand_is_escaped_once() -> None:
    assert escape("R&D &amp; &lt;") == "R&amp;D &amp;amp; &amp;lt;"


def test_formatting_of_prose_is_not_formatted() -> None:
    shown = escape("*all* _of_ ~it~ `x` 5 * 3 gpu_memory_used")

    assert "*all*" not in shown
    assert "_of_" not in shown
    assert "`" not in shown
    assert "gpu_memory_used" in shown


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("a\r\n\tb  c", "a b c"),
        ("\u202egnp.exe", "gnp.exe"),
        ("zero\u200bwidth\u2060", "zerowidth"),
        ("\x00\x1b[31mred", "[31mred"),
        ("\ud800x", "x"),
    ],
    ids=["lines", "bidi", "zero-width", "control", "surrogate"],
)
def test_hidden_characters_are_dropped(typed: str, shown: str) -> None:
    assert plain(typed) == shown


def test_stacked_marks_are_kept_to_a_few() -> None:
    assert len(plain("Z" + "\u0351" * 200)) <= 5


def test_long_text_is_cut_with_a_mark() -> None:
    shown = plain("x" * 10_000, most=20)

    assert shown == "x" * 19 + "…"


def test_text_of_exactly_the_limit_is_whole() -> None:
    assert plain("x" * 20, most=20) == "x" * 20


@pytest.mark.parametrize("text", ["U0MIA", "W0MIA"])
def test_user_ids_are_mentioned(text: str) -> None:
    assert mention(text) == f"<@{text}>"


@pytest.mark.parametrize("text", ["!channel", "U0MIA> <!here", "mia", "u0mia"])
def test_anything_but_an_id_is_not_mentioned(text: str) -> None:
    assert "<" not in mention(text)


def test_channels_are_linked_by_id_only() -> None:
    assert channel("C0COSTS") == "<#C0COSTS>"
    assert channel("#gpu-costs") == "#gpu-costs"
