"""Which release it is, and that asking loads nothing else."""

from __future__ import annotations

from importlib.metadata import version

from typer.testing import CliRunner

from bot.cli import app


def test_the_command_line_says_its_version() -> None:
    said = CliRunner().invoke(app, ["--version"])

    assert said.exit_code == 0
    assert said.stdout == f"gpucost {version('gpucost')}\n"


def test_the_help_still_says_what_it_is_for() -> None:
    assert "keep it in bounds" in CliRunner().invoke(app, ["--help"]).stdout
