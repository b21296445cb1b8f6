"""A small labelled month: the right job pays, and no wrong one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.bench.attribution import judge
from tests.bench.attribution_month import make_month

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("is_exact", [True, False], ids=["export", "cost-explorer"])
def test_gpu_dollars_find_their_job_and_no_other(
    tmp_path: Path, *, is_exact: bool
) -> None:
    found = judge(tmp_path / "month.db", make_month(7, size=1), is_exact=is_exact)

    assert found.right >= 0.95
    assert found.wrong < 0.01
