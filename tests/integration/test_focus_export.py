"""The attributed ledger written out: equal to the ledger, on every kind of database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import duckdb
import pytest

from billing.core.placements import Placement, PlacementSource
from bot.use_cases.export import ExportTotalsError, NothingToExportError
from bot.wiring.focus_files import write_focus
from tests.builders import day, make_charge, usd
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from pathlib import Path

    from bot.unit_of_work import SqlStore

NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)


def _sums(path: Path) -> dict[str, Decimal]:
    rows = duckdb.execute(
        'SELECT COALESCE("x_Job", \'bucket:\' || "x_Bucket"), SUM("EffectiveCost")'
        " FROM read_parquet(?) GROUP BY 1",
        [str(path)],
    ).fetchall()
    return dict(rows)


def _bill(store: SqlStore) -> None:
    import_charges(
        store,
        [
            make_charge(on="2026-09-01", job="job-1", billed="10.01"),
            replace(
                make_charge(on="2026-09-02", job="", billed="24"), resource_id="i-1"
            ),
        ],
    )


def test_every_cent_is_in_the_file_under_the_key_of_the_ledger(
    store: SqlStore, tmp_path: Path
) -> None:
    _bill(store)
    with store.write() as unit:
        unit.ledger.record_placements([_placement()], NOW)
        unit.ledger.reattribute(make_charge().account, [day("2026-09-02")], NOW)
    path = tmp_path / "out.parquet"

    done = write_focus(store, path, None, None, is_parquet=True, now=lambda: NOW)

    with store.read() as unit:
        cells = unit.ledger.cells("job", date(2026, 9, 1), date(2026, 10, 1))
    stored: dict[str, Decimal] = {}
    for one in cells:
        stored[one.key] = stored.get(one.key, Decimal(0)) + Decimal(
            one.effective.text()
        )
    found = {key: value for key, value in _sums(path).items() if value}
    assert found == {key: value for key, value in stored.items() if value}
    assert (done.charges, done.billed) == (2, usd("34.01"))
    assert done.transfers > 0


def test_days_outside_the_window_are_left_out(store: SqlStore, tmp_path: Path) -> None:
    _bill(store)
    path = tmp_path / "out.parquet"

    done = write_focus(
        store, path, day("2026-09-01"), day("2026-09-02"),
        is_parquet=True, now=lambda: NOW,
    )  # fmt: skip

    assert (done.charges, done.effective) == (1, done.billed)
    assert set(_sums(path)) == {"job-1"}


def test_nothing_is_written_when_nothing_is_stored(
    store: SqlStore, tmp_path: Path
) -> None:
    with pytest.raises(NothingToExportError, match="no charge is stored"):
        write_focus(
            store, tmp_path / "out.csv", None, None, is_parquet=False, now=lambda: NOW
        )

    assert list(tmp_path.glob("*out*")) == []


def test_lines_that_do_not_sum_to_the_ledger_are_not_written(
    store: SqlStore, tmp_path: Path
) -> None:
    _bill(store)
    with store.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE charge SET billed = billed + 1")

    with pytest.raises(ExportTotalsError, match="the ledger to"):
        write_focus(
            store, tmp_path / "out.csv", None, None, is_parquet=False, now=lambda: NOW
        )

    assert list(tmp_path.glob("*out*")) == []


def _placement() -> Placement:
    return Placement(
        job="job-2",
        resource_id="i-1",
        started_at=datetime(2026, 9, 2, tzinfo=UTC),
        ended_at=datetime(2026, 9, 2, 12, tzinfo=UTC),
        gpus=None,
        source=PlacementSource.SLURM,
        external_id="17",
    )
