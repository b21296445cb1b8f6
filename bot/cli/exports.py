"""Commands that write cost out, and that check the engines which read it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import ConfigOption, SinceOption, UntilOption, days_option
from bot.cli.output import FAILED, Format, FormatOption, emit, errors_told


class FileFormat(StrEnum):
    """What `export` writes."""

    PARQUET = "parquet"
    CSV = "csv"


exports = typer.Typer(help="Check what exports are read by.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(export)
    app.add_typer(exports, name="exports")


def export(
    out: Annotated[
        Path, typer.Option("--out", help="File to write, in a folder that exists.")
    ],
    since: SinceOption = "",
    until: UntilOption = "",
    format_out: Annotated[
        FileFormat, typer.Option("--format-out", help="What to write.")
    ] = FileFormat.PARQUET,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Write the bill and how it was attributed as a FOCUS table."""
    first, last = days_option(format_, since, until)
    with errors_told(format_):
        from bot.views.export import export_document, export_text
        from bot.wiring.application import open_application
        from bot.wiring.focus_files import write_focus

        with open_application(config) as application:
            done = write_focus(
                application.store, out, first, last,
                is_parquet=format_out is FileFormat.PARQUET, now=application.now,
            )  # fmt: skip
        emit(
            format_,
            export_document(done, str(out), format_out.value),
            lambda: export_text(done, str(out)),
        )


@exports.command()
def check(
    athena: Annotated[
        bool,
        typer.Option(
            "--athena", help="Run golden statements on the workgroup: under one cent."
        ),
    ] = False,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Say what lies where exports are delivered, and whether Athena reads it right."""
    with errors_told(format_):
        from bot.views import documents, terminal
        from bot.wiring.application import open_application
        from bot.wiring.exports import engine_checks, export_checks

        with open_application(config) as application:
            settings, aws = application.settings, application.aws
            checks = [*export_checks(settings, aws.export_files)]
            if athena:
                checks += engine_checks(settings, aws)
        emit(
            format_,
            documents.checks_document(checks),
            lambda: terminal.checks_text(checks),
        )
    if any(one.ok is False for one in checks):
        raise typer.Exit(FAILED)
