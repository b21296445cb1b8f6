"""Commands about the people gpucost knows: people remove."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption
from bot.cli.output import Format, FormatOption, emit, errors_told

people = typer.Typer(help="Who gpucost knows.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.add_typer(people, name="people")


@people.callback()
def _group() -> None:
    """Keep `people` a group while it has one command."""


@people.command()
def remove(
    email: Annotated[str, typer.Argument(help="Whose names to remove.")],
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Remove somebody's names from what is stored; the audit log stays whole."""
    with errors_told(format_):
        from bot.views.words import plural
        from bot.wiring.application import open_application
        from bot.wiring.removal import remove_by_email

        with open_application(config) as application:
            done = remove_by_email(application, email)
        messages = plural(int(str(done["messages_emptied"])), "old message")
        tokens = plural(int(str(done["tokens_revoked"])), "token")
        emit(
            format_,
            done,
            lambda: (
                f"{done['person']} means nobody now:"
                f" {messages} emptied, {tokens} revoked"
            ),
        )
