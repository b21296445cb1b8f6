"""Approval cards, confirmations and refusals as people read them."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from bot.views.approval import (
    approval_card,
    decided_card,
    request_filed,
    requests_list,
)
from bot.views.approval_buttons import button_value, parse_button_value
from bot.views.refusal import click_refused, stale_card, vote_counted
from policies.core.approvals import RequestState, Verdict
from tests.builders_bot import (
    NOW,
    PEOPLE,
    drawn,
    make_envelope,
    make_request,
    make_rule,
    make_vote,
    shown,
)


def test_approval_card() -> None:
    card = approval_card(make_request(), people=PEOPLE, now=NOW)

    assert drawn(card) == snapshot("""\
Approval needed: job-123, 32 x p5.48xlarge, up to $40,000.00 over 24 hours
------
# Approval needed: up to $40,000.00 over 24 hours
| *Job* `job-123`
| *What* 32 x `p5.48xlarge`, on demand, in `us-east-1`
| *How long* 24 hours
| *Price* $31,000.00 to $40,000.00, $36,500.00 expected
| *Asked by* <@U0MIA>
| *Team* `research`
*Why*
> Final pretraining run of the quarter
*Other ways to run it*
• spot: $14,000.00 (restarts likely)
*Needs 1 approval* from <!subteam^S0APPROVE>, not the requester or owner.
Policy `approve-large-runs`: over $10,000. Expires 1 Dec 2026 16:00 UTC, in 1 day.
<Reason to deny, or question: ____>
[Approve approval_approve=apr-7k2m9q:1] [Deny approval_deny=apr-7k2m9q:1] [Send back
   approval_ask=apr-7k2m9q:1] [Switch to spot approval_switch_0=apr-7k2m9q:1:0]
(`apr-7k2m9q` version 1. Asked 30 Nov 2026 15:59 UTC. Estimate: price list of 29 Nov
   2026.)\
""")


def test_card_without_a_price_asks_a_person_and_shows_no_zero() -> None:
    request = make_request(
        low=None, expected=None, high=None, envelope=make_envelope(cost_ceiling=None)
    )

    text = shown(approval_card(request, people=PEOPLE, now=NOW))

    assert "price unknown" in text
    assert "$0" not in text


def test_card_for_two_approvers_shows_who_already_agreed() -> None:
    request = make_request(
        rule=make_rule("@gpu-approvers", "@finance", required=2), votes=(make_vote(),)
    )

    text = shown(approval_card(request, people=PEOPLE, now=NOW))

    assert "*Needs 2 approvals* from <!subteam^S0APPROVE> or @finance" in text
    assert "1 of 2 approvals so far." in text
    assert "<@U0ADA> approved at" in text


# C091
def test_card_without_approvers_says_that_nobody_may_approve() -> None:
    card = approval_card(make_request(rule=make_rule()), people=PEOPLE, now=NOW)

    assert "Nobody may approve" in shown(card)


def test_approved_card_names_who_and_has_no_buttons() -> None:
    request = make_request(
        state=RequestState.APPROVED,
        decided_at=NOW,
        decided_by="p-ada",
        votes=(make_vote(),),
    )

    card = decided_card(request, people=PEOPLE)

    assert drawn(card) == snapshot("""\
Approved: job-123, 32 x p5.48xlarge, up to $40,000.00 over 24 hours
------
# Approved: up to $40,000.00 over 24 hours
:white_check_mark: *Approved* by <@U0ADA> at 30 Nov 2026 16:00 UTC
It may be launched now with `gpucost run`, within what is described here and nothing
   else.
| *Job* `job-123`
| *What* 32 x `p5.48xlarge`, on demand, in `us-east-1`
| *How long* 24 hours
| *Price* $31,000.00 to $40,000.00, $36,500.00 expected
| *Asked by* <@U0MIA>
| *Team* `research`
*Why*
> Final pretraining run of the quarter
(`apr-7k2m9q` version 1. Asked 30 Nov 2026 15:59 UTC. Estimate: price list of 29 Nov
   2026.)\
""")
    assert "actions" not in {block["type"] for block in card.blocks}


def test_denied_card_quotes_the_reason() -> None:
    vote = make_vote(verdict=Verdict.DENY, reason="wait for spot")
    request = make_request(
        state=RequestState.DENIED, decided_at=NOW, decided_by="p-ada", votes=(vote,)
    )

    text = shown(decided_card(request, people=PEOPLE))

    assert ":no_entry: *Denied* by <@U0ADA>" in text
    assert "> wait for spot" in text


@pytest.mark.parametrize(
    "state", [RequestState.EXPIRED, RequestState.CANCELLED, RequestState.SUPERSEDED]
)
def test_card_of_every_other_end_has_no_buttons(state: RequestState) -> None:
    card = decided_card(make_request(state=state, decided_at=NOW), people=PEOPLE)

    assert "actions" not in {block["type"] for block in card.blocks}


def test_button_carries_request_and_version_only() -> None:
    request = make_request(version=3)

    assert button_value(request) == "apr-7k2m9q:3"
    assert parse_button_value(button_value(request)) == ("apr-7k2m9q", 3)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "apr-7k2m9q",
        "apr-7k2m9q:x",
        "apr-7k2m9q:1:U0ADA",
        " apr-7k2m9q:1",
        "x" * 5000,
    ],
)
def test_edited_button_values_are_none_of_ours(value: str) -> None:
    assert parse_button_value(value) is None


def test_confirmation_of_a_request() -> None:
    message = request_filed(make_request(), people=PEOPLE, channel="<#C0APPROVE>")

    assert drawn(message) == snapshot("""\
Request `apr-7k2m9q` waits for a decision in <#C0APPROVE>: job-123, 32 x
   p5.48xlarge, up to $40,000.00 over 24 hours.
------
Request `apr-7k2m9q` waits for a decision in <#C0APPROVE>: job-123, 32 x
   p5.48xlarge, up to $40,000.00 over 24 hours.\
""")


def test_confirmation_of_a_run_that_needs_nobody() -> None:
    request = make_request(state=RequestState.APPROVED, rule=None)

    text = shown(request_filed(request, people=PEOPLE, channel=""))

    assert "No approval is needed" in text


def test_list_of_requests() -> None:
    decided = make_request(
        state=RequestState.DENIED,
        request_id="apr-0000aa",
        decided_by="p-ada",
        decided_at=NOW,
    )

    message = requests_list((make_request(), decided), people=PEOPLE, now=NOW)

    assert drawn(message) == snapshot("""\
2 approval requests, 1 waiting
------
# 2 approval requests, 1 waiting
`apr-7k2m9q` `job-123`: 32 x `p5.48xlarge`, up to $40,000.00 over 24 hours
Waiting, asked by <@U0MIA>. Expires 1 Dec 2026 16:00 UTC, in 1 day.
`apr-0000aa` `job-123`: 32 x `p5.48xlarge`, up to $40,000.00 over 24 hours
Denied by <@U0ADA> at 30 Nov 2026 16:00 UTC, asked by <@U0MIA>.\
""")


def test_refusals_say_what_did_not_happen() -> None:
    refused = click_refused("apr-7k2m9q", "the requester may not approve")

    assert drawn(refused, stale_card("apr-7k2m9q")) == snapshot("""\
Nothing was decided on `apr-7k2m9q`: the requester may not approve.
------
Nothing was decided on `apr-7k2m9q`: the requester may not approve.
======
`apr-7k2m9q` was changed after this card was posted. Decide on the newest card.
------
`apr-7k2m9q` was changed after this card was posted. Decide on the newest card.\
""")
    assert "one more approval is needed" in shown(vote_counted(make_request(), left=1))
