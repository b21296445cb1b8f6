"""The command line: one module per family of commands, each loading what it needs.

``gpucost --help`` must not load AWS, Slack or database libraries, so every import of
those stands inside a command.
"""

from __future__ import annotations

import sys

import typer

from bot.cli import approvals, costs, data, policies, service
from bot.cli.output import FAILED

app = typer.Typer(
    name="gpucost",
    help="What GPU jobs cost on AWS, and the policies that keep it in bounds.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for family in (costs, data, policies, approvals, service):
    family.register(app)


def main() -> None:
    """Run the command line; an unforeseen failure is one sentence, not a traceback."""
    try:
        app()
    except BrokenPipeError:
        sys.exit(FAILED)
    except KeyboardInterrupt:
        sys.exit(130)
