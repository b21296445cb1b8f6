from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bot.secrets import KEY_BYTES, load_or_create_key


def test_a_key_is_created_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "audit.key"

    key = load_or_create_key(path)

    assert len(key) == KEY_BYTES
    assert load_or_create_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_many_that_start_at_once_end_with_one_key(tmp_path: Path) -> None:
    path = tmp_path / "audit.key"

    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: load_or_create_key(path), range(32)))

    assert len(keys) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["audit.key"]
