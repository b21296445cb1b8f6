"""Commands on bearer tokens for HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption
from bot.cli.output import Format, FormatOption, emit, errors_told

token = typer.Typer(help="Bearer tokens for HTTP.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.add_typer(token, name="token")


@token.command()
def create(
    for_: Annotated[str, typer.Option("--for", help="E-mail of whom it speaks for.")],
    scope: Annotated[
        list[str], typer.Option(help="What it may do; again for more of them.")
    ],
    expires: Annotated[
        str, typer.Option(help="Such as 90d, or an instant; default: never.")
    ] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Make a token; it is shown this once, and kept as a hash."""
    with errors_told(format_):
        from bot.views import tokens as views
        from bot.wiring.application import open_application
        from bot.wiring.tokens import TokenDesk

        with open_application(config) as application:
            desk = TokenDesk(application)
            made, secret = desk.create(for_, scope, expires)
            names = desk.names([made])
        document = {**views.token_document(made, names), "token": secret}
        emit(format_, document, lambda: views.created_text(made, secret, names))


@token.command(name="list")
def list_(config: ConfigOption = "", format_: FormatOption = Format.TABLE) -> None:
    """List tokens, oldest first, without their secrets."""
    with errors_told(format_):
        from bot.clock import system_now
        from bot.views import tokens as views
        from bot.wiring.application import open_application
        from bot.wiring.tokens import TokenDesk

        with open_application(config) as application:
            desk = TokenDesk(application)
            found = desk.all()
            names = desk.names(found)
        document = {"tokens": [views.token_document(one, names) for one in found]}
        emit(format_, document, lambda: views.tokens_text(found, names, system_now()))


@token.command()
def revoke(
    id_: Annotated[str, typer.Argument(help="Id of a token, from the list.")],
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """End a token at once."""
    with errors_told(format_):
        from bot.views import tokens as views
        from bot.wiring.application import open_application
        from bot.wiring.tokens import TokenDesk

        with open_application(config) as application:
            desk = TokenDesk(application)
            ended = desk.revoke(id_)
            names = desk.names([ended])
        document = views.token_document(ended, names)
        emit(format_, document, lambda: f"token {ended.token_id} was revoked")
