"""How every command answers: JSON or a table, errors with a hint, exit codes.

Exit codes: 0 done, 1 failed, 2 bad usage or an invalid file, 3 denied, expired or not
covered, 4 still pending.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any, NoReturn

import typer

SCHEMA = 1
FAILED, USAGE, DENIED, PENDING = 1, 2, 3, 4


class Format(StrEnum):
    """How to print an answer."""

    TABLE = "table"
    JSON = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="Print a table or JSON.", show_default=True)
]


def emit(chosen: Format, document: Mapping[str, Any], table: Callable[[], str]) -> None:
    """Print an answer: the document as JSON, or what ``table`` renders."""
    if chosen is Format.JSON:
        typer.echo(
            json.dumps({"schema": SCHEMA, **document}, indent=2, ensure_ascii=False)
        )
    else:
        typer.echo(table())


def fail(
    chosen: Format,
    message: str,
    *,
    code: str = "failed",
    hint: str = "",
    suggestions: tuple[str, ...] = (),
    exit_code: int = FAILED,
) -> NoReturn:
    """Say what went wrong, where the format wants it, and leave with the exit code."""
    if chosen is Format.JSON:
        error = {
            "code": code,
            "message": message,
            "hint": hint,
            "suggestions": [*suggestions],
        }
        typer.echo(
            json.dumps({"schema": SCHEMA, "error": error}, indent=2, ensure_ascii=False)
        )
    else:
        from bot.views.terminal import clean

        near = f" Did you mean {', '.join(suggestions)}?" if suggestions else ""
        advice = f" {hint[:1].upper()}{hint[1:].rstrip('.')}." if hint else ""
        told = f"gpucost: {_sentence(message)}{near}{advice}"
        typer.echo("\n".join(clean(line) for line in told.split("\n")), err=True)
    raise typer.Exit(exit_code)


def _sentence(message: str) -> str:
    """Return one error as a sentence, several as a list below their number."""
    first, *others = message.splitlines() or [""]
    if not others:
        return f"{first.rstrip('.')}."
    return "\n".join((f"{len(others) + 1} errors, nothing was done:", first, *others))


def wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether a command line asks for JSON, however wrong the rest of it is."""
    joined = " ".join(arguments)
    return "--format json" in joined or "--format=json" in joined


@contextmanager
def errors_told(chosen: Format) -> Iterator[None]:
    """Turn a named failure into one clear sentence and an exit code."""
    from billing.core.errors import GpucostError
    from bot.ports import SlackFailedError

    try:
        yield
    except SlackFailedError as error:
        fail(
            chosen, f"Slack could not be asked: {error.code}", code="slack_failed",
            hint="nothing was changed; `gpucost doctor` checks token and scopes",
        )  # fmt: skip
    except GpucostError as error:
        exit_code = getattr(error, "exit_code", FAILED)
        fail(
            chosen, str(error), code=error.code, hint=error.hint,
            suggestions=error.suggestions, exit_code=exit_code,
        )  # fmt: skip


def progress(text: str) -> None:
    """Tell a person at a terminal what is going on; say nothing to a pipe."""
    if sys.stderr.isatty():
        typer.echo(text, err=True)
