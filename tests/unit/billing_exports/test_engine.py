"""What reading an export may use of the machine, and what it leaves behind."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from billing.exports.engine import EngineLimits, open_reader
from tests.builders_exports import focus_row, write_csv

if TYPE_CHECKING:
    from pathlib import Path


def test_limits_are_those_that_were_set(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    limits = EngineLimits(memory="100MiB", threads=1, disk="1GiB", spool=spool)

    with open_reader([write_csv(tmp_path / "a.csv", [focus_row()])], limits) as reader:
        names = (
            *("memory_limit", "threads", "max_temp_directory_size", "TimeZone"),
            *("enable_progress_bar", "autoinstall_known_extensions"),
        )
        asked = ", ".join(f"current_setting('{name}')" for name in names)
        found = reader._run(f"SELECT {asked}").fetchone()
        place = reader._run("SELECT current_setting('temp_directory')").fetchone()
        within = [str(path) for path in spool.iterdir()]

    assert found == ("100.0 MiB", 1, "1.0 GiB", "UTC", False, False)
    assert place is not None
    assert [place[0]] == within
    assert list(spool.iterdir()) == []


def test_duckdb_is_loaded_only_when_an_export_is_read() -> None:
    code = "import sys, billing.exports; sys.exit('duckdb' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)

    assert done.returncode == 0
