"""Provisional compute of an independently generated month is within a percent."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from billing.core.attribution import TagKeys
from billing.core.money import Money
from bot.use_cases.reconciliation import Reconciliation, reconciliation
from tests.builders import day
from tests.generated_month.month import generate
from tests.generated_month.play import NOW, play
from tests.project import ROOT

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

PERCENT = Fraction(1, 100)


def reconciled(store: SqlStore) -> Reconciliation:
    with store.read() as unit:
        return reconciliation(
            unit,
            since=day("2026-10-01"),
            until=day("2026-11-01"),
            own=(),
            keys=TagKeys(),
            now=NOW,
        )


def test_the_generator_shares_no_code_with_the_product() -> None:
    text = (ROOT / "tests" / "generated_month" / "month.py").read_text("utf-8")

    imported = [
        line.split()[1]
        for line in text.splitlines()
        if line.startswith(("import ", "from "))
    ]

    assert not [
        one
        for one in imported
        if one.startswith(("billing", "bot", "policies", "tests"))
    ]


# Events say when an instance left `running`; polls alone know it to five minutes.
def test_on_demand_compute_is_within_a_percent_on_every_day_of_every_job(
    store: SqlStore,
) -> None:
    month = generate(7, jobs=40)
    play(store, month, has_events=True)

    found = reconciled(store)

    judged = found.judged_on_demand
    assert judged.job_days > 50
    assert judged.worst is not None
    assert judged.worst <= PERCENT


def test_the_bill_and_its_parts_sum_to_the_generated_cent(store: SqlStore) -> None:
    month = generate(8, jobs=12)
    play(store, month, has_events=True)

    found = reconciled(store)

    wanted = sum((line.cost for line in month.lines), Decimal(0))
    billed = sum(one.billed.nanos for one in found.days)
    assert abs(Decimal(billed).scaleb(-9) - wanted) < Decimal("0.0001")
    for one in found.days:
        parts = sum(part.nanos for _, part in one.reasons)
        assert one.difference == Money(parts)


@pytest.mark.parametrize("has_events", [True, False])
def test_late_tags_and_unseen_ends_are_explained(
    store: SqlStore, *, has_events: bool
) -> None:
    month = generate(9, jobs=20, has_late_tags=True)
    play(store, month, has_events=has_events)

    found = reconciled(store)

    assert found.judged.median is not None
    assert found.judged.median <= PERCENT
