"""Commands that ask what is known now: idle, coverage, checkpoints."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption
from bot.cli.output import Format, FormatOption, emit, errors_told


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(idle)
    app.command()(coverage)
    app.command()(checkpoints)


def idle(config: ConfigOption = "", format_: FormatOption = Format.TABLE) -> None:
    """List running GPU instances, idle ones first, with their signals."""
    with errors_told(format_):
        from bot.views.facts_terminal import idle_document, idle_text
        from bot.wiring.application import open_application
        from bot.wiring.facts import known_now

        with open_application(config) as application:
            answer = known_now(application).idle()
        emit(format_, idle_document(answer), lambda: idle_text(answer))


def coverage(
    family: Annotated[
        list[str] | None,
        typer.Option(help="Instance family such as p5; default: those that run."),
    ] = None,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Say how much Savings Plans and reservations cover, by instance family."""
    with errors_told(format_):
        from bot.views.facts_terminal import coverage_document, coverage_text
        from bot.wiring.application import open_application
        from bot.wiring.facts import known_now

        with open_application(config) as application:
            answer = known_now(application).coverage(family or ())
        emit(format_, coverage_document(answer), lambda: coverage_text(answer))


def checkpoints(
    location: Annotated[
        list[str] | None,
        typer.Option(
            help="Where to look: s3://bucket/{job}/checkpoints/step-{step}/; "
            "default: the locations of the retention policies."
        ),
    ] = None,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """List checkpoints by job, with their size and what storing them costs."""
    with errors_told(format_):
        from bot.views.facts_terminal import checkpoints_document, checkpoints_text
        from bot.wiring.application import open_application
        from bot.wiring.facts import checkpoint_locations, known_now

        with open_application(config) as application:
            places = checkpoint_locations(application, location or ())
            answer = known_now(application).checkpoints(places)
        emit(format_, checkpoints_document(answer), lambda: checkpoints_text(answer))
