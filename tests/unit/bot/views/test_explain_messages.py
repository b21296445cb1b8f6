"""How a figure came about, as people read it; a diff is the review."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from inline_snapshot import snapshot

from billing.core.money import Money
from billing.core.reconciled import Score
from bot.views.asked import calendar_text, with_buttons, with_calendar
from bot.views.explain import explained_answer
from bot.views.explain_document import explanation_document
from bot.views.explain_terminal import explanation_text
from bot.views.explain_words import Page
from bot.views.limits import fit
from deploy.sandbox.slack.blocks import block_problems
from deploy.sandbox.slack.mentions import mentions_of
from tests.builders_bot import drawn, shown
from tests.builders_explain import (
    ACCOUNT,
    NOW,
    make_charge_line,
    make_explanation,
    make_running_line,
    make_running_now,
    make_transfer_line,
)
from tests.hostile import hostile_strings

WHOLE = make_explanation(make_charge_line(), make_running_line(), make_transfer_line())


def test_explained_figure() -> None:
    assert drawn(explained_answer(WHOLE, Page())) == snapshot("""\
How computed: job-123: $6,807.36
------
# How computed: job-123
*$6,807.36* from 1 Nov to 30 Nov 2026 16:00 UTC = $4,743.36 billed + $2,064.00
   provisional; 3 lines sum to it exactly
*Billed by AWS (complete through 29 Nov 2026)*
• *$4,623.36*  `BoxUsage:p5.48xlarge` in us-east-1: 84 Hrs x $55.04, 25 to 26 Nov
   2026
*Moved by a rule*
• *$120.00*  `from (untagged) (BoxUsage:p5.48xlarge)` in us-east-1: by the
   scheduler's placements, slurm 1234: 4 of 8 GPUs, allocated, 26 Nov 2026
*Provisional: running time x price*
• *$2,064.00*  `3 x p5.48xlarge x 12.5 h x $55.04/h` in us-east-1: on-demand, price
   list of 10 Sep 2026, 30 Nov 2026
(Effective cost, before credits and refunds; complete through 29 Nov 2026.)
(Amounts are exact to a billionth.)
(Last read: bill 2 hours ago.)\
""")


def test_explained_burn_rate() -> None:
    burn = make_explanation(
        make_running_now(), title="job-123, burn rate", since=NOW, until=NOW,
        per_hour=True, notes=(),
    )  # fmt: skip

    assert drawn(explained_answer(burn, Page())) == snapshot("""\
How computed: job-123, burn rate: $110.08/h
------
# How computed: job-123, burn rate
*$110.08/h* as of 30 Nov 2026 16:00 UTC
*Running now*
• *$110.08*  `2 x p5.48xlarge x $55.04/h` in us-east-1: on-demand, price list of 10
   Sep 2026
(Last read: bill 2 hours ago.)\
""")


def test_explained_in_the_terminal() -> None:
    assert explanation_text(WHOLE, Page()) == snapshot("""\
job-123: $6,807.36 effective cost, 1 Nov to 30 Nov 2026 16:00 UTC
= $4,743.36 billed + $2,064.00 provisional, the sum of the 3 lines below

billed by AWS (complete through 29 Nov 2026)
  $4,623.36  BoxUsage:p5.48xlarge  us-east-1  84 Hrs x $55.04, 25 to 26 Nov 2026

moved by a rule
  $120.00  from (untagged) (BoxUsage:p5.48xlarge)  us-east-1  by the scheduler's placements, slurm 1234: 4 of 8 GPUs, allocated, 26 Nov 2026

provisional: running time x price
  $2,064.00  3 x p5.48xlarge x 12.5 h x $55.04/h  us-east-1  on-demand, price list of 10 Sep 2026, 30 Nov 2026

sources
  cost-explorer  012345678901  read 2026-11-30 14:00 UTC\
""")  # noqa: E501 - lines of a table


def test_what_is_not_shown_is_counted_and_summed() -> None:
    page = Page(limit=1)

    assert "and 2 more lines, $2,184.00 together" in explanation_text(WHOLE, page)
    assert "And 2 more lines, $2,184.00 together." in shown(
        explained_answer(WHOLE, page)
    )
    document = explanation_document(WHOLE, page)
    assert (len(document["items"]), document["items_total"]) == (1, 3)
    assert document["sum_of_items"] == document["total"] == "6807.36"


def test_a_second_page_says_what_came_before() -> None:
    text = shown(explained_answer(WHOLE, Page(offset=2, limit=2)))

    assert "After the first 2." in text


def test_what_the_lines_do_not_explain_is_said_loudly() -> None:
    wrong = make_explanation(make_charge_line(), difference=Money.of("3"))

    assert "IS NOT EXPLAINED" in explanation_text(wrong, Page())
    assert ":warning: $3.00 of it is not explained" in shown(
        explained_answer(wrong, Page())
    )


def test_unknown_prices_make_the_figure_at_least() -> None:
    some = make_explanation(make_charge_line(), unknown=("p9.96xlarge spot",))

    assert "*at least $4,623.36*" in shown(explained_answer(some, Page()))
    assert "not priced, in no line: p9.96xlarge spot" in explanation_text(some, Page())


def test_a_figure_without_lines_says_so() -> None:
    assert "made of no lines" in shown(explained_answer(make_explanation(), Page()))


def test_several_accounts_are_told_apart() -> None:
    two = make_explanation(make_charge_line(), make_charge_line(account="9" * 12))

    text = explanation_text(two, Page())

    assert ACCOUNT in text
    assert "9" * 12 in text


def test_hostile_words_ring_nobody_and_break_no_block() -> None:
    for text in hostile_strings():
        wild = make_explanation(
            make_charge_line(usage_type=text, region=text),
            make_transfer_line(other=text, evidence=text),
            make_running_line(formula=text),
            title=text,
            unknown=(text,),
            notes=(text,),
        )

        for page in fit(explained_answer(wild, Page())):
            blocks = list(page.blocks)
            assert mentions_of({"text": page.text, "blocks": blocks}) == (), text
            assert block_problems(blocks) == [], text


def test_buttons_ask_how_it_was_computed_and_for_more() -> None:
    message = with_buttons(
        explained_answer(make_explanation(), Page()),
        "why job-123",
        why="why job-123",
        more="why job-123 --page=2",
    )

    assert shown(message).endswith(
        "[How computed answer_why=why job-123] [More lines answer_more=why job-123"
        " --page=2]"
    )


def test_the_days_of_a_calendar_are_said_before_the_buttons() -> None:
    told = calendar_text("last week", "Europe/Oslo", NOW.date(), None)
    message = with_buttons(explained_answer(make_explanation(), Page()), "why x")

    blocks = with_calendar(message, told).blocks

    assert blocks[-1]["type"] == "actions"
    assert blocks[-2]["elements"][0]["text"] == told
    assert told == (
        '"last week" by your calendar (Europe/Oslo): AWS billing days 30 Nov 2026 on,'
        " UTC."
    )


def test_a_provisional_figure_says_how_far_off_such_figures_were() -> None:
    score = Score(
        job_days=2, median=Fraction(1, 50), worst=Fraction(1, 25),
        overall=Fraction(-1, 50),
    )  # fmt: skip
    found = replace(WHOLE, accuracy=score)
    said = (
        "rovisional compute of the last 30 days: half of 2 days of jobs within 2 %, "
        "the worst 4 % off, together 2 % below the bill"
    )

    assert f"p{said}" in explanation_text(found, Page())
    assert f"P{said}." in "".join(shown(explained_answer(found, Page())))
    assert explanation_document(found, Page())["provisional_error_last_30_days"] == {
        "job_days": 2,
        "median_percent": "2",
        "worst_percent": "4",
        "overall_percent": "-2",
    }
