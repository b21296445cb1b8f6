"""Every session of docs/commands.md is run, and prints what the page says."""

from __future__ import annotations

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


@pytest.mark.xdist_group("docs-commands")
def test_the_page_shows_what_the_commands_print(player: Player) -> None:
    """Each session goes on from the ones before it, as a reader's would."""
    wrong = [
        (session, shown)
        for session in SESSIONS
        if (shown := player.replay(session)) != session
    ]

    assert wrong == [], "`python -m tests.docs` rewrites the page; read the diff"
