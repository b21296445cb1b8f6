"""Provisional compute of an independently generated month is within a percent."""

from __future__ import annotations

import shutil
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from billing.core.attribution import TagKeys
from billing.core.money import Money
from billing.core.reconciliation import Reason
from bot.use_cases.reconciliation import Reconciliation, reconciliation
from tests.builders import day
from tests.builders_store import opened_store
from tests.generated_month.month import Month, generate
from tests.generated_month.play import NOW, play
from tests.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bot.unit_of_work import SqlStore

    Played = Callable[..., tuple[Month, Reconciliation]]

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


@pytest.fixture(scope="module")
def months(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[Month, Reconciliation]]:
    """Play months that are asked for, each once."""
    kept: dict[tuple[int, bool, bool], tuple[Month, Reconciliation]] = {}

    def played(
        jobs: int, *, has_events: bool = True, has_late_tags: bool = False
    ) -> tuple[Month, Reconciliation]:
        key = (jobs, has_events, has_late_tags)
        if key not in kept:
            path = tmp_path_factory.mktemp("month") / "store.sqlite"
            shutil.copy(sqlite_template, path)
            month = generate(7, jobs=jobs, has_late_tags=has_late_tags)
            with opened_store(f"sqlite:///{path}") as store:
                play(store, month, has_events=has_events)
                kept[key] = month, reconciled(store)
        return kept[key]

    return played


# Events say when an instance left `running`; polls alone know it to five minutes.
def test_on_demand_compute_is_within_a_percent_on_every_day_of_every_job(
    months: Played,
) -> None:
    _, found = months(24)

    judged = found.judged_on_demand
    assert judged.job_days > 25
    assert judged.worst is not None
    assert judged.worst <= PERCENT


def test_without_events_half_of_the_days_are_within_a_percent(months: Played) -> None:
    _, found = months(8, has_events=False)

    assert found.judged_on_demand.median is not None
    assert found.judged_on_demand.median <= PERCENT


def test_the_bill_is_the_generated_one_and_reasons_sum_to_the_difference(
    months: Played,
) -> None:
    month, found = months(8, has_events=False)

    wanted = sum((line.cost for line in month.lines), Decimal(0))
    billed = sum(one.billed.nanos for one in found.days)
    assert abs(Decimal(billed).scaleb(-9) - wanted) < Decimal("0.0001")
    for one in found.days:
        parts = sum(part.nanos for _, part in one.reasons)
        assert one.difference == Money(parts)


def test_hours_that_the_bill_gives_to_another_job_are_named_so(
    months: Played,
) -> None:
    _, found = months(8, has_late_tags=True)

    named = {reason for one in found.days for reason, _ in one.reasons}
    assert Reason.TAG in named
    assert Reason.UNSEEN not in named
