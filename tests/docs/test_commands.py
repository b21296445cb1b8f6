"""Every session of docs/commands.md is run, and prints what the page says."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

import pytest

from deploy.sandbox.aws import AwsSandbox, World
from tests.docs.examples import SESSION, Player
from tests.docs.stage import set_up
from tests.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "commands.md"
SESSIONS = SESSION.findall(PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Player]:
    sandbox = AwsSandbox.shared()
    yield Player(set_up(tmp_path_factory.mktemp("docs"), sandbox))
    sandbox.reset(World())


def test_the_page_shows_what_the_commands_print(player: Player) -> None:
    """Each session goes on from the ones before it, as a reader's would."""
    wrong: list[str] = []
    for session in SESSIONS:
        shown = player.replay(session)
        wrong += unified_diff(
            session.splitlines(), shown.splitlines(), "page", "real", lineterm=""
        )

    report = "\n".join(wrong)
    assert not wrong, f"run `python -m tests.docs` and read its diff:\n{report}"
