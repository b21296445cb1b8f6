"""Lines of the bill for reconciliation: summed, and where attribution put them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sqlalchemy import insert

from billing.core.charges import Bucket, ChargeCategory, CostCategory, PricingCategory
from billing.ledger.columns import table_of
from billing.ledger.tables_attribution import TransferRow
from tests.builders import ACCOUNT, REGION, day, make_charge, usd
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from billing.core.reconciliation import BilledLine
    from bot.unit_of_work import SqlStore

ON = "2026-11-01"


def lines(store: SqlStore) -> Sequence[BilledLine]:
    with store.read() as unit:
        return unit.reconciliation.billed_lines(day(ON), day("2026-11-02"))


def test_running_hours_are_summed_by_job_and_type(store: SqlStore) -> None:
    import_charges(
        store,
        [
            make_charge(billed="100", quantity="1.5"),
            make_charge(billed="60", effective="50", quantity="2.25"),
            make_charge(job="", billed="5", usage_type="EBS:VolumeUsage.gp3",
                        cost_category=CostCategory.STORAGE, quantity="9"),
        ],
    )  # fmt: skip

    storage, compute = sorted(lines(store), key=lambda one: one.shape)

    assert (compute.key, compute.shape) == ("job-123", "p5.48xlarge")
    assert (compute.billed, compute.effective) == (usd("160"), usd("150"))
    assert compute.hours == Fraction("3.75")
    assert (storage.key, storage.shape, storage.hours) == ("bucket:untagged", "", None)


def test_credits_are_left_out_and_unknown_hours_stay_unknown(store: SqlStore) -> None:
    import_charges(
        store,
        [
            make_charge(billed="100", quantity="1.5"),
            make_charge(billed="60"),
            make_charge(
                job="",
                billed="-10",
                bucket=Bucket.CREDITS,
                category=ChargeCategory.CREDIT,
            ),
        ],
    )

    (line,) = lines(store)

    assert line.billed == usd("160")
    assert line.hours is None


def test_what_attribution_moved_takes_its_hours_along(store: SqlStore) -> None:
    import_charges(store, [make_charge(job="", billed="100", quantity="10")])
    with store.database.write() as session:
        session.connection().execute(
            insert(table_of(TransferRow)),
            {
                "account": ACCOUNT, "day": day(ON), "region": REGION, "service": "",
                "usage_type": "BoxUsage:p5.48xlarge",
                "pricing": PricingCategory.STANDARD.value,
                "cost_category": CostCategory.COMPUTE.value, "resource_id": "i-1",
                "from_key": "bucket:untagged", "to_key": "job-7",
                "billed": usd("40").nanos, "effective": usd("40").nanos,
                "list_cost": None, "rule": "placement", "basis": "exact", "evidence": "",
            },
        )  # fmt: skip

    untagged, job = lines(store)

    assert (untagged.key, untagged.effective, untagged.hours) == (
        "bucket:untagged",
        usd("60"),
        Fraction(6),
    )
    assert (job.key, job.effective, job.hours) == ("job-7", usd("40"), Fraction(4))
