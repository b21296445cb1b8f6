"""Untagged cost and what was said of it, as people read it; a diff is the review."""

from __future__ import annotations

from inline_snapshot import snapshot

from bot.views.asked import shared, with_buttons
from bot.views.limits import fit
from bot.views.untagged import (
    kept_message,
    taken_back_message,
    undo_key,
    untagged_message,
)
from bot.views.untagged_terminal import (
    confirmed_text,
    undone_text,
    untagged_document,
    untagged_text,
)
from deploy.sandbox.slack.blocks import block_problems
from deploy.sandbox.slack.mentions import mentions_of
from tests.builders_bot import drawn, shown
from tests.builders_explain import (
    make_confirmed,
    make_item,
    make_suggestion,
    make_untagged,
)
from tests.hostile import hostile_strings

UNKNOWN = make_item(
    "NatGateway-Bytes", "20", suggestion=None, resources=(), unknown="no resource"
)
ANSWER = make_untagged(make_item(), UNKNOWN, confirmed=(make_confirmed(),))
COMMANDS = {
    ANSWER.items[0].item: "untagged confirm ITEM --job=job-123",
    undo_key(ANSWER.confirmed[0]): "untagged undo 1",
}


def test_untagged_with_a_suggestion_and_without() -> None:
    message = untagged_message(ANSWER, offset=0, commands=COMMANDS)

    assert drawn(message) == snapshot("""\
Untagged: $100.00 (10 %) from 1 Nov to 30 Nov 2026 16:00 UTC
------
# Untagged: $100.00 (10 %)
*$100.00*, 10 % of all cost, from 1 Nov to 30 Nov 2026 16:00 UTC belongs to no job
*$80.00*  `p5.48xlarge` in 012345678901 us-east-1, 26 to 27 Nov 2026
1 resource: i-0abc 12.5 h
Probably `job-123` (strong, 85 of 100): named 'trainer' like its instances (30);
   same owner 'mia' (25); the only job that ran p5.48xlarge then (30)
[It is job-123 untagged_confirm=untagged confirm ITEM --job=job-123]
*$20.00*  `NatGateway-Bytes` in 012345678901 us-east-1, 26 to 27 Nov 2026
Whose it is: unknown, no resource
(`untagged confirm 012345678901/us-east-1/NatGateway-Bytes --job JOB`)
*Confirmed*
• 1: `012345678901/us-east-1/p5.48xlarge` is `job-123`, said by mia@example.com on
   30 Nov 2026 16:00 UTC
[Take back 1 untagged_undo=untagged undo 1]
(Scores add up signs of at most 100 points; nothing is given to a job unless
   somebody confirms it.)
(Last read: bill 2 hours ago.)\
""")


def test_untagged_in_the_terminal() -> None:
    assert untagged_text(ANSWER, limit=5) == snapshot("""\
untagged: $100.00 (10 % of all cost), 1 Nov to 30 Nov 2026 16:00 UTC

$80.00  012345678901/us-east-1/p5.48xlarge
  26 to 27 Nov 2026, $80.00 billed, $0.00 provisional
  1 resource: i-0abc 12.5 h
  probably job-123 (strong, 85 of 100)
    named 'trainer' like its instances (30)
    same owner 'mia' (25)
    the only job that ran p5.48xlarge then (30)

$20.00  012345678901/us-east-1/NatGateway-Bytes
  26 to 27 Nov 2026, $20.00 billed, $0.00 provisional
  unknown: no resource

confirmed (`gpucost untagged undo NUMBER` takes one back)
  1  012345678901/us-east-1/p5.48xlarge  job-123  by mia@example.com  2026-11-30

`gpucost untagged confirm ITEM --job JOB` gives an item to a job\
""")


def test_a_shared_list_has_no_button_that_gives_cost_away() -> None:
    message = with_buttons(
        untagged_message(ANSWER, offset=0, commands=COMMANDS), "untagged"
    )

    post = shared(message, by="U0MIA", question="/gpucost untagged")

    assert [one for one in post.blocks if one["type"] == "actions"] == []


def test_nothing_untagged() -> None:
    message = untagged_message(make_untagged(), offset=0, commands={})

    assert "No cost without a job" in shown(message)
    assert "no cost without a job" in untagged_text(make_untagged(), limit=5)


def test_the_next_items_are_counted() -> None:
    many = make_untagged(*(make_item(f"t{number}.large") for number in range(7)))

    first = shown(untagged_message(many, offset=0, commands={}))
    second = shown(untagged_message(many, offset=5, commands={}))

    assert "and 2 more items" in first
    assert "t5.large" not in first
    assert "t6.large" in second
    assert len(untagged_document(many, limit=3)["items"]) == 3


def test_resources_that_fit_different_jobs_are_named_one_by_one() -> None:
    item = make_item(suggestion=None, unknown="its resources fit different jobs")

    assert "`i-0abc`: Probably `job-123` (strong, 85 of 100)" in shown(
        untagged_message(make_untagged(item), offset=0, commands={})
    )
    assert "i-0abc: probably job-123" in untagged_text(make_untagged(item), limit=5)


def test_kept_and_taken_back() -> None:
    kept = kept_message(make_confirmed(), days=2, again=False, undo="untagged undo 1")

    assert drawn(kept) == snapshot("""\
:white_check_mark: `012345678901/us-east-1/p5.48xlarge` belongs to `job-123` from 26
   Nov 2026 00:00 UTC to 28 Nov 2026 00:00 UTC; 2 days computed anew.
------
:white_check_mark: `012345678901/us-east-1/p5.48xlarge` belongs to `job-123` from 26
   Nov 2026 00:00 UTC to 28 Nov 2026 00:00 UTC; 2 days computed anew.
[Take it back untagged_undo=untagged undo 1]\
""")
    assert drawn(taken_back_message(make_confirmed(), days=1)) == snapshot("""\
`012345678901/us-east-1/p5.48xlarge` is no longer given to `job-123`; 1 day computed
   anew.
------
`012345678901/us-east-1/p5.48xlarge` is no longer given to `job-123`; 1 day computed
   anew.\
""")
    assert "nothing changed" in shown(
        kept_message(make_confirmed(), days=0, again=True, undo="")
    )


def test_what_the_terminal_says_of_a_confirmation() -> None:
    one = make_confirmed()

    assert confirmed_text(one, moved=2, again=False) == snapshot("""\
012345678901/us-east-1/p5.48xlarge belongs to job-123
from 2026-11-26 00:00 UTC to 2026-11-28 00:00 UTC; confirmation 1; 2 days computed anew\
""")
    assert "before, as number 1" in confirmed_text(one, moved=0, again=True)
    assert undone_text(one, moved=1).endswith(
        "is no longer given to job-123; 1 day computed anew"
    )


def test_hostile_words_ring_nobody_and_break_no_block() -> None:
    for text in hostile_strings():
        item = make_item(
            text, suggestion=make_suggestion(text or "x"), region=text, unknown=text
        )
        answer = make_untagged(item, confirmed=(make_confirmed(item=text, by=text),))
        message = untagged_message(answer, offset=0, commands={item.item: "untagged"})

        for page in fit(message):
            blocks = list(page.blocks)
            assert mentions_of({"text": page.text, "blocks": blocks}) == (), text
            assert block_problems(blocks) == [], text
