"""The command about cost that no job tag explains, and whose it is."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption, SinceOption, UntilOption, days_option
from bot.cli.output import Format, FormatOption, emit, errors_told

#: Items of a table before "and N more"; JSON shows all unless told otherwise.
ITEMS_SHOWN = 10

family = typer.Typer(
    help="List the largest untagged cost, with the job it probably belongs to.",
    invoke_without_command=True,
)


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.add_typer(family, name="untagged")


@family.callback()
def untagged(
    context: typer.Context,
    since: SinceOption = "",
    until: UntilOption = "",
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Items at most; default 10, in JSON all."),
    ] = None,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """List the largest untagged cost, with the job it probably belongs to."""
    if context.invoked_subcommand is not None:
        return
    first, last = days_option(format_, since, until)
    with errors_told(format_):
        from bot.views.untagged_terminal import untagged_document, untagged_text
        from bot.wiring.application import open_application
        from bot.wiring.untagged import untagged as listed

        with open_application(config) as application:
            answer = listed(application, first, last)
        emit(
            format_,
            untagged_document(answer, limit=limit),
            lambda: untagged_text(answer, limit=limit or ITEMS_SHOWN),
        )


@family.command()
def confirm(
    item: Annotated[
        str,
        typer.Argument(
            help="An item of the list, such as 012345678901/us-east-1/p5.48xlarge, "
            "or one resource, such as i-0abc."
        ),
    ],
    job: Annotated[str, typer.Option(help="The job it belongs to.")],
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    since: SinceOption = "",
    until: UntilOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Give untagged cost to a job, also back in time; kept on the record."""
    first, last = days_option(format_, since, until)
    with errors_told(format_):
        from bot.views.untagged_terminal import confirmed_document, confirmed_text
        from bot.wiring.application import open_application
        from bot.wiring.untagged import give, target

        with open_application(config) as application:
            what = target(application, item, first, last)
            by = application.desk.caller_name()
            done = give(application, what, job, by=by, reason=reason)
        emit(
            format_,
            {
                **confirmed_document(done.confirmed),
                "days_computed": done.days,
                "again": done.again,
            },
            lambda: confirmed_text(done.confirmed, moved=done.days, again=done.again),
        )


@family.command()
def undo(
    number: Annotated[
        str, typer.Argument(help="The confirmation's number, or its item.")
    ],
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Take a confirmation back; the cost is untagged again."""
    with errors_told(format_):
        from bot.views.untagged_terminal import confirmed_document, undone_text
        from bot.wiring.application import open_application
        from bot.wiring.untagged import take_back

        with open_application(config) as application:
            by = application.desk.caller_name()
            done = take_back(application, number, by=by)
        emit(
            format_,
            {**confirmed_document(done.confirmed), "days_computed": done.days},
            lambda: undone_text(done.confirmed, moved=done.days),
        )
