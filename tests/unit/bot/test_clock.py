from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.clock import InvalidNowError, clock


def test_a_set_instant_stands_still() -> None:
    now = clock("2026-11-30T10:00:00+01:00")

    assert now() == datetime(2026, 11, 30, 9, tzinfo=UTC)
    assert now().tzinfo is UTC


def test_a_file_is_read_again_at_each_use(tmp_path: Path) -> None:
    path = tmp_path / "now"
    now = clock(f"file:{path}")

    path.write_text("2026-11-30T09:00:00Z\n", encoding="utf-8")
    first = now()
    path.write_text("2026-12-01T09:00:00Z\n", encoding="utf-8")

    assert (first.day, now().day) == (30, 1)


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-11-30T09:00:00", "2026-13-01T00:00Z"]
)
def test_anything_but_an_instant_with_a_zone_is_refused(text: str) -> None:
    with pytest.raises(InvalidNowError, match="not an RFC 3339 instant"):
        clock(text)
