"""How a figure came about: its lines say quantity, price, rule, source."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.charges import CostCategory
from billing.core.fleet import Lifecycle
from billing.core.money import Money, total
from billing.core.placements import Placement, PlacementSource
from billing.core.prices import Purchase
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.explain import Explainer
from bot.use_cases.pricing import OwnPrice, price_book
from bot.views.explain_values import ChargeLine, RunningNow, RunningTime, TransferLine
from tests.builders import ACCOUNT, at, day, make_key, make_price, make_volume, usd
from tests.builders_use_cases import (
    OTHER_ACCOUNT,
    UNPRICED,
    Company,
    costs,
    runs,
)

if TYPE_CHECKING:
    from bot.views.explain_values import Explanation


def explained(company: Company, figure: str, **changes: Any) -> Explanation:
    with company.store.read() as unit:
        explainer = Explainer(
            ledger=unit.ledger,
            prices=price_book(unit.ledger, company.own),
            keys=company.keys,
            stale=(),
            now=company.now,
        )
        found = explainer.explain(replace(explainer.named(figure), **changes))
    assert found.total is None or found.difference == Money.zero()
    return found


def only(explained: Explanation, kind: type) -> Any:
    (line,) = [one for one in explained.lines if isinstance(one, kind)]
    return line


def test_charges_that_are_alike_are_one_line_with_quantity_and_price(
    company: Company,
) -> None:
    company.bills(
        costs("2026-11-26", "240", quantity="24"),
        costs("2026-11-27", "120", quantity="12"),
        through="2026-11-29",
    )

    line = only(explained(company, "job-123"), ChargeLine)

    assert (line.amount, line.days, line.charges) == (usd("360"), 2, 2)
    assert (line.quantity, line.unit_price) == (Decimal(36), Decimal(10))
    assert (line.since, line.until) == (day("2026-11-26"), day("2026-11-28"))


def test_lines_come_largest_first_and_tell_list_from_effective(
    company: Company,
) -> None:
    company.bills(
        costs("2026-11-26", "5", usage_type="EBS:VolumeUsage.gp3",
              cost_category=CostCategory.STORAGE),
        costs("2026-11-26", "90", effective="80", list_cost="100"),
        through="2026-11-29",
    )  # fmt: skip

    first, second = explained(company, "job-123").lines

    assert isinstance(first, ChargeLine)
    assert (first.amount, first.billed, first.list_cost) == (
        usd("80"),
        usd("90"),
        usd("100"),
    )
    assert second.amount == usd("5")


def test_a_quantity_that_one_charge_does_not_tell_is_unknown_not_zero(
    company: Company,
) -> None:
    company.bills(
        costs("2026-11-26", "240", quantity="24"),
        costs("2026-11-27", "120"),
        through="2026-11-29",
    )

    line = only(explained(company, "job-123"), ChargeLine)

    assert (line.quantity, line.unit_price) == (None, None)


def test_running_time_is_count_times_hours_times_price_with_its_source(
    company: Company,
) -> None:
    company.is_billed_through("2026-11-30")
    company.is_watched(
        *(runs(f"i-{n}", since="2026-11-30T00:00Z") for n in range(3)),
        at_="2026-11-30T12:30Z",
    )
    company.now = at("2026-11-30T12:30Z")

    line = only(explained(company, "job-123"), RunningTime)

    assert line.formula == "3 x p5.48xlarge x 12.5 h x $10.00/h"
    assert (line.amount, line.count) == (usd("375"), 3)
    assert line.price_source
    assert line.resources == ("i-0", "i-1", "i-2")


def test_uneven_hours_are_said_to_be_an_average(company: Company) -> None:
    company.is_billed_through("2026-11-30")
    company.is_watched(
        runs("i-1", since="2026-11-30T00:00Z"),
        runs("i-2", since="2026-11-30T01:00Z"),
        at_="2026-11-30T02:00Z",
    )
    company.now = at("2026-11-30T02:00Z")

    line = only(explained(company, "job-123"), RunningTime)

    assert line.formula == "2 x p5.48xlarge x 1.5 h each on average x $10.00/h"


def test_spot_whose_price_moved_says_how_many_prices_and_their_average(
    company: Company,
) -> None:
    key = make_key(purchase=Purchase.SPOT, zone="us-east-1a")
    for text, since in (("4", "2026-11-29T00:00Z"), ("6", "2026-11-30T05:00Z")):
        company.is_priced(make_price(text, key=key, as_of=since, effective_from=since))
    company.is_billed_through("2026-11-30")
    company.is_watched(
        runs(lifecycle=Lifecycle.SPOT, zone="us-east-1a"), at_="2026-11-30T10:00Z"
    )
    company.now = at("2026-11-30T10:00Z")

    line = only(explained(company, "job-123"), RunningTime)

    assert (line.amount, line.prices, line.rate) == (usd("50"), 2, None)
    assert line.formula == "1 x p5.48xlarge x 10 h x $5.00/h on average"


def test_own_price_stands_beside_the_list_price(company: Company) -> None:
    company.own = (OwnPrice(discount=Fraction(1, 5)),)
    company.is_billed_through("2026-11-30")
    company.is_watched(runs(), at_="2026-11-30T10:00Z")
    company.now = at("2026-11-30T10:00Z")

    line = only(explained(company, "job-123"), RunningTime)

    assert line.formula.endswith("x $8.00/h")
    assert str(line.list_rate) == "$10.00/h"


def test_what_has_no_price_is_named_and_in_no_line(company: Company) -> None:
    company.is_billed_through("2026-11-30")
    company.is_watched(
        runs("i-1"), runs("i-2", instance_type=UNPRICED), at_="2026-11-30T10:00Z"
    )
    company.now = at("2026-11-30T10:00Z")

    found = explained(company, "job-123")

    assert len(found.lines) == 1
    assert any(UNPRICED in one for one in found.unknown)


def test_a_volume_is_its_size_times_hours(company: Company) -> None:
    company.is_priced(make_price("0.0001", product="ebs:gp3"))
    company.is_billed_through("2026-11-30")
    company.is_watched(
        volumes=[make_volume(size_gib=500, tags={"job-id": "job-123"})],
        at_="2026-11-30T10:00Z",
    )
    company.now = at("2026-11-30T10:00Z")

    line = only(explained(company, "job-123:storage"), RunningTime)

    assert line.formula == "1 x 500 GiB gp3 x 10 h x $0.05/h"


def test_a_day_that_the_bill_stands_in_for_is_told_apart(company: Company) -> None:
    company.bills(costs("2026-11-28", "70", quantity="7"))

    found = explained(company, "job-123:provisional")

    assert only(found, ChargeLine).is_open
    assert (found.billed, found.provisional) == (Money.zero(), usd("70"))


def test_what_a_scheduler_placed_says_by_which_rule(company: Company) -> None:
    company.is_watched(runs(job="", since="2026-11-26T00:00Z"), at_="2026-11-26T00:10Z")
    company.is_watched(runs(job="", since="2026-11-26T00:00Z"), at_="2026-11-29T00:00Z")
    placed = Placement(
        job="job-7",
        resource_id="i-1",
        started_at=at("2026-11-26T00:00Z"),
        ended_at=at("2026-11-26T12:00Z"),
        gpus=None,
        source=PlacementSource.SLURM,
        external_id="1234",
    )
    with company.store.write() as unit:
        unit.ledger.record_placements([placed], company.now)
    company.bills(
        costs("2026-11-26", "240", job="", quantity="24"), through="2026-11-29"
    )

    found = explained(company, "job-7")
    left = explained(company, "bucket:idle@2026-11-26")

    line = only(found, TransferLine)
    assert (line.rule, line.basis, line.amount) == (
        "placement",
        "allocated",
        usd("120"),
    )
    assert "slurm 1234" in line.evidence
    assert total(one.amount for one in left.lines) == usd("120")


def test_what_left_the_untagged_bucket_is_taken_off_it(company: Company) -> None:
    test_what_a_scheduler_placed_says_by_which_rule(company)

    found = explained(company, "bucket:untagged@2026-11-26")

    assert found.total == Money.zero()
    assert sorted(one.amount.text() for one in found.lines) == [
        "-120.00",
        "-120.00",
        "240.00",
    ]


def test_burn_rate_and_the_next_day_are_what_runs_now(company: Company) -> None:
    company.is_billed_through("2026-11-30")
    company.is_watched(runs("i-1"), runs("i-2"), at_="2026-11-30T10:00Z")
    company.now = at("2026-11-30T10:00Z")

    burn = explained(company, "job-123:burn")
    ahead = explained(company, "job-123:next-24h")

    assert (burn.total, burn.per_hour) == (usd("20"), True)
    assert only(burn, RunningNow).formula == "2 x p5.48xlarge x $10.00/h"
    assert ahead.total == usd("480")
    assert only(ahead, RunningNow).formula.endswith("x 24 h")


def test_burn_rate_with_an_unknown_price_is_unknown(company: Company) -> None:
    company.is_billed_through("2026-11-30")
    company.is_watched(
        runs("i-1"), runs("i-2", instance_type=UNPRICED), at_="2026-11-30T10:00Z"
    )
    company.now = at("2026-11-30T10:00Z")

    found = explained(company, "job-123:burn")

    assert found.total is None
    assert any(UNPRICED in one for one in found.unknown)


def test_accounts_are_not_added_to_each_other(company: Company) -> None:
    company.bills(costs("2026-11-26", "10"), through="2026-11-29")
    company.bills(
        costs("2026-11-26", "20", account=OTHER_ACCOUNT),
        account=OTHER_ACCOUNT,
        through="2026-11-29",
    )

    assert explained(company, f"account:{ACCOUNT}").total == usd("10")
    assert len(explained(company, "job-123").lines) == 2


def test_unknown_job_has_suggestions(company: Company) -> None:
    company.bills(costs("2026-11-26", "10"), through="2026-11-29")

    with pytest.raises(UnknownJobError) as refused:
        explained(company, "job-12")

    assert refused.value.suggestions == ("job-123",)
