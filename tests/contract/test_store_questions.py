"""What every bill ledger must do with imports and questions, on each database."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.charges import (
    Bucket,
    ChargeCategory,
    CostCategory,
    PricingCategory,
)
from billing.core.money import Money
from billing.ports import NeedsExportError
from tests.builders import ACCOUNT, NOW, at, day, make_charge, usd
from tests.builders_store import (
    import_charges,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.unit_of_work import SqlStore

NOVEMBER = (date(2026, 11, 1), date(2026, 12, 1))
OTHER = "111111111111"


def _sums(store: SqlStore, by: str = "job", **filters: Any) -> dict[str, str]:
    """Sum cells of November over days, credits included."""
    sums: dict[str, Money] = {}
    with store.read() as unit:
        for cell in unit.ledger.cells(by, *NOVEMBER, **filters):
            sums[cell.key] = sums.get(cell.key, Money.zero()) + cell.billed
    return {key: amount.text() for key, amount in sums.items()}


def test_credits_and_refunds_stand_apart(store: SqlStore) -> None:
    import_charges(
        store,
        [
            make_charge(billed="10"),
            make_charge(
                job="",
                billed="-3",
                bucket=Bucket.CREDITS,
                category=ChargeCategory.CREDIT,
            ),
        ],
    )

    with store.read() as unit:
        cells = unit.ledger.cells("", *NOVEMBER)

    assert {cell.is_credit: cell.billed for cell in cells} == {
        False: usd("10"),
        True: usd("-3"),
    }


def test_an_unknown_list_cost_makes_its_sum_unknown(store: SqlStore) -> None:
    import_charges(
        store,
        [
            make_charge(job="known", list_cost="12"),
            make_charge(job="known", list_cost="13"),
            make_charge(job="partly", list_cost="12"),
            make_charge(job="partly", list_cost=None),
        ],
    )

    with store.read() as unit:
        listed = {c.key: c.list_cost for c in unit.ledger.cells("job", *NOVEMBER)}
        (whole,) = unit.ledger.cells("", *NOVEMBER)

    assert listed == {"known": usd("25"), "partly": None}
    assert whole.list_cost is None


def _varied() -> Sequence[object]:
    return [
        make_charge(job="job-1", billed="1", region="us-east-1"),
        make_charge(
            job="job-1",
            billed="2",
            region="us-west-2",
            pricing=PricingCategory.DYNAMIC,
            cost_category=CostCategory.STORAGE,
            service="Amazon Simple Storage Service",
        ),
        make_charge(job="job-2", billed="4", region=""),
    ]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("", {"": "3.00"}),
        ("category", {"compute": "1.00", "storage": "2.00"}),
        ("region", {"us-east-1": "1.00", "us-west-2": "2.00"}),
        ("purchase", {"standard": "1.00", "dynamic": "2.00"}),
        (
            "service",
            {
                "Amazon Elastic Compute Cloud - Compute": "1.00",
                "Amazon Simple Storage Service": "2.00",
            },
        ),
    ],
)
def test_a_job_is_broken_down_by_each_dimension(
    store: SqlStore, by: str, expected: dict[str, str]
) -> None:
    import_charges(store, _varied())  # type: ignore[arg-type]

    assert _sums(store, by, job=" JOB-1 ") == expected


def test_a_service_that_the_data_does_not_hold_needs_an_export(
    store: SqlStore,
) -> None:
    import_charges(store, [make_charge(service="")])

    with store.read() as unit, pytest.raises(NeedsExportError):
        unit.ledger.cells("service", *NOVEMBER, job="job-123")


def test_the_window_of_a_question_is_half_open(store: SqlStore) -> None:
    import_charges(
        store,
        [
            make_charge(billed=str(number), on=f"2026-11-0{number}")
            for number in (1, 2, 3)
        ],
    )

    with store.read() as unit:
        cells = unit.ledger.cells("", day("2026-11-02"), day("2026-11-03"))

    assert [cell.billed for cell in cells] == [usd("2")]


def test_names_with_quotes_and_sql_are_only_names(store: SqlStore) -> None:
    name = "x'; drop table charge; --"
    import_charges(store, [make_charge(job=name)])

    assert _sums(store, "job", job=name) == {name: "10.00"}
    assert _sums(store, "region", job="' or 1=1 --") == {}


def test_jobs_of_the_bill_are_known_from_their_first_to_their_last_day(
    store: SqlStore,
) -> None:
    import_charges(
        store,
        [
            make_charge(on="2026-11-03"),
            make_charge(on="2026-11-05"),
            make_charge(job=""),
        ],
    )
    import_charges(store, [make_charge(on="2026-11-04")])

    with store.read() as unit:
        record = unit.ledger.job_record("Job-123")
        assert unit.ledger.job_names() == ["job-123"]
        assert unit.ledger.job_records() == [record]
        assert unit.ledger.job_record("job-124") is None
    assert record is not None
    assert record.first_seen_at == at("2026-11-03")
    assert record.last_seen_at == at("2026-11-06")


def test_billed_through_is_kept_per_account(store: SqlStore) -> None:
    with store.write() as unit:
        unit.ledger.set_billed_through(ACCOUNT, at("2026-11-28"), NOW)
        unit.ledger.set_billed_through(ACCOUNT, at("2026-11-29"), NOW)
        unit.ledger.set_billed_through(OTHER, at("2026-11-27"), NOW)

    with store.read() as unit:
        assert unit.ledger.billed_through() == {
            ACCOUNT: at("2026-11-29"),
            OTHER: at("2026-11-27"),
        }


def test_billed_instance_hours_count_gpu_types_only(store: SqlStore) -> None:
    from dataclasses import replace
    from decimal import Decimal

    def hours(usage_type: str, quantity: str | None, on: str = "2026-11-01") -> object:
        charge = make_charge(usage_type=usage_type, on=on)
        number = None if quantity is None else Decimal(quantity)
        return replace(charge, quantity=number, unit="Hrs")

    charges = [
        hours("USE2-BoxUsage:p5.48xlarge", "23.5"),
        hours("SpotUsage:g5.xlarge", "0.25"),
        hours("BoxUsage:c5.large", "24"),
        hours("EBS:VolumeUsage.gp3", "100"),
        hours("BoxUsage:p5.48xlarge", None),
        hours("BoxUsage:c5.large", "24", on="2026-11-02"),
    ]
    import_charges(store, charges)  # type: ignore[arg-type]

    with store.read() as unit:
        found = unit.ledger.billed_instance_hours(ACCOUNT, *NOVEMBER)

    assert found == {day("2026-11-01"): 23.75, day("2026-11-02"): 0.0}
