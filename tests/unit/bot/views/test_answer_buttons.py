"""Share and Refresh under an answer, and the answer as a channel sees it."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from bot.ports import Message
from bot.views.asked import (
    has_buttons,
    not_shared,
    shared,
    with_buttons,
    without_buttons,
)
from bot.views.blocks import section
from bot.views.errors import note
from bot.views.estimate import estimate_answer
from bot.views.limits import BLOCKS_MAX, VALUE_CHARS_MAX, fit
from deploy.sandbox.slack.blocks import block_problems
from deploy.sandbox.slack.mentions import mentions_of
from tests.builders_bot import drawn, make_estimate_answer
from tests.hostile import hostile_strings

ANSWER = note("job-123: $12.00")


def test_answer_has_buttons_that_carry_the_question() -> None:
    assert drawn(with_buttons(ANSWER, "job-123 since 2026-11-01")) == snapshot("""\
job-123: $12.00
------
job-123: $12.00
[Share answer_share=job-123 since 2026-11-01] [Refresh answer_refresh=job-123 since
   2026-11-01]\
""")


def test_shared_answer_says_who_shared_it_and_what_was_asked() -> None:
    answer = with_buttons(ANSWER, "job-123")

    post = shared(answer, by="U0MIA", question="/gpucost job-123")

    assert drawn(post) == snapshot("""\
<@U0MIA> shared: job-123: $12.00
------
(<@U0MIA> shared the answer to `/gpucost job-123`)
job-123: $12.00\
""")


def test_refusal_to_share_says_that_nothing_was() -> None:
    assert drawn(not_shared("this channel is archived")) == snapshot("""\
Nothing was shared: this channel is archived.
------
(Nothing was shared: this channel is archived.)\
""")


@pytest.mark.parametrize("asked", ["", "x" * (VALUE_CHARS_MAX + 1)])
def test_question_that_no_button_can_carry_leaves_the_answer_alone(asked: str) -> None:
    assert with_buttons(ANSWER, asked) == ANSWER


def test_buttons_can_be_taken_off_again() -> None:
    answer = with_buttons(estimate_answer(make_estimate_answer()), "estimate x")

    assert has_buttons(answer)
    assert without_buttons(answer) == estimate_answer(make_estimate_answer())


@pytest.mark.parametrize("blocks", [0, 1, 48, 49, 120, 900])
def test_buttons_stand_at_the_end_of_the_last_message(blocks: int) -> None:
    answer = Message(text="top", blocks=tuple(section(f"{n}") for n in range(blocks)))

    pages = fit(with_buttons(answer, "top"))

    assert [has_buttons(page) for page in pages] == [False] * (len(pages) - 1) + [True]
    assert pages[-1].blocks[-1]["type"] == "actions"
    assert all(len(page.blocks) <= BLOCKS_MAX for page in pages)


def test_nothing_of_an_answer_is_lost_to_its_buttons() -> None:
    answer = Message(text="top", blocks=tuple(section(f"{n}") for n in range(120)))

    pages = fit(with_buttons(answer, "top"))

    blocks = tuple(block for page in pages for block in page.blocks)
    assert without_buttons(Message(text="top", blocks=blocks)).blocks == answer.blocks


def test_shared_answer_is_one_message_and_counts_what_it_leaves_out() -> None:
    answer = Message(text="top", blocks=tuple(section(f"{n}") for n in range(120)))

    post = shared(answer, by="U0MIA", question="/gpucost top")

    assert len(post.blocks) == BLOCKS_MAX
    assert "more lines not shown here" in post.blocks[-1]["elements"][0]["text"]


# C108, H4
def test_question_rings_nobody_but_who_shared() -> None:
    for text in hostile_strings():
        post = shared(ANSWER, by="U0MIA", question=f"/gpucost {text}")

        blocks = list(post.blocks)
        rung = mentions_of({"text": post.text, "blocks": blocks})
        assert {one.target for one in rung} == {"U0MIA"}, text[:80]
        assert block_problems(blocks) == []
