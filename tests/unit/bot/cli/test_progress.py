"""Progress is for a person at a terminal, and for nobody else."""

from __future__ import annotations

import io
import os
import pty
import sys
from typing import TYPE_CHECKING

from bot.cli.progress import Silent, Telling, told

if TYPE_CHECKING:
    import pytest


def test_a_pipe_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    with told() as progress:
        progress("reading")

        assert isinstance(progress, Silent)
        assert not hasattr(progress, "share")

    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_texts_and_a_bar_that_goes_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        monkeypatch.setenv("TERM", "xterm")
        with told() as progress:
            assert isinstance(progress, Telling)
            progress("reading [red]a")
            progress.share(0.5)
            progress._bar.refresh()
            progress.share(1.0)
            progress("storing a")
            assert progress._bar.tasks == []
        stderr.flush()
        seen = os.read(mine, 65_536).decode()
    os.close(mine)

    assert "reading [red]a" in seen
    assert "50%" in seen
    assert "storing a" in seen
