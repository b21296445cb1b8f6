"""Every session of the executed pages is run, and prints what the page says."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

import pytest

from deploy.sandbox.aws import AwsSandbox, World
from tests.docs.examples import PAGES, SESSION, Player
from tests.docs.stage import set_up

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def player(tmp_path: Path) -> Iterator[Player]:
    sandbox = AwsSandbox.shared()
    yield Player(set_up(tmp_path, sandbox))
    sandbox.reset(World())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_shows_what_the_commands_print(player: Player, page: Path) -> None:
    """Each session goes on from the ones before it, as a reader's would."""
    wrong: list[str] = []
    for session in SESSION.findall(page.read_text(encoding="utf-8")):
        shown = player.replay(session)
        wrong += unified_diff(
            session.splitlines(), shown.splitlines(), "page", "real", lineterm=""
        )

    report = "\n".join(wrong)
    assert not wrong, f"run `python -m tests.docs` and read its diff:\n{report}"
