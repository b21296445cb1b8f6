"""Receipts of approved runs: sent once, in the thread of the card."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.use_cases.cards import card_key
from bot.use_cases.pricing import price_book
from bot.use_cases.receipts import Till, send_receipts
from bot.views.answers import Message
from bot.views.plain import message_text
from tests.builders_approvals import ADA, CHANNEL, PLAN, Desk, after
from tests.builders_runs import make_run
from tests.builders_use_cases import Company

if TYPE_CHECKING:
    from bot.ports import UnitOfWork
    from bot.unit_of_work import SqlStore
    from policies.core.approvals import ApprovalRequest


@pytest.fixture
def desk(any_store: SqlStore) -> Desk:
    make_run(any_store)
    return Desk(any_store)


def approved(desk: Desk, job: str = "job-123") -> ApprovalRequest:
    request = desk.asks(replace(PLAN, job=job), hours=-24)
    return desk.votes(request, ADA, hours=-23).request


def launched(
    desk: Desk, request: ApprovalRequest, *, ended: float | None, start: float = -20
) -> None:
    with desk.store.write() as unit:
        launch = unit.journal.add_launch(
            request.request_id, 1, count=2, by="p-mia", now=after(start),
            lease_until=after(2),
        )  # fmt: skip
        if ended is not None:
            unit.journal.end_launch(launch, now=after(ended), exit_code=0)


def sends(desk: Desk, hours: float = 0) -> list[str]:
    def till_of(unit: UnitOfWork) -> Till:
        keys = Company(desk.store).keys
        return Till(prices=price_book(unit.ledger, ()), keys=keys, channel=CHANNEL)

    found = send_receipts(
        desk.store, till_of, now=after(hours), system_now=after(hours)
    )
    return [*found]


def told(desk: Desk, request: ApprovalRequest) -> str:
    with desk.store.read() as unit:
        row = unit.outbox.find(f"approval:{request.request_id}:1:receipt:1")
    assert row is not None
    assert row.message.thread_of == card_key(request)
    payload = row.message.payload
    return message_text(Message(text=payload["text"], blocks=tuple(payload["blocks"])))


def test_a_receipt_is_sent_once_when_the_last_launch_ended(desk: Desk) -> None:
    request = approved(desk)
    launched(desk, request, ended=-1)

    sent = [sends(desk), sends(desk, 1)]

    assert sent == [[request.request_id], []]
    text = told(desk, request)
    assert "Receipt of" in text
    assert "up to $8,640.00" in text
    assert "not billed yet" in text


def test_a_run_that_goes_on_gets_no_receipt(desk: Desk) -> None:
    request = approved(desk)
    launched(desk, request, ended=-1)
    launched(desk, request, ended=None)

    assert sends(desk) == []


def test_what_nobody_knows_the_cost_of_says_so(desk: Desk) -> None:
    request = approved(desk, "job-of-nobody")
    launched(desk, request, ended=-1)

    sends(desk)

    text = told(desk, request)
    assert "unknown yet" in text
    assert "not measured" in text
    assert "$0" not in text


def test_a_request_that_never_started_gets_no_receipt(desk: Desk) -> None:
    approved(desk)

    assert sends(desk) == []
    assert sends(desk, timedelta(days=9) / timedelta(hours=1)) == []
