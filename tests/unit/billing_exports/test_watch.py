"""How far a long statement has come is told while it runs, to whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from billing.exports import watch
from billing.exports.engine import open_reader
from tests.builders_exports import KEYS, LIMITS, focus_row, write_csv

if TYPE_CHECKING:
    from pathlib import Path


def test_shares_rise_to_one_and_nothing_is_printed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(watch, "EVERY_S", 0.001)
    rows = [focus_row(BilledCost=str(number)) for number in range(3_000)]
    shares: list[float] = []

    with open_reader([write_csv(tmp_path / "a.csv", rows)], LIMITS) as reader:
        reader.prepare(KEYS)
        reader.roll_up(share=shares.append)

    assert shares[-1] == 1.0
    assert all(0 <= one <= 1 for one in shares)
    assert capfd.readouterr() == ("", "")


def test_a_statement_that_fails_still_ends_the_telling(tmp_path: Path) -> None:
    shares: list[float] = []

    with open_reader([write_csv(tmp_path / "a.csv", [focus_row()])], LIMITS) as reader:
        with (
            pytest.raises(ZeroDivisionError),
            watch.watched(reader._connection, shares.append),
        ):
            _ = 1 / 0
        found = reader._run("SELECT current_setting('enable_progress_bar')").fetchone()

    assert 1.0 not in shares
    assert found == (False,)
