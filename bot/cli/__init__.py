"""The command line: one module per family of commands, each loading what it needs.

``gpucost --help`` must not load AWS, Slack or database libraries, so every import of
those stands inside a command.
"""

from __future__ import annotations

import sys
from pathlib import Path
from traceback import extract_tb
from typing import Any

import typer

from bot.cli import (
    approval_changes,
    approvals,
    compare,
    costs,
    data,
    estimates,
    explain,
    exports,
    grants,
    job_imports,
    known,
    launches,
    people,
    policies,
    reconciliation,
    service,
    tokens,
    untagged,
    version,
    waivers,
)
from bot.cli.output import FAILED, Format, fail, wants_json

#: What typer raises for wrong usage; only its own subclasses have a public name.
_UsageError: type[Any] = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="gpucost",
    help="What GPU jobs cost on AWS, and the policies that keep it in bounds.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for family in (
    version,
    *(
        costs,
        job_imports,
        compare,
        explain,
        untagged,
        known,
        reconciliation,
        estimates,
        data,
        exports,
        policies,
    ),
    *(approvals, approval_changes, waivers, launches, grants, tokens, people, service),
):
    family.register(app)


def main() -> None:
    """Run the command line; an unforeseen failure is one sentence, not a traceback."""
    chosen = Format.JSON if wants_json(sys.argv[1:]) else Format.TABLE
    try:
        sys.exit(_run(chosen))
    except BrokenPipeError:
        sys.exit(FAILED)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as failure:  # noqa: BLE001 - the last place to say it
        sys.exit(_unforeseen(chosen, failure))


def _run(chosen: Format) -> int:
    if chosen is Format.TABLE:
        app()
    # Wrong usage is told as JSON too; the library only knows text on stderr.
    try:
        return int(app(standalone_mode=False) or 0)
    except typer.Abort:
        return FAILED
    except _UsageError as error:
        text = error.format_message()
        return _left(chosen, text, code="bad_usage", exit_code=error.exit_code)


def _unforeseen(chosen: Format, failure: Exception) -> int:
    """Name a failure and its place; its own text may hold what nobody should see."""
    place = extract_tb(failure.__traceback__)[-1]
    said = f": {failure}" if isinstance(failure, OSError) else ""
    message = (
        f"unexpected failure: {type(failure).__name__}{said}"
        f" ({Path(place.filename).name}:{place.lineno})"
    )
    return _left(chosen, message, code="unexpected", exit_code=FAILED)


def _left(chosen: Format, message: str, *, code: str, exit_code: int) -> int:
    try:
        fail(chosen, message, code=code, exit_code=exit_code)
    except typer.Exit as end:
        return end.exit_code
