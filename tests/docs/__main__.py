"""Rewrite the outputs in executed pages from the real commands: ``python -m tests.docs``.

Read the diff before you keep it: a change of a documented field is a change of a
contract.
"""

from __future__ import annotations

import re
import tempfile
from functools import partial
from pathlib import Path

from deploy.sandbox.aws import AwsSandbox
from tests.docs.examples import PAGES, SESSION, Player
from tests.docs.stage import set_up


def main() -> None:
    """Replay every session of each page and write it back."""
    for page in PAGES:
        with tempfile.TemporaryDirectory() as name, AwsSandbox() as sandbox:
            player = Player(set_up(Path(name), sandbox))
            text = SESSION.sub(
                partial(_replayed, player), page.read_text(encoding="utf-8")
            )
        page.write_text(text, encoding="utf-8")


def _replayed(player: Player, found: re.Match[str]) -> str:
    return f"```console\n{player.replay(found[1])}```"


if __name__ == "__main__":
    main()
