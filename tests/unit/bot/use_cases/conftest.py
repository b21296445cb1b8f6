"""A company whose p5.48xlarge costs $10 an hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.builders_use_cases import Company, rate

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore


@pytest.fixture
def company(store: SqlStore) -> Company:
    made = Company(store)
    made.is_priced(rate("10"))
    return made
