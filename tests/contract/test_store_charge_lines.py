"""Lines of the bill behind a figure, alike on every database."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from billing.core.charges import CostCategory
from billing.ports.charge_lines import ChargeFilter
from tests.builders import day, make_charge, usd
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

SINCE, UNTIL = day("2026-11-01"), day("2026-12-01")


def test_alike_charges_of_a_day_are_summed_and_unknown_stays_unknown(
    store: SqlStore,
) -> None:
    import_charges(
        store,
        [
            make_charge(billed="1.000000001", list_cost="2", quantity="0.1"),
            make_charge(billed="2.000000001", list_cost="3", quantity="0.2"),
            make_charge(job="job-9", billed="5", list_cost="6", quantity="1"),
            make_charge(job="job-9", billed="5"),
            make_charge(job="", billed="7", cost_category=CostCategory.STORAGE),
        ],
    )

    with store.read() as unit:
        every = unit.ledger.charge_sums(SINCE, UNTIL, ChargeFilter())
        (mine,) = unit.ledger.charge_sums(SINCE, UNTIL, ChargeFilter(key="Job-123"))
        (loose,) = unit.ledger.charge_sums(
            SINCE, UNTIL, ChargeFilter(key="bucket:untagged", category="storage")
        )
        none = unit.ledger.charge_sums(SINCE, UNTIL, ChargeFilter(region="eu-west-1"))

    assert (mine.billed, mine.charges) == (usd("3.000000002"), 2)
    assert (mine.list_cost, mine.quantity) == (usd("5"), Decimal("0.3"))
    other = next(one for one in every if one.key == "job-9")
    assert (other.list_cost, other.quantity) == (None, None)
    assert loose.billed == usd("7")
    assert none == []
