"""Cost Explorer that fails, lies or changes: the whole bill comes, or a named error."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date

import pytest

from billing.core.charges import ChargeCategory
from billing.core.money import Money, total
from billing.ports import (
    AnswerChangedError,
    IncompleteAnswerError,
    RequestBudgetError,
    SourceUnavailableError,
)
from deploy.sandbox.aws.builders import (
    cost,
    other_charge,
)
from deploy.sandbox.aws.world import Account
from tests.builders import usd
from tests.contract.sources.aws import MEMBER, Aws
from tests.contract.sources.bills import FIRST, SECOND, TAG, detail, spend


def test_throttling_is_waited_out(aws: Aws) -> None:  # C019
    sandbox = aws.serve(costs=[cost("2026-04-01", "5")])
    sandbox.faults.add(kind="throttle", operation="GetCostAndUsage", times=2)

    controls = aws.bill().controls(FIRST, SECOND)

    assert controls[0].billed == usd("5")
    assert len(aws.charged) == 4


@pytest.mark.parametrize("kind", ["truncate", "cut"])
def test_a_cut_answer_is_asked_for_again(aws: Aws, kind: str) -> None:  # C158
    sandbox = aws.serve(costs=[cost("2026-04-01", "5")])
    sandbox.faults.add(kind=kind, operation="GetCostAndUsage", times=1)

    controls = aws.bill().controls(FIRST, SECOND)

    assert controls[0].billed == usd("5")


def test_an_answer_that_stays_cut_is_refused(aws: Aws) -> None:  # C158
    sandbox = aws.serve(costs=[cost("2026-04-01", "5")])
    sandbox.faults.add(kind="truncate", operation="GetCostAndUsage")

    with pytest.raises(IncompleteAnswerError):
        aws.bill().controls(FIRST, SECOND)


def test_a_dropped_connection_is_tried_again(aws: Aws) -> None:
    sandbox = aws.serve(costs=[cost("2026-04-01", "5")])
    sandbox.faults.add(kind="drop", operation="GetCostAndUsage", times=1)

    assert aws.bill().controls(FIRST, SECOND)[0].billed == usd("5")


@pytest.mark.parametrize("kind", ["repeat-token", "endless-token"])
def test_pages_that_do_not_end_are_refused(
    aws: Aws, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = aws.serve(tags=TAG, page_size=1, costs=[spend("a", "1"), spend("b", "2")])
    sandbox.faults.add(kind=kind, operation="GetCostAndUsage")
    monkeypatch.setattr("billing.aws.ce_calls.PAGES_MAX", 5)

    with pytest.raises(IncompleteAnswerError, match="page"):
        detail(aws.bill(), FIRST, SECOND)


def test_changed_pages_restart_controls_once(aws: Aws) -> None:  # C002
    sandbox = aws.serve(
        page_size=1,
        accounts=[Account(id=MEMBER)],
        costs=[cost("2026-04-01", "1"), cost("2026-04-01", "2", account=MEMBER)],
    )
    sandbox.faults.add(
        kind="fail", operation="GetCostAndUsage", skip=2, times=1,
        code="RequestChangedException", status=400,
    )  # fmt: skip

    controls = aws.bill().controls(FIRST, SECOND)

    assert [one.billed for one in controls] == [usd("2"), usd("1")]


def test_changed_pages_of_the_detail_are_told_to_the_reader(aws: Aws) -> None:
    sandbox = aws.serve(tags=TAG, page_size=1, costs=[spend("a", "1"), spend("b", "2")])
    sandbox.faults.add(
        kind="fail", operation="GetCostAndUsage", skip=1,
        code="InvalidNextTokenException", status=400,
    )  # fmt: skip

    with pytest.raises(AnswerChangedError):
        detail(aws.bill(), FIRST, SECOND)


def test_a_denied_call_names_the_code_and_what_was_asked(aws: Aws) -> None:
    sandbox = aws.serve()
    sandbox.faults.add(kind="deny", service="ce")

    with pytest.raises(SourceUnavailableError) as caught:
        aws.bill().controls(FIRST, SECOND)

    assert caught.value.cause == "AccessDeniedException"
    assert "ce:GetCostAndUsage" in str(caught.value)


def test_a_bill_without_net_amounts_is_read_without_them(aws: Aws) -> None:
    sandbox = aws.serve(tags=TAG, costs=[spend("a", "5")])
    sandbox.faults.add(
        kind="fail", operation="GetCostAndUsage", times=1,
        code="DataUnavailableException", status=400,
    )  # fmt: skip
    source = aws.bill()

    (control,) = source.controls(FIRST, SECOND)
    charges = detail(source, FIRST, SECOND)

    assert total(one.billed for one in charges) == control.billed == usd("5")
    assert any("unblended" in note for note in source.notes)
    metrics = Counter(
        name
        for request in sandbox.requests.of("GetCostAndUsage")[1:]
        for name in request.parameters["Metrics"]
    )
    assert "NetUnblendedCost" not in metrics


def test_the_currency_of_the_bill_is_told(aws: Aws) -> None:
    aws.serve(currency="CNY", costs=[cost("2026-04-01", "700")])
    source = aws.bill()

    (control,) = source.controls(FIRST, SECOND)

    assert control.billed == Money.of("700", "CNY")
    assert source.currency == "CNY"


def test_a_spent_budget_stops_the_request_before_it_is_made(aws: Aws) -> None:
    sandbox = aws.serve(costs=[cost("2026-04-01", "5")])
    source = aws.bill()

    def refuse(operation: str, amount: Money) -> None:
        raise RequestBudgetError("cost-explorer", f"no budget for {operation}")

    source._clients._tally._hook = refuse

    with pytest.raises(RequestBudgetError):
        source.controls(FIRST, SECOND)

    assert sandbox.requests.count("GetCostAndUsage") == 0


def test_tax_and_credits_are_categories_of_their_own(aws: Aws) -> None:
    aws.serve(
        costs=[
            other_charge("2026-04-01", "Tax", "7.7"),
            other_charge("2026-04-01", "Credit", "-1"),
        ]
    )

    charges = detail(aws.bill(), FIRST, SECOND)

    assert {one.category for one in charges} == {
        ChargeCategory.TAX,
        ChargeCategory.CREDIT,
    }


def test_totals_that_move_between_their_questions_are_asked_again(aws: Aws) -> None:
    sandbox = aws.serve(costs=[cost("2026-04-01", "5")])
    sandbox.faults.add(
        kind="change-data", operation="GetCostAndUsage", skip=1, times=1,
        costs=[cost("2026-04-01", "3")],
    )  # fmt: skip

    (control,) = aws.bill().controls(FIRST, SECOND)

    assert control.billed == usd("8")
    assert sandbox.requests.count("GetCostAndUsage") == 4


def test_totals_that_are_never_the_sum_of_their_accounts_are_refused(aws: Aws) -> None:
    sandbox = aws.serve(costs=[cost("2026-04-01", "5")])
    sandbox.faults.add(
        kind="change-data", operation="GetCostAndUsage", skip=1, times=1,
        costs=[cost("2026-04-01", "3")],
    )  # fmt: skip
    sandbox.faults.add(
        kind="change-data", operation="GetCostAndUsage", skip=2, times=1,
        costs=[cost("2026-04-01", "3")],
    )  # fmt: skip

    with pytest.raises(IncompleteAnswerError, match="not the sum of its accounts"):
        aws.bill().controls(FIRST, SECOND)


def test_an_answer_that_leaves_out_a_day_is_refused(aws: Aws) -> None:
    sandbox = aws.serve(tags=TAG)
    only_first = {
        "TimePeriod": {"Start": "2026-04-01", "End": "2026-04-02"},
        "Estimated": True,
        "Total": {},
        "Groups": [],
    }
    sandbox.serve_prebuilt([json.dumps({"ResultsByTime": [only_first]}).encode()])

    with pytest.raises(IncompleteAnswerError, match="2026-04-02"):
        detail(aws.bill(), FIRST, date(2026, 4, 3))
