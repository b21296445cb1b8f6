from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from bot.slack import answering, words


@pytest.mark.parametrize("module", [answering, words], ids=lambda one: one.__name__)
def test_examples_in_docstrings_hold(module: ModuleType) -> None:
    result = doctest.testmod(module)

    assert result.attempted > 0
    assert result.failed == 0
