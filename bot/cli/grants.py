"""`gpucost grants`: what launchers that ask nobody read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import ConfigOption
from bot.cli.output import Format, errors_told


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    family = typer.Typer(no_args_is_help=True, help="Grants for other launchers.")
    family.command()(cache)
    app.add_typer(family, name="grants")


def cache(
    out: Annotated[
        Path, typer.Option(help="File to write; its key is made beside it.")
    ],
    config: ConfigOption = "",
) -> None:
    """Write the live grants to a signed file, at once or not at all.

    For Slurm's job_submit, which reads it on each submission: run this every 30 seconds.
    """
    with errors_told(Format.TABLE):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            count = application.grants.write_cache(out)
    typer.echo(f"{count} live {'grant' if count == 1 else 'grants'} in {out}")
