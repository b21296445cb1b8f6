"""Rewrite the outputs in docs/commands.md from the real commands: ``python -m tests.docs``.

Read the diff before you keep it: a change of a documented field is a change of a
contract.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from deploy.sandbox.aws import AwsSandbox
from tests.docs.examples import SESSION, Player
from tests.docs.stage import set_up
from tests.project import ROOT


def main() -> None:
    """Replay every session of the page and write it back."""
    page = ROOT / "docs" / "commands.md"
    with tempfile.TemporaryDirectory() as name, AwsSandbox() as sandbox:
        player = Player(set_up(Path(name), sandbox))
        text = SESSION.sub(
            lambda found: f"```console\n{player.replay(found[1])}```",
            page.read_text(encoding="utf-8"),
        )
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
