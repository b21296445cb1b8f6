"""`gpucost --version`: which release this is."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the option to the command line."""
    app.callback()(options)


def _told(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        from importlib.metadata import version

        typer.echo(f"gpucost {version('gpucost')}")
        raise typer.Exit


def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_told, is_eager=True, help="Say the version."
        ),
    ] = False,
) -> None:
    """What GPU jobs cost on AWS, and the policies that keep it in bounds."""
    del version
