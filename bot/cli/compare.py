"""`gpucost compare`: two runs side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption, SinceOption, UntilOption, days_option
from bot.cli.output import Format, FormatOption, emit, errors_told


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(compare)


def compare(
    first: Annotated[str, typer.Argument(help="A job id.")],
    second: Annotated[str, typer.Argument(help="Another job id.")],
    since: SinceOption = "",
    until: UntilOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Compare two runs: cost per step and token, busy GPU hours, scaling.

    Each over its whole life, or over the days of --since and --until.
    """
    day, last = days_option(format_, since, until)
    with errors_told(format_):
        from bot.use_cases.parts import CostQuestion
        from bot.views.efficiency import compare_document, compare_text
        from bot.wiring.application import open_application
        from bot.wiring.runs import Runs

        with open_application(config) as application:
            answer = Runs(application).compare(
                (first, second), CostQuestion(since=day, until=last)
            )
        emit(format_, compare_document(answer), lambda: compare_text(answer))
