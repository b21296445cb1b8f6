"""The command that holds provisional cost against the bill."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption, SinceOption, UntilOption, days_option
from bot.cli.output import Format, FormatOption, emit, errors_told


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(reconciliation)


def reconciliation(
    since: SinceOption = "",
    until: UntilOption = "",
    job: Annotated[str, typer.Option(help="Only this job.")] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Hold provisional cost against the bill, by job and day, with reasons."""
    first, last = days_option(format_, since, until)
    with errors_told(format_):
        from bot.views.reconciliation import (
            reconciliation_document,
            reconciliation_text,
        )
        from bot.wiring.application import open_application
        from bot.wiring.reconciliation import reconciled

        with open_application(config) as application:
            found = reconciled(application, since=first, until=last, job=job)
        emit(
            format_, reconciliation_document(found), lambda: reconciliation_text(found)
        )
