"""What hours really cost is explained to the cent, from AWS to the lines."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from billing.core.money import Money, total
from billing.core.paid_shares import PaidShare
from bot.views.explain_document import explanation_document
from bot.views.explain_values import RunningTime, TransferLine
from bot.views.explain_words import Page
from bot.wiring.explain import Wanted, explain
from deploy.sandbox.aws.builders import cost, gpu_hours
from deploy.sandbox.aws.world import CostTag
from tests.builders import day, usd
from tests.cases.resources import TODAY, look
from tests.cases.test_reserved import BLOCK, block, in_block
from tests.contract.sources.aws import NOW

if TYPE_CHECKING:
    from bot.views.explain_values import Explanation
    from tests.cases.place import Place


def explained(place: Place, figure: str) -> Explanation:
    found = explain(place.application, Wanted(figure=figure))
    assert found.difference == Money.zero(), figure
    return found


def test_hours_of_a_block_say_that_their_fee_is_spread(place: Place) -> None:
    place.config["prices"] = {"capacity_blocks": {BLOCK: "$18,432"}}
    place.aws.serve(instances=[in_block()], capacity_reservations=[block()])
    look(place, TODAY, NOW)

    (line,) = explained(place, "job-1").lines
    idle = explained(place, "bucket:commitment-unused")

    assert isinstance(line, RunningTime)
    assert line.amount == usd("576")
    assert line.formula == "1 x p5.48xlarge x 6 h x $96.00/h"
    assert "spread over its hours" in line.basis
    assert total(one.amount for one in idle.lines) == usd("576")


def test_a_fee_that_the_bill_tells_is_taken_off_its_day(place: Place) -> None:
    place.aws.serve(
        tags=[CostTag(key="job-id")],
        costs=[
            cost("2026-04-02", "18432.00", usage_type="CapacityBlock:p5.48xlarge",
                 record_type="Fee"),
            *(gpu_hours(f"2026-04-{day:02}", "g5.xlarge", hours="24", price="1.006")
              for day in range(1, 12)),
        ],
        instances=[in_block()],
        capacity_reservations=[block()],
        estimated_days=1,
    )  # fmt: skip
    look(place, TODAY - timedelta(hours=1), NOW)

    found = explained(place, "all@2026-04-01..")
    taken = [one for one in found.lines if isinstance(one, TransferLine)]

    assert [one.amount for one in taken] == [usd("-18432")]
    assert found.total == place.cost(since=day("2026-04-01").isoformat()).total
    for figure in ("account:123456789012", "region:us-east-1", "all:compute"):
        explained(place, f"{figure}@2026-04-01..")


def test_a_share_of_list_price_is_in_the_formula_and_its_basis_said(
    place: Place,
) -> None:
    place.aws.serve(instances=[in_block(lifecycle="", capacity_reservation_id="")])
    look(place, TODAY, NOW)
    with place.store.write() as unit:
        (account,) = {one.account for one in unit.ledger.open_intervals()}
        paid = PaidShare(
            account=account,
            family="p5",
            effective=usd("81"),
            list_cost=usd("100"),
            since=NOW.date() - timedelta(days=7),
            until=NOW.date(),
        )
        unit.ledger.set_paid_shares(account, [paid])

    (line,) = explained(place, "job-1").lines

    assert isinstance(line, RunningTime)
    assert line.formula.endswith("/h x 81 %")
    assert line.basis.startswith("81 % of list price")


def test_a_provisional_figure_tells_how_far_off_such_figures_were(
    place: Place,
) -> None:
    place.aws.serve(
        tags=[CostTag(key="job-id")],
        costs=[gpu_hours("2026-04-09", "p5.48xlarge", hours="24", price="50",
                         tags={"job-id": "job-1"})],
        instances=[in_block(lifecycle="", capacity_reservation_id="")],
        estimated_days=0,
    )  # fmt: skip
    look(place, TODAY - timedelta(days=3), NOW)

    found = explained(place, "job-1@2026-04-01..")
    billed = explained(place, "job-1:billed@2026-04-01..")
    document = explanation_document(found, Page())

    assert found.provisional.nanos
    assert found.accuracy is not None
    assert document["provisional_error_last_30_days"]["job_days"] == (
        found.accuracy.job_days
    )
    assert billed.accuracy is None
