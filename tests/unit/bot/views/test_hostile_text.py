"""Whatever stands in a name, tag or reason is shown literally, in valid messages.

C108, H4.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from billing.core.estimate import Alternative
from bot.ports import Message
from bot.views.alert import finding_alert, finding_resolved
from bot.views.answers import AskError, TopLine
from bot.views.approval import approval_card, decided_card, request_filed, requests_list
from bot.views.approval_events import (
    answered,
    escalated,
    glass_broken,
    handed_on,
    reminded,
    sent_back,
)
from bot.views.cost import cost_answer
from bot.views.digest import digest
from bot.views.errors import ask_error, bad_usage, failed, needs_export, not_available
from bot.views.estimate import estimate_answer
from bot.views.limits import fit
from bot.views.native import Cell, table, without_native
from bot.views.refusal import click_refused, unknown_request, vote_counted
from bot.views.status import paused
from deploy.sandbox.slack.blocks import block_problems
from deploy.sandbox.slack.mentions import mentions_of
from policies.core.approvals import PastEvent, RequestEvent, RequestState
from policies.core.finding import Evidence, Subject
from tests.builders_bot import (
    NOW,
    make_digest,
    make_envelope,
    make_estimate_answer,
    make_finding,
    make_freshness,
    make_group,
    make_job_answer,
    make_request,
    make_rule,
    make_running,
    make_top_answer,
    make_vote,
    usd,
)
from tests.hostile import hostile_strings

#: Nobody is known to Slack: then no message may ring or link to anything.
NOBODY: dict[str, str] = {}


def _cost_messages(text: str) -> Iterator[Message]:
    stale = (make_freshness(account=text, reason=text),)
    groups = tuple(make_group(f"{text}{index}", "1") for index in range(30))
    yield cost_answer(
        make_job_answer(
            job=text,
            team=text,
            owner=text,
            stale=stale,
            provisional_unknown=(text,) * 9,
            running=(make_running(instance_type=text, lifecycle=text, region=text),),
            by_category=groups,
        )
    )
    yield cost_answer(make_top_answer(groups=groups, by=text, stale=stale))
    yield cost_answer(make_top_answer(team=text, by="job"))
    yield cost_answer(make_top_answer(account=text, by="job"))
    yield estimate_answer(make_estimate_answer(policy=text))


def _approval_messages(text: str) -> Iterator[Message]:
    votes = (make_vote(text, reason=text), make_vote("p-2", reason=text))
    request = make_request(
        envelope=make_envelope(job=text, instance_type=text, region=text),
        requester=text,
        caller=f"{text}2",
        owner=f"{text}3",
        reason=text,
        team=text,
        basis=text,
        rule=make_rule(text, required=3),
        votes=votes,
        alternatives=(Alternative(what=text, expected=usd("1"), why=text),) * 9,
        history=_history(text),
        pieces=(text,) * 9,
        context=(text,) * 3,
    )
    yield approval_card(request, people=NOBODY, now=NOW)
    asked = replace(request, state=RequestState.NEEDS_INFO)
    yield approval_card(asked, people=NOBODY, now=NOW)
    yield sent_back(asked, text, people=NOBODY)
    yield answered(request, text, people=NOBODY)
    yield handed_on(request, people=NOBODY)
    yield escalated(request, [text] * 12, people=NOBODY, now=NOW)
    yield reminded(asked, [text] * 12, people=NOBODY, now=NOW)
    yield glass_broken(request, people=NOBODY)
    yield request_filed(request, people=NOBODY, channel="")
    yield requests_list((request,) * 30, people=NOBODY, now=NOW)
    for state in (one for one in RequestState if not one.is_open):
        ended = make_request(state=state, decided_at=NOW, votes=votes, reason=text)
        yield decided_card(ended, people=NOBODY)
    yield vote_counted(request, left=1)


def _history(text: str) -> tuple[PastEvent, ...]:
    said = (RequestEvent.EDIT, RequestEvent.ASK, RequestEvent.REASSIGN)
    return tuple(
        PastEvent(
            event=event, version=1, state=RequestState.PENDING, by=text, at=NOW,
            text=text,
        )
        for event in said
    )  # fmt: skip


def _finding_messages(text: str) -> Iterator[Message]:
    finding = make_finding(
        policy=text,
        kind=text,
        clause=text,
        job=text,
        owner=text,
        team=text,
        subject=Subject(type=text, id=text, account=text, region=text),
        evidence=(Evidence(name=text, value=text, unit=text, threshold=text),) * 20,
        explanation=(text,) * 20,
    )
    yield finding_alert(finding, people=NOBODY, now=NOW)
    yield finding_resolved(finding, people=NOBODY, now=NOW)
    findings = (finding,) * 20
    lines = tuple(
        TopLine(key=f"{text}{index}", total=usd("1"), previous=None)
        for index in range(20)
    )
    yield from digest(
        make_digest(
            label=text,
            team=text,
            findings=findings,
            top_jobs=lines,
            top_teams=lines,
            notes=(text,) * 9,
            approvals=(make_request(envelope=make_envelope(job=text)),) * 20,
            stale=(make_freshness(account=text, reason=text),) * 9,
        ),
        people=NOBODY,
        now=NOW,
    )


def _other_messages(text: str) -> Iterator[Message]:
    error = AskError(message=text, suggestions=(text,) * 9, hint=text)
    yield ask_error(error, command="/gpucost")
    yield bad_usage((text,) * 9, command="/gpucost", suggestions=(text,))
    yield click_refused(text, text)
    yield unknown_request(text)
    yield failed(text)
    yield needs_export(text)
    yield not_available(text)
    yield paused(text, since=NOW, reason=text, people=NOBODY)
    rows: list[list[Cell]] = [[text, usd("1")]] * 3
    yield Message(text="table", blocks=(table(text, [text, text], rows),))


def every_message(text: str) -> Iterator[Message]:
    yield from _cost_messages(text)
    yield from _approval_messages(text)
    yield from _finding_messages(text)
    yield from _other_messages(text)


def posted(message: Message) -> Iterator[dict[str, Any]]:
    """Yield a message as it is posted, with native blocks and without."""
    for page in fit(message):
        yield {"text": page.text, "blocks": list(page.blocks)}
        yield {"text": page.text, "blocks": without_native(page.blocks)}


@pytest.mark.parametrize("part", range(10))
def test_hostile_text_rings_nobody_and_links_nowhere(part: int) -> None:
    for text in hostile_strings()[part::10]:
        for message in every_message(text):
            for post in posted(message):
                assert mentions_of(post) == (), (text[:80], post)
                assert block_problems(post["blocks"]) == [], (text[:80], post)
                assert 0 < len(post["text"]) <= 3000


def _posted_whole(text: str) -> Iterator[Message]:
    """Alerts and cards are posted whole and rewritten later."""
    finding = make_finding(
        owner=text,
        explanation=(text,) * 20,
        evidence=(Evidence(name=text, value=text),) * 20,
    )
    votes = tuple(make_vote(f"{text}{index}", reason=text) for index in range(30))
    request = make_request(
        reason=text, votes=votes, rule=make_rule(*(text,) * 30, required=40)
    )
    yield finding_alert(finding, people=NOBODY, now=NOW)
    yield finding_resolved(finding, people=NOBODY, now=NOW)
    yield approval_card(request, people=NOBODY, now=NOW)
    ended = make_request(state=RequestState.APPROVED, votes=votes, reason=text)
    yield decided_card(ended, people=NOBODY)


@pytest.mark.parametrize("text", ["x" * 10_000, "& < > " * 2_000, "<!channel>\n" * 900])
def test_alerts_and_cards_are_valid_without_being_split(text: str) -> None:
    for message in _posted_whole(text):
        assert block_problems(list(message.blocks)) == []


def test_card_with_endless_text_keeps_its_buttons() -> None:
    *_, card, _ = _posted_whole("& < > " * 2_000)

    assert "actions" in {block["type"] for block in card.blocks}


def test_every_mrkdwn_text_is_taken_as_it_is() -> None:
    """Otherwise Slack turns bare addresses and names into links by itself."""
    for message in every_message("https://evil.example @channel"):
        for node in _nodes(list(message.blocks)):
            if node.get("type") == "mrkdwn":
                assert node["verbatim"] is True


def test_nothing_hidden_or_broken_reaches_a_message() -> None:
    for text in hostile_strings():
        for message in every_message(text):
            for shown in _texts([{"text": message.text}, *message.blocks]):
                hidden = {unicodedata.category(char) for char in shown} & {
                    *("Cf", "Co", "Cs")
                }
                assert not hidden, (text[:80], shown)


def _nodes(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for child in value.values():
            yield from _nodes(child)
    elif isinstance(value, list):
        for child in value:
            yield from _nodes(child)


def _texts(blocks: list[Any]) -> Iterator[str]:
    for node in _nodes(blocks):
        for key in ("text", "caption", "title", "label"):
            if isinstance(node.get(key), str):
                yield node[key]
