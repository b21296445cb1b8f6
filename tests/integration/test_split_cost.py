"""An export with split cost: an instance's cost ends with its pods' jobs, the rest idle."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from billing.core.money import Money, total
from billing.ledger.check import ledger_problems
from tests.builders import usd
from tests.builders_exports import ingest, write_csv
from tests.unit.billing_exports.test_split import instance, pod

if TYPE_CHECKING:
    from pathlib import Path

    from bot.unit_of_work import SqlStore

SEPTEMBER = (date(2026, 9, 1), date(2026, 10, 1))


def _keys(store: SqlStore) -> dict[str, Money]:
    with store.read() as unit:
        cells = unit.ledger.cells("job", *SEPTEMBER)
    found: dict[str, Money] = {}
    for one in cells:
        found[one.key] = found.get(one.key, Money(0)) + one.effective
    return {key: amount for key, amount in found.items() if amount.nanos}


def test_pods_carry_their_instance_and_what_nobody_used_is_idle(
    store: SqlStore, tmp_path: Path
) -> None:
    rows = [instance(), pod("20", "30"), pod("30", "20", job="job-2")]
    path = write_csv(tmp_path / "a.csv", rows)

    outcome = ingest(store, path)
    again = ingest(store, path)

    assert outcome.errors == ()
    assert _keys(store) == {
        "job-1": usd("19.664"),
        "job-2": usd("29.496"),
        "bucket:idle": usd("49.16"),
    }
    assert total(_keys(store).values(), "USD") == usd("98.32")
    assert [one.state for one in again.imports] == ["unchanged"]
    with store.read() as unit:
        assert ledger_problems(unit.session) == []
