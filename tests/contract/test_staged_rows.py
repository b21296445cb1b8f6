"""Charges that come as rows are staged like charges that come as objects."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from billing.core.charges import Source
from billing.ledger.imports import ForeignChargeError, ImportSupersededError
from billing.ports.charge_rows import CHARGE_CELLS, charge_of

if TYPE_CHECKING:
    from billing.ports.charge_rows import ChargeCells
    from bot.unit_of_work import SqlStore

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
ACCOUNT = "012345678901"
DAY = date(2026, 10, 1)


def _cells(**over: object) -> ChargeCells:
    cells = {
        "account": ACCOUNT, "day": DAY, "region": "us-east-2", "service": "EC2",
        "usage_type": "BoxUsage:p5.48xlarge", "record_type": "Usage",
        "category": "usage", "pricing": "standard", "cost_category": "compute",
        "bucket": "job", "job": "job-1", "billed": 1_500_000_000,
        "effective": 1_250_000_000, "list_cost": None, "quantity": "1.500000000000",
        "unit": "Hrs", "is_estimated": False, "raw_billed": "1.500000000000",
        "resource_id": "i-1",
    }  # fmt: skip
    assert tuple(cells) == CHARGE_CELLS
    return tuple((cells | over).values())


def _begin(store: SqlStore) -> int:
    with store.write() as unit:
        return unit.ledger.begin_import(
            Source.EXPORTS, ACCOUNT, DAY, DAY + timedelta(days=1), NOW
        )


def test_rows_are_staged_as_the_charges_that_they_say(store: SqlStore) -> None:
    rows = [
        _cells(),
        _cells(billed=-1, effective=7, quantity=None, bucket="idle", job=""),
    ]
    number = _begin(store)

    with store.write() as unit:
        unit.ledger.stage_rows(number, rows, "USD")
        by_rows = unit.ledger.staged_totals(number)
    again = _begin(store)
    with store.write() as unit:
        unit.ledger.stage(again, [charge_of(row, "USD") for row in rows])

        assert by_rows == unit.ledger.staged_totals(again)
        assert by_rows[DAY][0].nanos == 1_499_999_999


@pytest.mark.parametrize(
    "over", [{"account": "999999999999"}, {"day": DAY + timedelta(days=1)}]
)
def test_a_row_of_another_account_or_day_is_refused(
    store: SqlStore, over: dict[str, object]
) -> None:
    number = _begin(store)

    with store.write() as unit, pytest.raises(ForeignChargeError):
        unit.ledger.stage_rows(number, [_cells(), _cells(**over)], "USD")


def test_rows_of_a_superseded_import_are_refused(store: SqlStore) -> None:
    first = _begin(store)
    _begin(store)

    with store.write() as unit, pytest.raises(ImportSupersededError):
        unit.ledger.stage_rows(first, [_cells()], "USD")
