"""Commands on waivers: request, grant, refuse, revoke, list."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption
from bot.cli.output import Format, FormatOption, emit, errors_told

waiver = typer.Typer(
    help="Let a policy leave something alone, for a time.", no_args_is_help=True
)
AsOption = Annotated[
    str, typer.Option("--as", help="Whose word; only where approvals.cli is trusted.")
]
IdArgument = Annotated[str, typer.Argument(help="The waiver, such as wvr-0a1b2c3d4e.")]


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.add_typer(waiver, name="waiver")


@waiver.command()
def request(
    policy: Annotated[str, typer.Option(help="Name of the policy.")],
    subject: Annotated[str, typer.Option(help="Job, instance, team or location.")],
    until: Annotated[
        str, typer.Option(help="A duration such as 7d, or an instant with its zone.")
    ],
    reason: Annotated[str, typer.Option(help="Why; people read it.")],
    cap: Annotated[str, typer.Option(help="What it may cost in all meanwhile.")] = "",
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Ask that a policy leaves a subject alone; an admin decides."""
    with errors_told(format_):
        from bot.views.waivers import waiver_document, waivers_text
        from bot.wiring.application import open_application

        with open_application(config) as application:
            desk = application.waivers
            made = desk.ask(
                policy=policy, subject=subject, until=until, reason=reason, cap=cap,
                as_email=as_,
            )  # fmt: skip
            names = desk.names([made])
        emit(format_, waiver_document(made, names), lambda: waivers_text([made], names))


@waiver.command()
def grant(
    id_: IdArgument,
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Grant a waiver as an admin; nobody grants their own."""
    _decide("granted", id_, as_, config, format_)


@waiver.command()
def refuse(
    id_: IdArgument,
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Refuse a waiver as an admin."""
    _decide("refused", id_, as_, config, format_)


@waiver.command()
def revoke(
    id_: IdArgument,
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """End a granted waiver now, as an admin or as whoever asked for it."""
    _decide("revoked", id_, as_, config, format_)


def _decide(state: str, id_: str, as_: str, config: str, format_: Format) -> None:
    with errors_told(format_):
        from bot.views.waivers import waiver_document, waivers_text
        from bot.wiring.application import open_application

        with open_application(config) as application:
            desk = application.waivers
            decided = desk.decide(id_, state, as_email=as_)
            names = desk.names([decided])
        emit(
            format_,
            waiver_document(decided, names),
            lambda: waivers_text([decided], names),
        )


@waiver.command(name="list")
def list_(
    all_: Annotated[bool, typer.Option("--all", help="Also those that ended.")] = False,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """List waivers, those that end first on top."""
    with errors_told(format_):
        from bot.views.waivers import waiver_document, waivers_text
        from bot.wiring.application import open_application

        with open_application(config) as application:
            desk = application.waivers
            found = desk.list(is_every=all_)
            names = desk.names(found)
        emit(
            format_,
            {"items": [waiver_document(one, names) for one in found]},
            lambda: waivers_text(found, names),
        )
